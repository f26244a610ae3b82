// SPDX-License-Identifier: GPL-3.0-or-later
// The injector `guest`: enables software faults in the kernel of a guest. The command is
// `ordeal guest SYSTEM`; it gets options that say which fault, and where to write its report.
#include "base/cleanup.h"
#include "base/file.h"
#include "base/frame-text.h"
#include "guest/kernel.h"
#include "guest/report.h"
#include "injector/injector.h"
#include "trial/region-file.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REPORT_LIMIT (1u << 20)
#define LIST_LIMIT   (64u << 20)

static const struct injector_parameter parameters[] = {
    {"types", "GLOB...", "faults of these types only", false, true},
    {"functions", "GLOB...", "in these functions only", false, true},
    {"files", "GLOB...", "in these source files only", false, true},
    {"blocks", "executed|all",
     "only in code that the guest executes without faults, or in all (executed)", false, false},
    {"accelerator", "auto|kvm|tcg", "what QEMU runs the guest with (auto)", false, false},
    {0},
};

struct shared_file { // that the command writes and we read
    char *path, *directory;
    int file;
};

struct guests {
    struct injector_setup setup;
    struct guest_system system;
    struct ir_program kernel;
    enum guest_accelerator accelerator;
    char *ordeal;    // this executable
    size_t verb;     // index of "guest" in the command
    bool profiled;   // `executed` of the kernel is known
    bool has_kernel; // it is open
    size_t not_executed;
    struct shared_file report, list;
    const char *visible[3];
    struct words command;
    // This shot's.
    bool is_reference, profiles;
    size_t candidate;
};

// ---- The instance ----

static void close_file(struct shared_file *file)
{
    if (file->path == NULL)
        return;
    close(file->file);
    unlink(file->path);
    rmdir(file->directory);
    free(file->path);
    free(file->directory);
    *file = (struct shared_file){0};
}

static void close_guests(void *data)
{
    struct guests *self = data;
    if (self == NULL)
        return;
    close_file(&self->report);
    close_file(&self->list);
    guest_system_deinit(&self->system);
    if (self->has_kernel)
        ir_program_deinit(&self->kernel);
    words_deinit(&self->command);
    free(self->ordeal);
    free(self);
}

// The folder in "ordeal guest SYSTEM", and the place of "guest" in it.
static struct error *find_system(struct guests *self, const char **ret_folder)
{
    const struct words *command = self->setup.command;
    if (command->count < 3 || strcmp(file_base_name(command->items[0]), "ordeal") != 0 ||
        strcmp(command->items[1], "guest") != 0)
        return error_new("the injector 'guest' needs the command 'ordeal guest SYSTEM'");
    if (command->items[2][0] == '-')
        return error_new("the injector 'guest' needs the command 'ordeal guest SYSTEM' without "
                         "options: it adds its own");
    self->verb = 1;
    *ret_folder = command->items[2];
    return NULL;
}

static struct error *find_self(char **ret_path)
{
    char path[PATH_MAX];
    ssize_t size = readlink("/proc/self/exe", path, sizeof path - 1);
    if (size < 0)
        return error_from_errno(errno, "cannot find Ordeal's own program");
    *ret_path = strndup(path, (size_t)size);
    return *ret_path != NULL ? NULL : error_no_memory();
}

static struct error *fill(struct guests *self)
{
    const char *folder = NULL,
               *name = parameters_value(self->setup.parameters, "accelerator", "auto");
    _cleanup_free_ char *full = NULL;
    TRY(find_system(self, &folder));
    if (folder[0] != '/' && asprintf(&full, "%s/%s", self->setup.directory, folder) < 0) {
        full = NULL;
        return error_no_memory();
    }
    TRY(guest_system_read(full != NULL ? full : folder, &self->system));
    TRY(ir_program_open(self->system.kernel, &self->kernel));
    self->has_kernel = true;
    self->accelerator = strcmp(name, "kvm") == 0   ? GUEST_KVM
                        : strcmp(name, "tcg") == 0 ? GUEST_TCG
                                                   : GUEST_AUTO;
    TRY(guest_choose_accelerator(&self->accelerator));
    return find_self(&self->ordeal);
}

