// SPDX-License-Identifier: GPL-3.0-or-later
// Turns the journal of a run into injections and crashes with names. A target wrote everything in a
// record, so numbers are checked against the view, and texts may lack their NUL.
#include "injector/journal-reader.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/frame-text.h"
#include "dwarf/symbolizer.h"
#include "trial/escaped.h"
#include "trial/runtime-blame.h"
#include "trial/runtime-session.h"
#include "wire/names.h"
#include "wire/traits.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define INJECTIONS 100
#define RESULTS    64 // of observed calls
#define MOST_TEXT  (1u << 20)

struct checked_module { // whether a module is the same file inside and outside the sandbox
    char *path;
    bool same;
};

struct journal_reader {
    char *root;
    struct dwarf_symbolizer *host_symbolizer;    // of modules that are there outside, too
    struct dwarf_symbolizer *sandbox_symbolizer; // of what this life of the sandbox has made
    ARRAY(struct checked_module) checked;        // asked for in this life
};

struct error *journal_reader_new(struct journal_reader **ret_reader)
{
    struct journal_reader *reader = calloc(1, sizeof *reader);
    struct error *error =
        reader != NULL ? dwarf_symbolizer_new(&reader->host_symbolizer) : error_no_memory();
    if (error != NULL) {
        journal_reader_free(reader);
        return error;
    }
    *ret_reader = reader;
    return NULL;
}

static void forget_life(struct journal_reader *reader)
{
    for (size_t i = 0; i < reader->checked.count; i++)
        free(reader->checked.items[i].path);
    reader->checked.count = 0;
    dwarf_symbolizer_free(TAKE(reader->sandbox_symbolizer));
    free(TAKE(reader->root));
}

void journal_reader_free(struct journal_reader *reader)
{
    if (reader == NULL)
        return;
    forget_life(reader);
    ARRAY_DEINIT(&reader->checked);
    dwarf_symbolizer_free(reader->host_symbolizer);
    free(reader);
}

struct error *journal_reader_begin(struct journal_reader *reader, const char *root)
{
    forget_life(reader);
    reader->root = strdup(root);
    return reader->root != NULL ? NULL : error_no_memory();
}

// Compare size and time: a private view has other device numbers and maybe other inode numbers.
static bool is_same(const char *inside, const char *outside)
{
    struct stat in, out;
    if (stat(outside, &out) < 0)
        return false;
    return stat(inside, &in) < 0 ||
           (in.st_size == out.st_size && in.st_mtim.tv_sec == out.st_mtim.tv_sec &&
            in.st_mtim.tv_nsec == out.st_mtim.tv_nsec);
}

static bool is_same_outside(struct journal_reader *reader, const char *module)
{
    for (size_t i = 0; i < reader->checked.count; i++)
        if (strcmp(reader->checked.items[i].path, module) == 0)
            return reader->checked.items[i].same;
    _cleanup_free_ char *inside = NULL, *copy = strdup(module);
    if (copy == NULL || asprintf(&inside, "%s%s", reader->root, module) < 0)
        return inside = NULL, true;
    bool same = is_same(inside, module);
    struct checked_module *added = ARRAY_ADD(&reader->checked);
    if (added != NULL)
        *added = (struct checked_module){TAKE(copy), same};
    return same;
}

// The symbolizer for a module, and the path under which it finds it, which the caller frees. NULL
// without memory.
static struct dwarf_symbolizer *symbolizer_of(struct journal_reader *reader, const char *module,
                                              char **ret_path)
{
    bool outside =
        reader->root == NULL || reader->root[0] == '\0' || is_same_outside(reader, module);
    if (!outside && reader->sandbox_symbolizer == NULL)
        error_free(dwarf_symbolizer_new(&reader->sandbox_symbolizer));
    if (asprintf(ret_path, "%s%s", outside ? "" : reader->root, module) < 0)
        *ret_path = NULL;
    if (*ret_path == NULL)
        return NULL;
    return outside ? reader->host_symbolizer : reader->sandbox_symbolizer;
}

