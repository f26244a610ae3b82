// SPDX-License-Identifier: GPL-3.0-or-later
// Describes faults of the injector `library`: in titles, in reports, and as command lines that
// repeat them. A fault is written "FUNCTION=RESULT[/ERRNO]" or with any other action of a rule.
#include "base/cleanup.h"
#include "base/duration.h"
#include "base/frame-text.h"
#include "base/secrets.h"
#include "base/shell.h"
#include "injector/reproduce.h"
#include "injectors/library/internal.h"
#include "injectors/library/realism.h"
#include "store/spec.h"

#include <stdio.h>
#include <string.h>

#define ERRNO_MOST 256 // above all that Linux has
#define NAME_MOST  80  // bytes of a name that a title shows

static int shown(size_t size)
{
    return size < NAME_MOST ? (int)size : NAME_MOST;
}

// " fails with ENOSPC", from "FUNCTION=RESULT/ENOSPC".
static struct error *put_result(const char *fault, struct buffer *text)
{
    size_t size = strcspn(fault, " \n");
    const char *equals = memchr(fault, '=', size), *slash = memchr(fault, '/', size);
    if (strncmp(equals, "=short", 6) == 0)
        return buffer_printf(text, " does only a part");
    if (slash != NULL && slash > equals)
        return buffer_printf(text, " fails with %.*s", shown((size_t)(fault + size - slash - 1)),
                             slash + 1);
    return buffer_printf(text, " returns %.*s", shown((size_t)(fault + size - equals) - 1),
                         equals + 1);
}

static struct error *put_action(const char *fault, struct buffer *text)
{
    const char *equals = memchr(fault, '=', strcspn(fault, " \n"));
    if (equals == NULL)
        return buffer_printf(text, "%.*s is injected", shown(strlen(fault)), fault);
    TRY(buffer_printf(text, "%.*s", shown((size_t)(equals - fault)), fault));
    return put_result(fault, text);
}

static const char *standard_name(const struct injection *injection)
{
    static const char *const names[] = {[1] = "standard output", [2] = "standard error"};
    uint32_t number = injection != NULL ? injection->standard_stream : 0;
    return number < sizeof names / sizeof *names ? names[number] : NULL;
}

// "writing standard output fails with ENOSPC", "writing a stream opened at save.c:12 fails ..."
static struct error *put_stream_write(const char *fault, const struct injection *injection,
                                      struct buffer *text)
{
    const char *standard = standard_name(injection);
    const char *opening = injection != NULL ? injection->stream : NULL;
    struct frame_text frame = {0};
    TRY(buffer_printf(text, "writing %s", standard != NULL ? standard : "a stream"));
    if (opening != NULL && frame_text_next(&opening, &frame)) {
        const char *slash =
            frame.place.size != 0 ? memrchr(frame.place.text, '/', frame.place.size) : NULL;
        const char *place = slash != NULL ? slash + 1 : frame.place.text;
        size_t size = (size_t)(frame.place.text + frame.place.size - place);
        if (frame.place.size != 0)
            TRY(buffer_printf(text, " opened at %.*s", shown(size), place));
        else if (frame.function.size != 0)
            TRY(buffer_printf(text, " opened in %.*s", shown(frame.function.size),
                              frame.function.text));
    }
    return put_result(fault, text);
}

struct error *library_describe(void *self, const char *fault, const struct injection *injection,
                               struct buffer *text)
{
    const struct library *library = self;
    static const char stream_write[] = REALISM_STREAM_WRITE "=";
    if (strncmp(fault, stream_write, sizeof stream_write - 1) == 0)
        return put_stream_write(fault, injection, text);
    TRY(put_action(fault, text));
    // The user did not name this failure, and the realism table does not have it.
    if (injection != NULL && library->automatic && injection->function != NULL &&
        realism_find(injection->function) == NULL)
        return buffer_printf(text, " (guessed from its code)");
    return NULL;
}

// " --inject RULE" for each rule of the spec.
static struct error *put_rules(const char *spec, struct buffer *text)
{
    size_t size;
    const char *part;
    for (size_t i = 0; (part = spec_part(spec, i, &size)) != NULL; i++) {
        _cleanup_free_ char *rule = strndup(part, size);
        if (rule == NULL)
            return error_no_memory();
        TRY(buffer_printf(text, "%s--inject ", i != 0 ? " " : ""));
        TRY(secrets_put_shell_word(text, rule));
    }
    return NULL;
}

static struct error *put_plugins(const struct injector_setup *setup, struct buffer *text)
{
    const struct words *plugins = parameters_words(setup->parameters, "plugins");
    for (size_t i = 0; plugins != NULL && i < plugins->count; i++) {
        _cleanup_(buffer_deinit) struct buffer path = {0};
        TRY(library_put_plugin(setup, plugins->items[i], &path));
        TRY(buffer_printf(text, "--plugin "));
        TRY(shell_put_word(text, path.data));
        TRY(buffer_append(text, " ", 1));
    }
    return NULL;
}

struct error *library_reproduce(void *self, const char *spec, uint64_t seed, uint64_t timeout_ns,
                                char **ret_command)
{
    const struct library *library = self;
    _cleanup_(freep_scenario) struct scenario *scenario = NULL;
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(library_make_scenario(library, spec, &scenario));
    TRY(reproduce_put_place(&text, &library->setup));
    TRY(buffer_printf(&text, "ordeal run "));
    if (library->setup.sandbox != NULL)
        TRY(buffer_printf(&text, "--sandbox %s ", library->setup.sandbox));
    if (timeout_ns != 0) {
        TRY(buffer_printf(&text, "-t "));
        TRY(duration_put_patience(&text, timeout_ns));
        TRY(buffer_append(&text, " ", 1));
    }
    if (scenario_uses_seed(scenario))
        TRY(buffer_printf(&text, "--seed %llu ", (unsigned long long)seed));
    TRY(put_plugins(&library->setup, &text));
    TRY(put_rules(spec, &text));
    TRY(buffer_printf(&text, " -- "));
    TRY(reproduce_put_command(&text, &library->setup));
    *ret_command = TAKE(text.data);
    return NULL;
}

// "read=-1/EIO": the function, and the errno or "".
static void split(const char *fault, char function[128], char error[32])
{
    size_t size = strcspn(fault, "= "), word = strcspn(fault, " \n");
    const char *slash = memchr(fault + size, '/', word - size);
    snprintf(function, 128, "%.*s", (int)size, fault);
    snprintf(error, 32, "%.*s", slash != NULL ? (int)strcspn(slash + 1, " ,") : 0,
             slash != NULL ? slash + 1 : "");
}

static int error_number(const char *name)
{
    for (int number = 1; number < ERRNO_MOST; number++) {
        const char *known = strerrorname_np(number);
        if (known != NULL && strcmp(known, name) == 0)
            return number;
    }
    return 0;
}

void library_note_errors(struct observation *observation)
{
    for (size_t i = 0; i < observation->injections.count; i++) {
        struct injection *injection = &observation->injections.items[i];
        char function[128], error[32];
        if (injection->fault != NULL) {
            split(injection->fault, function, error);
            injection->error = error_number(error);
        }
    }
}

const struct injector_stored library_stored = {
    .split = split,
};
