// SPDX-License-Identifier: GPL-3.0-or-later
// Writes the title, site and command of a finding. Names come from targets and are not escaped
// here: reports do that.
#include "campaign/finding.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/frame-text.h"
#include "base/secrets.h"

#include <stdlib.h>
#include <string.h>

#define NAME_MOST 80 // bytes of a name that a title shows

void finding_text_deinit(struct finding_text *text)
{
    free(text->title);
    free(text->site);
    free(text->command);
    free(text->file);
    *text = (struct finding_text){0};
}

static int shown(const char *name, size_t size)
{
    size_t length = strnlen(name, size);
    return (int)(length < NAME_MOST ? length : NAME_MOST);
}

// Functions of the C library that abort a process. Their caller says more than they do.
static bool is_abort_function(struct frame_part name)
{
    static const char *const functions[] = {
        "abort",           "raise",          "__pthread_kill_implementation",
        "gsignal",         "__assert_fail",  "__assert_fail_base",
        "pthread_kill",    "__libc_message", "__fortify_fail",
        "malloc_printerr", "__pthread_kill", "__pthread_kill_internal"};
    const char *dot = memchr(name.text, '.', name.size); // "__assert_fail_base.cold" counts, too
    if (dot != NULL)
        name.size = (size_t)(dot - name.text);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (frame_part_is(name, functions[i]))
            return true;
    return false;
}

// The name of a function, without C++ arguments, symbol version and offset.
static struct frame_part name_of(const struct frame_text *frame)
{
    struct frame_part name = frame->function;
    for (size_t i = 0; i < name.size; i++)
        if (strchr(" (+@", name.text[i]) != NULL)
            name.size = i;
    return name.size != 0 ? name : (struct frame_part){0};
}

static bool is_of_libc(const struct frame_text *frame)
{
    return frame_part_begins(frame->module, "libc.so") ||
           frame_part_begins(frame->module, "ld-linux") ||
           frame_part_begins(frame->module, "libpthread.so");
}

// The frames that a title names: `inner` is the innermost one, `outer` the innermost one with a
// name outside the C library. Abort functions and nameless frames of the C library are neither.
struct blamed_frames {
    struct frame_text inner, outer; // zero if there is none
};

static struct blamed_frames find_blamed_frames(const char *stack)
{
    struct blamed_frames blamed = {0};
    struct frame_text frame;
    while (blamed.outer.whole.text == NULL && frame_text_next(&stack, &frame)) {
        struct frame_part name = name_of(&frame);
        bool counts = name.text != NULL ? !is_abort_function(name) : !is_of_libc(&frame);
        if (counts && blamed.inner.whole.text == NULL)
            blamed.inner = frame;
        if (counts && name.text != NULL && !is_of_libc(&frame))
            blamed.outer = frame;
        // Stop at a frame without a name: it is not certain that what follows called it.
        if (name.text == NULL && blamed.inner.whole.text != NULL)
            break;
    }
    return blamed;
}

#define KERNEL_NAME 15 // bytes that the kernel keeps of a program's name

// The name of the file that makes the call. A program has the name that it was started under:
// redis-server, whatever the link leads to.
static const char *caller_name(const struct injection *injection)
{
    const char *file = file_base_name(injection->module), *program = injection->program;
    if (program == NULL || *program == '\0' || strstr(file, ".so") != NULL ||
        program[strcspn(program, " /")] != '\0')
        return file;
    bool cut = strlen(program) == KERNEL_NAME && strncmp(file, program, KERNEL_NAME) == 0;
    return cut ? file : program;
}

// Likewise of a frame, if it is in that file.
static struct frame_part frame_name(const struct injection *injection, struct frame_part module)
{
    bool same = injection != NULL && injection->module != NULL &&
                frame_part_is(module, file_base_name(injection->module));
    return same ? frame_part(caller_name(injection)) : module;
}