// Errors only mean that there are no names. A report is still useful without them.
struct journal_reader_place journal_reader_find(struct journal_reader *reader, const char *module,
                                                uint64_t address)
{
    _cleanup_free_ char *path = NULL;
    struct dwarf_symbolizer *symbolizer = symbolizer_of(reader, module, &path);
    if (symbolizer == NULL)
        return (struct journal_reader_place){0};
    struct dwarf_position found = dwarf_symbolizer_find(symbolizer, path, address);
    const char *inlined = dwarf_symbolizer_inlined(symbolizer, path, address);
    return (struct journal_reader_place){inlined != NULL ? inlined : found.symbol, found.file,
                                         found.line};
}

const char *journal_reader_module(const struct wire_view *view, uint32_t index,
                                  char storage[WIRE_MODULE_PATH + 1])
{
    if (index >= WIRE_MODULES || view->modules[index].state < WIRE_MODULE_REGISTERED)
        return NULL;
    memcpy(storage, view->modules[index].path, WIRE_MODULE_PATH);
    storage[WIRE_MODULE_PATH] = '\0';
    return storage[0] != '\0' ? storage : NULL;
}

bool journal_reader_is_runtime(const char *module)
{
    return strcmp(file_base_name(module), WIRE_RUNTIME_NAME) == 0;
}

#define CODE_SIZE 32

// "1f00ba47+0x1c". Like the frame's offset, this is where the call returns to.
static bool put_code(struct journal_reader *reader, const char *module, uint64_t offset,
                     bool returns, char text[CODE_SIZE])
{
    _cleanup_free_ char *path = NULL;
    struct dwarf_symbolizer *symbolizer = symbolizer_of(reader, module, &path);
    struct dwarf_code code;
    uint64_t before = returns ? 1 : 0;
    if (symbolizer == NULL || !dwarf_symbolizer_code(symbolizer, path, offset - before, &code))
        return false;
    snprintf(text, CODE_SIZE, "%08x+0x%llx", code.hash, (unsigned long long)(code.offset + before));
    return true;
}

struct error *journal_reader_put_frame(struct journal_reader *reader, const char *module,
                                       uint64_t offset, bool returns, bool brief,
                                       struct buffer *text)
{
    struct frame_text frame = {.offset = offset};
    if (module == NULL)
        return frame_text_put(text, &frame);
    // The address after a call belongs to the next statement, maybe to the next function.
    struct journal_reader_place place =
        journal_reader_find(reader, module, offset - (returns ? 1 : 0));
    frame.module = frame_part(file_base_name(module));
    if (place.symbol != NULL)
        frame.function = frame_part_symbol(place.symbol);
    if (place.file != NULL && !brief) {
        frame.file = frame_part(place.file);
        frame.line = place.line;
    }
    char code[CODE_SIZE];
    if (place.symbol == NULL && put_code(reader, module, offset, returns, code))
        frame.code = frame_part(code);
    return frame_text_put(text, &frame);
}

// Writes one frame per line. A key shows "?" for an address without a module, which differs in
// every run. If a program catches its own fault and dies in the handler, the stack starts at the
// fault.
static struct error *put_stack(struct journal_reader *reader, const struct wire_view *view,
                               const struct wire_record *record, bool brief, struct buffer *text)
{
    unsigned count = record->frame_count < WIRE_FRAMES ? record->frame_count : WIRE_FRAMES;
    bool crash = record->kind == WIRE_RECORD_CRASH;
    unsigned first = crash && record->occurrence < count ? (unsigned)record->occurrence : 0;
    for (unsigned i = first; i < count; i++) {
        char storage[WIRE_MODULE_PATH + 1];
        const char *module =
            journal_reader_module(view, WIRE_FRAME_MODULE(record->frames[i]), storage);
        bool returns = i > first || !crash;
        if (module != NULL && journal_reader_is_runtime(module))
            continue;
        TRY(buffer_append(text, "\n", text->size == 0 ? 0 : 1));
        if (module == NULL && brief)
            TRY(buffer_append(text, "?", 1));
        else
            TRY(journal_reader_put_frame(reader, module, WIRE_FRAME_OFFSET(record->frames[i]),
                                         returns, brief, text));
    }
    return NULL;
}

#define PLACES 24 // of a stack, for analyses