static struct error *open_guests(const struct injector_setup *setup, void **ret_self)
{
    struct guests *self = calloc(1, sizeof *self);
    if (self == NULL)
        return error_no_memory();
    self->setup = *setup;
    struct error *error = fill(self);
    if (error != NULL) {
        close_guests(self);
        return error;
    }
    *ret_self = self;
    return NULL;
}

// ---- Specs ----

static const struct image_function *function_of(const struct guests *self, size_t number)
{
    const struct image *image = &self->kernel.image;
    return &image->functions.items[image->candidates.items[number].function];
}

static struct error *put_spec(const struct guests *self, size_t number, struct buffer *text)
{
    const struct image_candidate *candidate = &self->kernel.image.candidates.items[number];
    return buffer_printf(text, "%s@%s:%" PRIu32 ":%" PRIu32 " in %s#%zu", candidate->type,
                         file_base_name(candidate->file), candidate->line, candidate->column,
                         function_of(self, number)->name, number + 1);
}

static struct error *find_spec(const struct guests *self, const char *spec, size_t *ret_number)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    const char *hash = strrchr(spec, '#');
    unsigned long long number = hash != NULL ? strtoull(hash + 1, NULL, 10) : 0;
    if (number != 0 && number <= self->kernel.image.candidates.count)
        TRY(put_spec(self, number - 1, &text));
    if (text.data == NULL || strcmp(text.data, spec) != 0)
        return error_new("there is no fault '%s' in %s; was the kernel built anew since?", spec,
                         self->system.kernel);
    *ret_number = number - 1;
    return NULL;
}

// ---- Before a run ----

static struct error *make_file(struct shared_file *file)
{
    unsigned place = 0;
    if (file->path != NULL)
        return ftruncate(file->file, 0) == 0
                   ? NULL
                   : error_from_errno(errno, "cannot empty %s", file->path);
    return region_file_make_shared(false, &place, &file->file, &file->path, &file->directory);
}

static struct error *add(struct guests *self, const char *word)
{
    return words_add(&self->command, word, strlen(word));
}

static struct error *add_options(struct guests *self)
{
    char number[24];
    TRY(add(self, "--quiet")); // what it says is no output of the target
    TRY(add(self, "--output"));
    TRY(add(self, self->report.path));
    TRY(add(self, "--accelerator"));
    TRY(add(self, self->accelerator == GUEST_KVM ? "kvm" : "tcg"));
    if (self->profiles) {
        TRY(add(self, "--executed"));
        return add(self, self->list.path);
    }
    if (self->is_reference)
        return NULL;
    snprintf(number, sizeof number, "%zu", self->candidate + 1);
    TRY(add(self, "--inject"));
    return add(self, number);
}

static struct error *prepare(void *data, struct shot *shot)
{
    struct guests *self = data;
    self->is_reference = shot->spec == NULL;
    self->profiles = self->is_reference && !self->profiled;
    if (!self->is_reference)
        TRY(find_spec(self, shot->spec, &self->candidate));
    TRY(make_file(&self->report));
    TRY(make_file(&self->list));
    words_clear(&self->command);
    TRY(add(self, self->ordeal));
    TRY(add(self, "guest"));
    TRY(add_options(self));
    for (char *const *word = shot->command + self->verb + 1; *word != NULL; word++)
        TRY(add(self, *word));
    self->visible[0] = self->report.path;
    self->visible[1] = self->list.path;
    shot->visible = self->visible;
    shot->use_command = self->command.items;
    return NULL;
}

// ---- After a run ----

static struct error *take_profile(struct guests *self)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(buffer_read_regular(self->list.path, LIST_LIMIT, &text));
    for (const char *at = text.data; at != NULL && *at != '\0';) {
        char *end;
        unsigned long long number = strtoull(at, &end, 10);
        if (end == at)
            break;
        if (number != 0 && number <= self->kernel.image.candidates.count)
            self->kernel.executed[number - 1] = true;
        at = end + strspn(end, "\n");
    }
    self->profiled = true;
    return NULL;
}

