// SPDX-License-Identifier: GPL-3.0-or-later
// The injector `guest`: enables software faults in the kernel of a guest.
#include "base/cleanup.h"
#include "base/file.h"
#include "guest/kernel.h"
#include "injectors/guest/system-run.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LIST_LIMIT (64u << 20)

static const struct injector_parameter parameters[] = {
    {"types", "GLOB...", "faults of these types only", false, true},
    {"functions", "GLOB...", "in these functions only", false, true},
    {"files", "GLOB...", "in these source files only", false, true},
    {"blocks", "executed|all",
     "only in code that the guest executes without faults, or in all (executed)", false, false},
    {"snapshots", "yes|no",
     "whether trials may begin with the system as it is after the pretest, instead of booting "
     "(yes)",
     false, false},
    {"accelerator", "auto|kvm|tcg", "what QEMU runs the guest with (auto)", false, false},
    {0},
};

struct guests {
    struct system_run run;
    struct ir_program kernel;
    bool profiled;                        // `executed` of the kernel is known
    bool has_kernel;                      // it is open
    size_t not_executed, booting, others; // candidates
    bool *boots;                          // by candidate: its code is executed before the workload
    // This shot's.
    bool profiles;
    size_t candidate;
};

// ---- The instance ----

static void close_guests(void *data)
{
    struct guests *self = data;
    if (self == NULL)
        return;
    if (!self->run.has_joined)
        free(self->boots);
    system_run_close(&self->run);
    if (self->has_kernel)
        ir_program_deinit(&self->kernel);
    free(self);
}

static struct error *fill(struct guests *self, const struct injector_setup *setup)
{
    TRY(system_run_open(&self->run, setup, "guest"));
    TRY(ir_program_open(self->run.system.kernel, &self->kernel));
    self->has_kernel = true;
    return NULL;
}

static struct error *open_guests(const struct injector_setup *setup, void **ret_self)
{
    struct guests *self = calloc(1, sizeof *self);
    if (self == NULL)
        return error_no_memory();
    return injector_opened(fill(self, setup), self, close_guests, ret_self);
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
                         self->run.system.kernel);
    *ret_number = number - 1;
    return NULL;
}

// ---- Before a run ----

// The list of faults in executed code is the run's other file.
static struct error *add_options(struct guests *self)
{
    char number[24];
    if (self->profiles) {
        TRY(system_run_add(&self->run, "--executed"));
        return system_run_add(&self->run, self->run.other.path);
    }
    if (self->run.is_reference)
        return NULL;
    snprintf(number, sizeof number, "%zu", self->candidate + 1);
    TRY(system_run_add(&self->run, "--inject"));
    TRY(system_run_add(&self->run, number));
    return self->boots != NULL && !self->boots[self->candidate]
               ? system_run_add_snapshot(&self->run)
               : NULL;
}

static struct error *prepare(void *data, struct shot *shot)
{
    struct guests *self = data;
    self->profiles = shot->spec == NULL && !self->profiled;
    if (shot->spec != NULL)
        TRY(find_spec(self, shot->spec, &self->candidate));
    TRY(system_run_begin(&self->run, shot));
    TRY(add_options(self));
    return system_run_end(&self->run, shot);
}

// ---- After a run ----

// The phase in a line of `ordeal guest --executed`.
static bool is_before_workload(const char *text, size_t size)
{
    for (int i = GUEST_BOOT; i < GUEST_WORKLOAD; i++)
        if (size == strlen(guest_phase_names[i]) + 1 &&
            memcmp(text + 1, guest_phase_names[i], size - 1) == 0)
            return true;
    return false;
}

static struct error *take_profile(struct guests *self)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    if (self->boots == NULL)
        self->boots = calloc(self->kernel.image.candidates.count + 1, sizeof *self->boots);
    if (self->boots == NULL)
        return error_no_memory();
    TRY(buffer_read_regular(self->run.other.path, LIST_LIMIT, &text));
    for (const char *at = text.data; at != NULL && *at != '\0';) {
        char *end;
        unsigned long long number = strtoull(at, &end, 10);
        if (end == at)
            break;
        size_t line = strcspn(end, "\n");
        if (number != 0 && number <= self->kernel.image.candidates.count) {
            self->kernel.executed[number - 1] = true;
            self->boots[number - 1] = is_before_workload(end, line);
        }
        at = end + line + (end[line] != '\0');
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
    injection->module = strdup(self->run.system.kernel);
    injection->file = strdup(candidate->file);
    injection->program = strdup(self->run.system.name);
    return injection->fault != NULL && injection->symbol != NULL && injection->module != NULL &&
                   injection->file != NULL && injection->program != NULL
               ? NULL
               : error_no_memory();
}

static struct error *observe(void *data, const char *root, struct observation *observation)
{
    struct guests *self = data;
    _cleanup_(guest_report_deinit) struct guest_report report = {0};
    TRY(system_run_observe(&self->run, &report, observation));
    if (report.activations != 0 && !self->run.is_reference)
        TRY(add_injection(self, &report, observation));
    return self->profiles && observation->system != SYSTEM_NOT_RUN ? take_profile(self) : NULL;
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
    const struct parameters *given = self->run.setup.parameters;
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
    candidate->module = strdup(self->run.system.kernel);
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
    bool all =
        strcmp(parameters_value(self->run.setup.parameters, "blocks", "executed"), "all") == 0;
    self->not_executed = self->booting = self->others = 0;
    for (size_t i = 0; i < self->kernel.image.candidates.count; i++) {
        struct candidate candidate = {0};
        if (!is_wanted(self, i))
            continue;
        if (!all && !self->kernel.executed[i]) {
            self->not_executed++;
            continue;
        }
        (*(self->boots != NULL && self->boots[i] ? &self->booting : &self->others))++;
        struct error *error = fill_candidate(self, i, &candidate);
        if (error == NULL)
            error = add_candidate(add_data, &candidate);
        candidate_deinit(&candidate);
        if (error != NULL)
            return error;
    }
    return NULL;
}

static struct error *add_note(remark_add *add_remark, void *add_data, const struct buffer *text)
{
    const struct store_remark remark = {.kind = REMARK_NOTE, .text = text->data};
    return add_remark(add_data, &remark);
}

static struct error *remarks(void *data, remark_add *add_remark, void *add_data)
{
    const struct guests *self = data;
    _cleanup_(buffer_deinit) struct buffer left_out = {0}, snapshots = {0};
    if (self->not_executed != 0) {
        TRY(buffer_printf(&left_out,
                          "%zu faults are in code that the guest does not execute without faults, "
                          "and were left out ('blocks: all' takes them in)",
                          self->not_executed));
        TRY(add_note(add_remark, add_data, &left_out));
    }
    if (self->run.snapshots == NULL || self->boots == NULL)
        return NULL;
    TRY(buffer_printf(
        &snapshots,
        "trials of %zu faults begin with the system as it is after the pretest; those "
        "of the %zu in code that is executed before boot it",
        self->others, self->booting));
    return add_note(add_remark, add_data, &snapshots);
}

static void join(void *data, const void *leader)
{
    struct guests *self = data;
    const struct guests *first = leader;
    system_run_join(&self->run, &first->run);
    self->boots = first->boots;
}

static const struct injector_learning learning = {.join = join};

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
    .learning = &learning,
    .stored = &stored,
};
