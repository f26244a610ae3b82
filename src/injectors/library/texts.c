// SPDX-License-Identifier: GPL-3.0-or-later
// Describes faults of the injector `library`: in titles, in reports, and as command lines that
// repeat them. A fault is written "FUNCTION=RESULT[/ERRNO]" or with any other action of a rule.
#include "base/cleanup.h"
#include "base/frame-text.h"
#include "base/shell.h"
#include "injector/fault-text.h"
#include "injector/realism.h"
#include "injector/reproduce.h"
#include "injectors/library/internal.h"

#include <string.h>

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
            TRY(buffer_printf(text, " opened at %.*s", fault_text_shown(size), place));
        else if (frame.function.size != 0)
            TRY(buffer_printf(text, " opened in %.*s", fault_text_shown(frame.function.size),
                              frame.function.text));
    }
    return fault_text_put_result(fault, text);
}

struct error *library_describe(void *self, const char *fault, const struct injection *injection,
                               struct buffer *text)
{
    const struct library *library = self;
    static const char stream_write[] = REALISM_STREAM_WRITE "=";
    if (strncmp(fault, stream_write, sizeof stream_write - 1) == 0)
        return put_stream_write(fault, injection, text);
    TRY(fault_text_put(fault, text));
    // The user did not name this failure, and the realism table does not have it.
    if (injection != NULL && library->automatic && injection->function != NULL &&
        realism_find(injection->function) == NULL)
        return buffer_printf(text, " (guessed from its code)");
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
    TRY(reproduce_put_run(&text, &library->setup, timeout_ns));
    if (scenario_uses_seed(scenario))
        TRY(buffer_printf(&text, "--seed %llu ", (unsigned long long)seed));
    TRY(put_plugins(&library->setup, &text));
    TRY(reproduce_put_rules(&text, spec));
    TRY(buffer_printf(&text, " -- "));
    TRY(reproduce_put_command(&text, &library->setup));
    *ret_command = TAKE(text.data);
    return NULL;
}

const struct injector_stored library_stored = {
    .split = fault_text_split,
};