// The frames of a record as places. A module that the trial has made is not there any more when
// somebody reads its code.
static struct error *copy_places(struct journal_reader *reader, const struct wire_view *view,
                                 const struct wire_record *record, struct code_places *places)
{
    unsigned count = record->frame_count < WIRE_FRAMES ? record->frame_count : WIRE_FRAMES;
    bool crash = record->kind == WIRE_RECORD_CRASH;
    unsigned first = crash && record->occurrence < count ? (unsigned)record->occurrence : 0;
    for (unsigned i = first; i < count && places->items.count < PLACES; i++) {
        char storage[WIRE_MODULE_PATH + 1];
        const char *module =
            journal_reader_module(view, WIRE_FRAME_MODULE(record->frames[i]), storage);
        if (module != NULL && journal_reader_is_runtime(module))
            continue;
        struct code_place *place = ARRAY_ADD(&places->items);
        if (place == NULL)
            return error_no_memory();
        place->offset = WIRE_FRAME_OFFSET(record->frames[i]);
        bool same = module != NULL && (reader->root == NULL || reader->root[0] == '\0' ||
                                       is_same_outside(reader, module));
        if (same && (place->module = strdup(module)) == NULL)
            return error_no_memory();
    }
    return NULL;
}

static struct error *copy_text(const char *text, size_t most, char **ret_copy)
{
    if (text == NULL || text[0] == '\0')
        return NULL;
    *ret_copy = strndup(text, most);
    return *ret_copy != NULL ? NULL : error_no_memory();
}

// "read=-1/EIO": the rule's action, with the function that was called.
static struct error *put_fault(const struct scenario *scenario, const struct wire_record *record,
                               char **ret_fault)
{
    bool known = record->rule < scenario_rule_count(scenario);
    if (asprintf(ret_fault, "%.*s=%s", WIRE_FUNCTION_NAME, record->function,
                 known ? scenario_rule(scenario, record->rule).action : "?") < 0) {
        *ret_fault = NULL;
        return error_no_memory();
    }
    return NULL;
}

static bool is_stream_write(const struct wire_record *record)
{
    char name[WIRE_FUNCTION_NAME + 1] = "";
    memcpy(name, record->function, WIRE_FUNCTION_NAME);
    const struct wire_traits *traits = wire_traits_find(name);
    return traits != NULL && (traits->flags & WIRE_TRAIT_STREAM_WRITE) != 0;
}

// The frame that the injection is blamed on, or the number of frames. The C library calls the write
// below a stream, on behalf of whoever fills or closes the stream; or at the end of the program,
// where nobody does.
static unsigned site_of(const struct wire_view *view, const struct wire_record *record)
{
    unsigned count = record->frame_count < WIRE_FRAMES ? record->frame_count : WIRE_FRAMES;
    char storage[WIRE_MODULE_PATH + 1];
    if (!is_stream_write(record))
        return 0;
    for (unsigned i = 0; i + 1 < count; i++) {
        const char *module =
            journal_reader_module(view, WIRE_FRAME_MODULE(record->frames[i]), storage);
        if (module != NULL && !wire_is_system(file_base_name(module)))
            return i;
    }
    return count;
}

// Where the stream was opened that fails in this call.
static struct error *describe_stream(struct journal_reader *reader, const struct wire_view *view,
                                     const struct wire_record *record, struct injection *injection)
{
    char name[WIRE_FUNCTION_NAME + 1] = "", storage[WIRE_MODULE_PATH + 1];
    memcpy(name, record->function, WIRE_FUNCTION_NAME);
    const struct wire_traits *traits = wire_traits_find(name);
    const uint32_t reads = WIRE_TRAIT_END_IS_0 | WIRE_TRAIT_END_IS_EOF;
    const uint64_t error = 2; // standard error's descriptor
    uint64_t offset = WIRE_FRAME_OFFSET(record->stream);
    if (traits == NULL || record->stream == 0 || (record->actions & WIRE_ERRNO) == 0)
        return NULL;
    bool is_read = (traits->flags & reads) != 0;
    const char *module = journal_reader_module(view, WIRE_FRAME_MODULE(record->stream), storage);
    if (module == NULL) {
        injection->standard_stream = !is_read && offset <= error ? (uint32_t)offset : 0;
        return NULL;
    }
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(journal_reader_put_frame(reader, module, offset, true, false, &text));
    *(is_read ? &injection->read_stream : &injection->stream) = TAKE(text.data);
    return NULL;
}