static struct error *add_injection(const struct guests *self, const struct guest_report *report,
                                   struct observation *observation)
{
    const struct image_candidate *candidate = &self->kernel.image.candidates.items[self->candidate];
    struct injection *injection = ARRAY_ADD(&observation->injections);
    if (injection == NULL)
        return error_no_memory();
    injection->occurrence = report->activations;
    injection->process = 1;
    injection->line = candidate->line;
    injection->seconds = (double)report->activated_ns / 1e9;
    injection->fault = strdup(candidate->type);
    injection->symbol = strdup(function_of(self, self->candidate)->name);
    injection->module = strdup(self->system.kernel);
    injection->file = strdup(candidate->file);
    injection->program = strdup(self->system.name);
    return injection->fault != NULL && injection->symbol != NULL && injection->module != NULL &&
                   injection->file != NULL && injection->program != NULL
               ? NULL
               : error_no_memory();
}

static enum observed_system system_of(const struct guest_report *report)
{
    switch (report->end) {
    case GUEST_STABLE:
        return SYSTEM_STABLE;
    case GUEST_NOT_RUN:
        return SYSTEM_NOT_RUN;
    case GUEST_PRETEST_FAILED:
        return SYSTEM_PRETEST_FAILED;
    case GUEST_UNFINISHED:
        return report->phase < GUEST_WORKLOAD ? SYSTEM_PRETEST_FAILED : SYSTEM_UNFINISHED;
    default:
        return report->crash == GUEST_HANG     ? SYSTEM_HANGS
               : report->crash == GUEST_BROKEN ? SYSTEM_BROKEN
                                               : SYSTEM_CRASHED;
    }
}

// "panic during workload: Kernel panic - not syncing: …; the fault was first activated during boot"
static struct error *put_reason(const struct guest_report *report, struct buffer *text)
{
    TRY(buffer_printf(text, "%s during %s: %s",
                      report->crash != GUEST_NO_CRASH ? guest_crash_names[report->crash]
                                                      : guest_end_names[report->end],
                      guest_phase_names[report->phase],
                      report->reason != NULL ? report->reason : "no reason is known"));
    return report->activations != 0
               ? buffer_printf(text, "; the fault was first activated during %s",
                               guest_phase_names[report->activated_in])
               : NULL;
}

// The kernel's frames, "name+0x12/0x40", as all others are written: "name (vmlinux)".
static struct error *put_stack(const struct guests *self, const char *frames, struct buffer *text)
{
    const char *module = file_base_name(self->system.kernel);
    for (size_t line; *frames != '\0'; frames += line + (frames[line] != '\0')) {
        line = strcspn(frames, "\n");
        size_t name = strcspn(frames, "+\n");
        const struct frame_text frame = {.function = {frames, name}, .module = frame_part(module)};
        if (name != 0) {
            TRY(frame_text_put(text, &frame));
            TRY(buffer_append(text, "\n", 1));
        }
    }
    return NULL;
}

static struct error *take_report(struct guests *self, struct guest_report *report,
                                 struct observation *observation)
{
    _cleanup_(buffer_deinit) struct buffer reason = {0}, stack = {0};
    observation->system = system_of(report);
    observation->activations = report->activations;
    if (report->activations != 0 && !self->is_reference)
        TRY(add_injection(self, report, observation));
    if (report->end == GUEST_STABLE)
        return NULL;
    TRY(put_reason(report, &reason));
    if (self->is_reference)
        return error_new("the guest is not stable without a fault: %s", reason.data);
    observation->system_reason = TAKE(reason.data);
    if (report->stack == NULL)
        return NULL;
    TRY(put_stack(self, report->stack, &stack));
    observation->crash_stack = stack.data != NULL ? strdup(stack.data) : NULL;
    observation->crash_key = TAKE(stack.data);
    return observation->crash_key == NULL || observation->crash_stack != NULL ? NULL
                                                                              : error_no_memory();
}

static struct error *observe(void *data, const char *root, struct observation *observation)
{
    struct guests *self = data;
    _cleanup_(buffer_deinit) struct buffer text = {0};
    _cleanup_(guest_report_deinit) struct guest_report report = {0};
    TRY(buffer_read_regular(self->report.path, REPORT_LIMIT, &text));
    if (text.size == 0) { // it could not begin; what it said is kept
        observation->system = SYSTEM_NOT_RUN;
        observation->system_reason = strdup("'ordeal guest' left no report");
        return observation->system_reason != NULL ? NULL : error_no_memory();
    }
    TRY(guest_report_read(text.data, text.size, &report));
    TRY(take_report(self, &report, observation));
    return self->profiles ? take_profile(self) : NULL;
}