// Writes " in fwrite, called by save": the caller of the C library is where to look. Where nothing
// has a name, " in cp at 0x1234".
static struct error *put_where(struct buffer *text, const char *before,
                               const struct engine_result *result)
{
    const char *stack = result->stack;
    const struct injection *injection =
        result->observation.injections.count > 0 ? &result->observation.injections.items[0] : NULL;
    struct blamed_frames blamed = find_blamed_frames(stack);
    if (blamed.inner.whole.text == NULL)
        frame_text_at(stack, 0, &blamed.inner);
    struct frame_part inner = name_of(&blamed.inner), outer = name_of(&blamed.outer);
    struct frame_part module = frame_name(injection, blamed.inner.module);
    if (inner.text == NULL && module.text != NULL && !is_of_libc(&blamed.inner))
        return buffer_printf(text, "%sin %.*s at 0x%llx", before, shown(module.text, module.size),
                             module.text, (unsigned long long)blamed.inner.offset);
    if (inner.text == NULL) // an address in nobody's code
        return NULL;
    TRY(buffer_printf(text, "%sin %.*s", before, shown(inner.text, inner.size), inner.text));
    if (outer.text == NULL || outer.text == inner.text)
        return NULL;
    return buffer_printf(text, ", called by %.*s", shown(outer.text, outer.size), outer.text);
}

static struct error *put_crash(struct buffer *text, const struct engine_result *result)
{
    int number = result->observation.crash_signal;
    TRY(buffer_printf(text, "crashes"));
    if (number == 0) // a sanitizer's complaint
        return NULL;
    TRY(buffer_printf(text, " (%s", outcome_signal_name(number)));
    if (result->stack != NULL)
        TRY(put_where(text, " ", result));
    return buffer_append(text, ")", 1);
}

// The path as seen from the working directory.
static const char *short_path(const struct finding_options *options, const char *path)
{
    const char *directory = options->definition->directory;
    size_t size = directory != NULL ? strlen(directory) : 0;
    bool below = size > 1 && strncmp(path, directory, size) == 0 && path[size] == '/';
    return below && path[size + 1] != '\0' ? path + size + 1 : path;
}

// "loses notes.txt". Of a long path only the end is shown.
static struct error *put_symptom(const struct finding_options *options, struct buffer *text,
                                 const struct judgement *judgement)
{
    static const struct {
        const char *before, *after;
    } words[SYMPTOMS] = {
        [SYMPTOM_NONE] = {"gives a wrong result", ""},
        [SYMPTOM_LOST] = {"loses ", ""},
        [SYMPTOM_EMPTIED] = {"leaves ", " empty"},
        [SYMPTOM_REMOVED] = {"leaves no ", " behind"},
        [SYMPTOM_DAMAGED] = {"leaves ", " damaged"},
        [SYMPTOM_WRONG] = {"writes a wrong ", ""},
        [SYMPTOM_MODE] = {"sets a wrong mode for ", ""},
        [SYMPTOM_KIND] = {"replaces ", " by another kind of file"},
        [SYMPTOM_NOT_WRITTEN] = {"does not write ", ""},
        [SYMPTOM_NOT_CHANGED] = {"does not change ", ""},
        [SYMPTOM_NOT_DELETED] = {"does not delete ", ""},
        [SYMPTOM_CHANGED] = {"changes ", ""},
        [SYMPTOM_OUTPUT] = {"prints wrong output", ""},
        [SYMPTOM_LEFT] = {"leaves ", " behind"},
        [SYMPTOM_LESS] = {"leaves out some of its messages", ""},
        [SYMPTOM_DOWN] = {"does not start serving", ""},
        [SYMPTOM_BEHAVIOUR] = {"behaves differently", ""},
    };
    const char *path = judgement->about != NULL ? short_path(options, judgement->about) : "";
    size_t size = strlen(path), cut = size > NAME_MOST ? size - NAME_MOST : 0;
    while (cut > 0 && ((unsigned char)path[cut] & 0xc0) == 0x80) // within a character
        cut++;
    return buffer_printf(text, "%s%s%s%s", words[judgement->symptom].before, cut > 0 ? "..." : "",
                         path + cut, words[judgement->symptom].after);
}

static struct error *put_failure(const struct finding_options *options, struct buffer *text,
                                 const struct engine_result *result)
{
    const struct judgement *judgement = &result->judgement;
    bool told = judgement->symptom != SYMPTOM_NONE;
    switch (judgement->verdict) {
    case VERDICT_CRASH:
        return put_crash(text, result);
    case VERDICT_HANG:
        TRY(buffer_printf(text, "hangs"));
        return result->stack != NULL ? put_where(text, " ", result) : NULL;
    case VERDICT_SILENT:
        TRY(put_symptom(options, text, judgement));
        return buffer_printf(text, " without an error message");
    case VERDICT_WRONG_OUTPUT:
        if (told && result->end != SANDBOX_SKIPPED && result->status != 0) // or a signal
            TRY(buffer_printf(text, "reports the failure but "));
        else
            TRY(buffer_printf(text,
                              told ? "claims success but " : "claims success with wrong output"));
        return told ? put_symptom(options, text, judgement) : NULL;
    case VERDICT_UNSTABLE:
        return buffer_printf(text, "leaves something broken behind");
    case VERDICT_DELIBERATE:
        TRY(buffer_printf(text, "aborts on purpose"));
        return result->stack != NULL ? put_where(text, " ", result) : NULL;
    default:
        return buffer_printf(text, "ends as '%s'", verdict_facts[judgement->verdict].name);
    }
}