static struct error *describe_site(struct journal_reader *reader, const struct wire_view *view,
                                   const struct wire_record *record, struct injection *injection)
{
    char storage[WIRE_MODULE_PATH + 1];
    unsigned at = site_of(view, record);
    if (at >= record->frame_count || at >= WIRE_FRAMES)
        return NULL;
    const char *module =
        journal_reader_module(view, WIRE_FRAME_MODULE(record->frames[at]), storage);
    injection->offset = WIRE_FRAME_OFFSET(record->frames[at]);
    if (module == NULL)
        return NULL;
    struct journal_reader_place place = journal_reader_find(reader, module, injection->offset - 1);
    injection->line = place.line;
    TRY(copy_text(module, MOST_TEXT, &injection->module));
    TRY(copy_text(place.file, MOST_TEXT, &injection->file));
    return copy_text(place.symbol, MOST_TEXT, &injection->symbol);
}

static const struct wire_process *find_process(const struct wire_view *view, uint32_t number)
{
    const uint64_t *numbers = view->region->process_numbers;
    for (uint32_t i = 0; i < WIRE_PROCESSES; i++)
        if ((uint32_t)numbers[i] == number && numbers[i] >> 32 != 0)
            return &view->programs->processes[i];
    return NULL;
}

#define GENERATIONS 16

static bool has_failed(const struct wire_process *process)
{
    return (process->end & WIRE_ENDED) != 0 && process->end != WIRE_ENDED;
}

// Notes whether the process ended as it should not, as its parent learnt, and who made nothing of
// that. A shell that was given a command passes its failure on, if it is not the workload itself.
static struct error *describe_process(const struct wire_view *view, struct injection *injection)
{
    const struct wire_process *process = find_process(view, injection->process), *parent;
    if (process == NULL)
        return NULL;
    injection->failed = has_failed(process);
    injection->child = process->ancestry >> 8 == WIRE_ANCESTRY_COMMAND;
    for (int i = 0; i < GENERATIONS; i++) {
        parent = process->parent != 0 ? find_process(view, process->parent) : NULL;
        bool above = parent != NULL && parent->parent != 0;
        if (!above || (process->parent_helps == 0 && !has_failed(parent)))
            break;
        process = parent;
    }
    return copy_text(process->parent_program, sizeof process->parent_program, &injection->parent);
}

// What explains a finding later: only the first injection by a rule does.
static struct error *copy_call(struct journal_reader *reader, const struct wire_view *view,
                               const struct wire_record *record,
                               const struct observation *observation, struct injection *injection)
{
    for (size_t i = 0; i + 1 < observation->injections.count; i++)
        if (observation->injections.items[i].rule == record->rule)
            return NULL;
    injection->returned = (record->actions & WIRE_RETURN) != 0;
    injection->value = (int64_t)record->value[0];
    memcpy(injection->arguments, record->arguments, sizeof injection->arguments);
    return copy_places(reader, view, record, &injection->frames);
}

static struct error *add_injection(struct journal_reader *reader, const struct wire_view *view,
                                   const struct scenario *scenario,
                                   const struct wire_record *record,
                                   struct observation *observation)
{
    if (observation->injections.count == INJECTIONS)
        return NULL;
    struct injection *injection = ARRAY_ADD(&observation->injections);
    if (injection == NULL)
        return error_no_memory();
    injection->occurrence = record->occurrence;
    injection->rule = record->rule;
    injection->process = record->process_number;
    TRY(describe_process(view, injection));
    injection->thread = record->thread_number;
    injection->seconds = clock_seconds(record->time_ns);
    TRY(copy_call(reader, view, record, observation, injection));
    TRY(copy_text(record->function, WIRE_FUNCTION_NAME, &injection->function));
    TRY(copy_text(record->process_name, sizeof record->process_name, &injection->program));
    TRY(put_fault(scenario, record, &injection->fault));
    char storage[WIRE_MODULE_PATH + 1];
    TRY(copy_text(journal_reader_module(view, record->library, storage), MOST_TEXT,
                  &injection->library));
    injection->stream_write = is_stream_write(record);
    injection->observed = (record->actions & WIRE_OBSERVE) != 0;
    observation->observed.began |= injection->observed;
    TRY(describe_site(reader, view, record, injection));
    TRY(describe_stream(reader, view, record, injection));
    _cleanup_(buffer_deinit) struct buffer stack = {0};
    TRY(put_stack(reader, view, record, false, &stack));
    injection->stack = TAKE(stack.data);
    return NULL;
}