// ---- Candidates ----

static bool fits(const struct words *globs, const char *text)
{
    for (size_t i = 0; globs != NULL && i < globs->count; i++)
        if (fnmatch(globs->items[i], text, 0) == 0 ||
            fnmatch(globs->items[i], file_base_name(text), 0) == 0)
            return true;
    return globs == NULL;
}

static bool is_wanted(const struct guests *self, size_t number)
{
    const struct image_candidate *candidate = &self->kernel.image.candidates.items[number];
    const struct image_function *function = function_of(self, number);
    const struct parameters *given = self->setup.parameters;
    return !function->again && candidate->copies != 0 &&
           fits(parameters_words(given, "types"), candidate->type) &&
           fits(parameters_words(given, "functions"), function->name) &&
           fits(parameters_words(given, "files"), candidate->file);
}

static struct error *fill_candidate(const struct guests *self, size_t number,
                                    struct candidate *candidate)
{
    const struct image_candidate *from = &self->kernel.image.candidates.items[number];
    const char *base = file_base_name(from->file);
    _cleanup_(buffer_deinit) struct buffer spec = {0};
    TRY(put_spec(self, number, &spec));
    candidate->weight = 1;
    candidate->line = from->line;
    candidate->spec = TAKE(spec.data);
    candidate->type = strdup(from->type);
    candidate->function = strdup(function_of(self, number)->name);
    candidate->module = strdup(self->system.kernel);
    candidate->file = strdup(from->file);
    candidate->component =
        base > from->file + 1 ? strndup(from->file, (size_t)(base - from->file) - 1) : strdup(".");
    return candidate->type != NULL && candidate->function != NULL && candidate->module != NULL &&
                   candidate->file != NULL && candidate->component != NULL
               ? NULL
               : error_no_memory();
}

static struct error *candidates(void *data, candidate_add *add_candidate, void *add_data)
{
    struct guests *self = data;
    bool all = strcmp(parameters_value(self->setup.parameters, "blocks", "executed"), "all") == 0;
    self->not_executed = 0;
    for (size_t i = 0; i < self->kernel.image.candidates.count; i++) {
        struct candidate candidate = {0};
        if (!is_wanted(self, i))
            continue;
        if (!all && !self->kernel.executed[i]) {
            self->not_executed++;
            continue;
        }
        struct error *error = fill_candidate(self, i, &candidate);
        if (error == NULL)
            error = add_candidate(add_data, &candidate);
        candidate_deinit(&candidate);
        if (error != NULL)
            return error;
    }
    return NULL;
}

static struct error *remarks(void *data, remark_add *add_remark, void *add_data)
{
    const struct guests *self = data;
    _cleanup_(buffer_deinit) struct buffer text = {0};
    if (self->not_executed == 0)
        return NULL;
    TRY(buffer_printf(&text,
                      "%zu faults are in code that the guest does not execute without faults, and "
                      "were left out ('blocks: all' takes them in)",
                      self->not_executed));
    const struct store_remark remark = {.kind = REMARK_NOTE, .text = text.data};
    return add_remark(add_data, &remark);
}

static struct error *describe_stored(const struct store_injection *row, struct buffer *text)
{
    TRY(buffer_printf(text, "%s, reached %llu time%s", row->fault != NULL ? row->fault : "?",
                      (unsigned long long)row->occurrence, row->occurrence == 1 ? "" : "s"));
    if (row->symbol != NULL)
        TRY(buffer_printf(text, ", in %s", row->symbol));
    return row->file != NULL ? buffer_printf(text, " at %s:%u", row->file, row->line) : NULL;
}

static const struct injector_stored stored = {.describe = describe_stored};

const struct injector injector_guest = {
    .name = "guest",
    .summary = "enables software faults in the kernel of a system in QEMU",
    .parameters = parameters,
    .open = open_guests,
    .close = close_guests,
    .prepare = prepare,
    .observe = observe,
    .candidates = candidates,
    .remarks = remarks,
    .stored = &stored,
};