// The injector's description of a fault, to follow "... when ".
static struct error *put_fault(const struct finding_options *options, const char *fault,
                               const struct injection *injection, struct buffer *text)
{
    if (options->injector->describe != NULL)
        return options->injector->describe(options->injector_self, fault, injection, text);
    return buffer_printf(text, "%.*s is injected", shown(fault, strlen(fault)), fault);
}

// " at copy.c:123", " in copy_reg", " in cp at 0x1234".
static struct error *put_site(struct buffer *text, const struct injection *injection)
{
    if (injection->file != NULL)
        return buffer_printf(text, " at %s:%u", file_base_name(injection->file), injection->line);
    if (injection->symbol != NULL)
        return buffer_printf(text, " in %.*s", shown(injection->symbol, NAME_MOST),
                             injection->symbol);
    if (injection->module != NULL)
        return buffer_printf(text, " in %s at 0x%llx", caller_name(injection),
                             (unsigned long long)injection->offset);
    return NULL;
}

static bool is_short_for(const char *program, const char *command)
{
    return command != NULL && strlen(program) == KERNEL_NAME &&
           strncmp(file_base_name(command), program, KERNEL_NAME) == 0;
}

// Whether the stack has frames of that program: "main (cp)", "cp+0x12".
static bool is_on_stack(const char *stack, const char *program)
{
    const char *name = file_base_name(program);
    bool cut = strlen(name) == KERNEL_NAME;
    struct frame_text frame;
    while (frame_text_next(&stack, &frame))
        if (cut ? frame_part_begins(frame.module, name) : frame_part_is(frame.module, name))
            return true;
    return false;
}

// Programs that run scripts. Their failure is the script's, and the command has the script's name.
static bool is_shell(const char *program)
{
    static const char *const shells[] = {"sh", "dash", "bash"};
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
        if (strcmp(file_base_name(program), shells[i]) == 0)
            return true;
    return false;
}

// The program that the title blames. A crash or hang is most likely in the process with the fault,
// unless the stack is another program's: a script may wait for a child. So are wrong results,
// unless the process reported the failure: then whoever started it is to blame, and the workload is
// named.
static const char *subject_of(const struct finding_options *options,
                              const struct engine_result *result)
{
    const struct injection *injection =
        result->observation.injections.count > 0 ? &result->observation.injections.items[0] : NULL;
    enum verdict verdict = result->judgement.verdict;
    bool waits = verdict == VERDICT_HANG && result->stack != NULL && injection != NULL &&
                 injection->program != NULL && !is_on_stack(result->stack, injection->program);
    bool placed =
        verdict == VERDICT_CRASH || verdict == VERDICT_HANG || verdict == VERDICT_DELIBERATE;
    bool ignored = result->judgement.ignored;
    bool own = injection != NULL && injection->program != NULL && !is_shell(injection->program);
    const char *command =
        options->definition->command.count > 0 ? options->definition->command.items[0] : NULL;
    if (injection != NULL && injection->program != NULL && !waits && (placed || (own && !ignored)))
        return is_short_for(injection->program, command) ? command : injection->program;
    if (ignored && injection->parent != NULL && !injection->child)
        return injection->parent;
    if (command != NULL)
        return command;
    return injection != NULL && injection->program != NULL ? injection->program : "the program";
}

static struct error *put_injected(const struct finding_options *options, struct buffer *text,
                                  const struct injection *injection, const char *subject)
{
    TRY(put_fault(options, injection->fault != NULL ? injection->fault : "a fault", injection,
                  text));
    TRY(put_site(text, injection));
    if (injection->program == NULL || is_short_for(injection->program, subject) ||
        strcmp(file_base_name(injection->program), file_base_name(subject)) == 0 ||
        (injection->file == NULL && injection->symbol == NULL && injection->module != NULL &&
         strcmp(file_base_name(injection->program), caller_name(injection)) == 0))
        return NULL;
    return buffer_printf(text, " (in %.*s)", shown(injection->program, NAME_MOST),
                         file_base_name(injection->program));
}