static struct error *put_signal(struct buffer *text, int number)
{
    const char *name = number > 0 ? sigabbrev_np(number) : NULL;
    return name != NULL ? buffer_printf(text, "SIG%s", name)
                        : buffer_printf(text, "signal %d", number);
}

// Only the first process to die counts: it is the most likely cause.
static struct error *add_crash(struct journal_reader *reader, const struct wire_view *view,
                               const struct wire_record *record, struct observation *observation)
{
    if (observation->crash != NULL)
        return NULL;
    _cleanup_(buffer_deinit) struct buffer crash = {0}, stack = {0}, key = {0};
    TRY(put_signal(&crash, record->error));
    if (record->actions & WIRE_CRASH_FAULT)
        TRY(buffer_printf(&crash, " at 0x%llx", (unsigned long long)record->value[0]));
    TRY(buffer_printf(&crash, " in %.*s", (int)sizeof record->process_name, record->process_name));
    TRY(put_stack(reader, view, record, false, &stack));
    TRY(put_stack(reader, view, record, true, &key));
    observation->crash_signal = record->error;
    observation->crash_fault = (record->actions & WIRE_CRASH_FAULT) != 0;
    observation->crash_address = record->value[0];
    TRY(copy_places(reader, view, record, &observation->crash_frames));
    observation->crash_in_command = record->process_number == 1;
    bool raised = (record->actions & WIRE_CRASH_SENT) != 0 && record->value[1] == record->pid;
    observation->crash_by_itself =
        (raised || (record->actions & WIRE_CRASH_STOP) != 0) && record->occurrence == 0;
    observation->crash = TAKE(crash.data);
    observation->crash_stack = TAKE(stack.data);
    observation->crash_key = TAKE(key.data);
    return NULL;
}

static struct error *add_note(const struct wire_record *record, struct observation *observation)
{
    static const char *const meanings[] = {
        [WIRE_NOTE_UNRESOLVED_SYMBOL] = "could not resolve the import",
        [WIRE_NOTE_NO_SLOTS] = "has no stub left to intercept",
        [WIRE_NOTE_NO_ANSWER] = "got no answer in time about the module",
        [WIRE_NOTE_RESOLUTION_FAILED] = "could not look up the scenario's places in the module",
        [WIRE_NOTE_REMOTE_UNREACHABLE] = "could not reach the coordinator for",
        [WIRE_NOTE_PLUGIN_MISSING] = "ran without the plug-in",
        [WIRE_NOTE_PLUGIN_VERSION] = "cannot use, as it is for another version, the plug-in",
        [WIRE_NOTE_PLUGIN_INIT] = "ran without, as its init failed, the plug-in",
        [WIRE_NOTE_MODULES_FULL] = "has no room in the module table for",
        [WIRE_NOTE_DISARMED] = "took the injection out of itself:",
        [WIRE_NOTE_OUT_FAULT] = "gave an output pointer that cannot be written to",
        [WIRE_NOTE_MEMORY] = "could not allocate",
        [WIRE_NOTE_NOT_ATTACHED] = "changed its user and has no descriptor of Ordeal's, so that "
                                   "Ordeal was not attached to",
        [WIRE_NOTE_NAMESPACE] = "loaded into a namespace of its own (dlmopen), in which calls are "
                                "not intercepted,",
        [WIRE_NOTE_NOT_COVERED] = "runs another file, whose coverage is not known, as",
    };
    const char *meaning =
        record->note < sizeof meanings / sizeof *meanings ? meanings[record->note] : NULL;
    if (observation->note != NULL || meaning == NULL)
        return NULL;
    if (asprintf(&observation->note, "%.*s %s %.*s", (int)sizeof record->process_name,
                 record->process_name, meaning, (int)sizeof record->text, record->text) < 0) {
        observation->note = NULL;
        return error_no_memory();
    }
    return NULL;
}

// One sentence, about the first of them.
static struct error *note_escaped(const struct wire_view *view, char **ret_note)
{
    _cleanup_(escaped_programs_deinit) struct escaped_programs programs = {0};
    TRY(escaped_programs_find(view, false, &programs));
    size_t more = programs.items.count;
    if (more-- == 0)
        return NULL;
    _cleanup_free_ char *text = NULL;
    TRY(escaped_program_text(&programs.items.items[0], &text));
    if (asprintf(ret_note, more != 0 ? "%s (and %zu other programs)" : "%s", text, more) < 0) {
        *ret_note = NULL;
        return error_no_memory();
    }
    return NULL;
}

static struct error *add_result(int64_t result, struct observed_call *observed)
{
    for (size_t i = 0; i < observed->results.count; i++)
        if (observed->results.items[i] == result)
            return NULL;
    int64_t *added = observed->results.count < RESULTS ? ARRAY_ADD(&observed->results) : NULL;
    if (added != NULL)
        *added = result;
    return added != NULL || observed->results.count == RESULTS ? NULL : error_no_memory();
}

static struct error *take_result(const struct wire_record *record, struct observed_call *observed)
{
    TRY(add_result((int64_t)record->value[0], observed));
    if (observed->returned)
        return NULL;
    observed->returned = true;
    observed->result = (int64_t)record->value[0];
    observed->error = record->error;
    observed->changed = record->actions;
    return NULL;
}

// A library in a directory that packages install to.
static bool is_system_library(const char *path)
{
    static const char *const directories[] = {"/lib/",     "/lib64/",     "/lib32/",
                                              "/usr/lib/", "/usr/lib64/", "/usr/lib32/"};
    for (size_t i = 0; i < sizeof directories / sizeof *directories; i++)
        if (strncmp(path, directories[i], strlen(directories[i])) == 0)
            return strstr(file_base_name(path), ".so") != NULL;
    return false;
}

static struct error *list_system_libraries(const struct wire_view *view, char **ret_list)
{
    _cleanup_(buffer_deinit) struct buffer list = {0};
    for (uint32_t i = 0; i < WIRE_MODULES; i++) {
        char storage[WIRE_MODULE_PATH + 1];
        const char *path = journal_reader_module(view, i, storage);
        if (path != NULL && is_system_library(path))
            TRY(buffer_printf(&list, "%s\n", file_base_name(path)));
    }
    *ret_list = TAKE(list.data);
    return NULL;
}

struct error *journal_reader_observe(struct journal_reader *reader, const struct wire_view *view,
                                     const struct scenario *scenario,
                                     struct observation *observation)
{
    observation->damage = view->damage;
    if (view->damage != WIRE_DAMAGE_NONE)
        return NULL;
    for (uint32_t i = 0; i < view->rule_count; i++)
        observation->activations += view->rule_states[i].fired;
    if (observation->activations != 0)
        TRY(list_system_libraries(view, &observation->system_libraries));
    for (uint32_t i = 0; i < view->record_count; i++) {
        const struct wire_record *record = &view->journal[i];
        if (record->state != WIRE_RECORD_COMPLETE)
            continue;
        if (record->kind == WIRE_RECORD_INJECTION)
            TRY(add_injection(reader, view, scenario, record, observation));
        else if (record->kind == WIRE_RECORD_CRASH)
            TRY(add_crash(reader, view, record, observation));
        else if (record->kind == WIRE_RECORD_NOTE)
            TRY(add_note(record, observation));
        else if (record->kind == WIRE_RECORD_RESULT)
            TRY(take_result(record, &observation->observed));
    }
    if (observation->note == NULL)
        TRY(note_escaped(view, &observation->note));
    if (observation->note == NULL)
        TRY(runtime_blame(view, &observation->note));
    return NULL;
}

struct error *journal_reader_end_session(struct journal_reader *reader,
                                         struct runtime_session *session, const char *root,
                                         const struct scenario *scenario,
                                         struct wire_view *ret_view,
                                         struct observation *observation)
{
    TRY(runtime_session_end(session, ret_view));
    TRY(journal_reader_begin(reader, root));
    return journal_reader_observe(reader, ret_view, scenario, observation);
}

struct error *journal_reader_damage_error(void)
{
    return error_new("the target damaged the region, the shared memory in which it is noted what "
                     "happens to it");
}