static struct error *make_title(const struct finding_options *options,
                                const struct engine_result *result, const char *spec,
                                struct buffer *text)
{
    const struct observation *observation = &result->observation;
    const char *subject = subject_of(options, result);
    TRY(buffer_printf(text, "%s ", file_base_name(subject)));
    TRY(put_failure(options, text, result));
    TRY(buffer_printf(text, " when "));
    if (observation->injections.count == 0)
        return put_fault(options, spec, NULL, text);
    TRY(put_injected(options, text, &observation->injections.items[0], subject));
    const struct injection *second = injection_second(observation);
    if (second == NULL)
        return NULL;
    TRY(buffer_printf(text, " and then "));
    return put_injected(options, text, second, subject);
}

static struct error *make_site(const struct injection *injection, struct finding_text *text)
{
    struct buffer site = {0};
    const char *function = injection->function;
    struct error *error = NULL;
    if (function != NULL)
        error = buffer_printf(&site, "%s", function);
    if (error == NULL && injection->symbol != NULL)
        error = buffer_printf(&site, "%s%s", site.size > 0 ? " called in " : "", injection->symbol);
    if (error == NULL && injection->file != NULL)
        error = buffer_printf(&site, " at %s:%u", injection->file, injection->line);
    else if (error == NULL && injection->module != NULL)
        error = buffer_printf(&site, " (%s+0x%llx)", file_base_name(injection->module),
                              (unsigned long long)injection->offset);
    if (error != NULL) {
        buffer_deinit(&site);
        return error;
    }
    text->site = site.data;
    if (injection->file != NULL) {
        text->file = strdup(injection->file);
        text->line = injection->line;
        if (text->file == NULL)
            return error_no_memory();
    }
    return NULL;
}

bool finding_needs_command_alone(const struct definition *definition)
{
    return !definition_is_server(definition) && definition->setup.count == 0 &&
           definition->pretest.count == 0 && definition->posttest.count == 0 &&
           definition->oracle.command.count == 0;
}

// Whether the injector's command line can show the finding. The verdict must need nothing but the
// command. If files change, a replay shows more: it compares them with those of the references. And
// outside a sandbox the command must not harm the user's files, with the fault or without.
static bool stands_alone(const struct finding_options *options, const struct engine_result *result)
{
    const struct definition *definition = options->definition;
    bool inside = options->injector->reproduces_inside && definition->sandbox != SANDBOX_NONE;
    return finding_needs_command_alone(definition) && options->harmless && !result->changed &&
           (inside || definition->input == NULL);
}

// The command ends a hang after a trial's timeout, because a run that is only slow counts as a
// hang, too.
static uint64_t reproduce_timeout_ns(const struct finding_options *options,
                                     const struct engine_result *result)
{
    return result->end == SANDBOX_TIMEOUT ? options->timeout_ns : 0;
}

static struct error *make_command(const struct finding_options *options,
                                  const struct engine_result *result, const char *spec,
                                  uint64_t seed, int64_t trial, char **ret_command)
{
    char *command = NULL;
    if (stands_alone(options, result) && options->injector->reproduce != NULL)
        TRY(options->injector->reproduce(options->injector_self, spec, seed,
                                         reproduce_timeout_ns(options, result), &command));
    struct buffer text = {0};
    if (command == NULL) {
        TRY(buffer_printf(&text, "ordeal replay %lld", (long long)trial));
        command = text.data;
    }
    *ret_command = command;
    return NULL;
}

static void free_text(struct finding_text *text)
{
    finding_text_deinit(text);
}

struct error *finding_describe(const struct finding_options *options,
                               const struct engine_result *result, const char *spec, uint64_t seed,
                               int64_t trial, struct finding_text *ret_text)
{
    _cleanup_(free_text) struct finding_text text = {0};
    _cleanup_(buffer_deinit) struct buffer title = {0};
    TRY(make_title(options, result, spec, &title));
    TRY(secrets_mask(&title.data));
    text.title = TAKE(title.data);
    if (result->observation.injections.count > 0)
        TRY(make_site(&result->observation.injections.items[0], &text));
    TRY(make_command(options, result, spec, seed, trial, &text.command));
    *ret_text = text;
    text = (struct finding_text){0};
    return NULL;
}
