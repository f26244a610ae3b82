// SPDX-License-Identifier: GPL-3.0-or-later
// The injector `mce`: a processor of a guest reports machine-check errors.
#include "base/choice.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "guest/machine-check.h"
#include "injectors/guest/system-run.h"
#include "mce/file.h"
#include "mce/load.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct injector_parameter parameters[] = {
    {"faultload", "NAME|FILE",
     "each error of a fault load of 'ordeal mce list', or of a file in its format (all)", false,
     false},
    {"units", "UNIT...", "errors of these units only", false, true},
    {"categories", "CATEGORY...", "errors of these categories only", false, true},
    {"processor", "N", "the processor that has the error (0)", false, false},
    {"bank", "N", "its bank of registers (1)", false, false},
    {"address", "ADDRESS", "where memory failed (the middle of the guest's)", false, false},
    {"broadcast", "yes|no", "all processors are interrupted, or only that one (yes)", false, false},
    {"after", "SECONDS", "so long after the beginning of the workload (1)", false, false},
    {"snapshots", "yes|no",
     "whether trials may begin with the system as it is after the pretest, instead of booting "
     "(yes)",
     false, false},
    {"accelerator", "auto|kvm|tcg", "what QEMU runs the guest with (auto)", false, false},
    {0},
};

struct checks {
    struct system_run run;
    struct mce_errors errors; // that are candidates
    const char *after;
    struct mce_errors shot; // this shot's
};

// ---- The instance ----

static struct error *take_number(const struct parameters *given, const char *name, uint64_t most,
                                 uint64_t otherwise, uint64_t *ret_number)
{
    const struct parameter *parameter = parameters_find(given, name);
    *ret_number = otherwise;
    if (parameter == NULL)
        return NULL;
    const char *text = parameter->values.items[0];
    char *end;
    errno = 0;
    *ret_number = strtoull(text, &end, 0);
    if (!isdigit((unsigned char)*text) || *end != '\0' || errno != 0 || *ret_number > most)
        return parameters_error(parameter, "'%s' takes a number up to %#llx", name,
                                (unsigned long long)most);
    return NULL;
}

static struct error *take_names(const struct parameters *given, const char *parameter,
                                const char *const *names, size_t count, bool *ret_set)
{
    const struct parameter *found = parameters_find(given, parameter);
    for (size_t i = 0; found != NULL && i < found->values.count; i++) {
        const char *word = found->values.items[i];
        if (!mce_mark_name(names, count, word, ret_set))
            return parameters_error(found, "'%s' does not know '%s'; 'ordeal mce --help' does",
                                    parameter, word);
    }
    return NULL;
}

static struct error *check_after(struct checks *self)
{
    const struct parameter *parameter = parameters_find(self->run.setup.parameters, "after");
    char *end;
    self->after = parameter != NULL ? parameter->values.items[0] : "1";
    double seconds = strtod(self->after, &end);
    return end != self->after && *end == '\0' && seconds >= 1e-3 && seconds <= 1e5
               ? NULL
               : parameters_error(parameter, "'after' takes a number of seconds such as 0.5");
}

static struct error *read_file(struct checks *self, const char *name)
{
    _cleanup_free_ char *path = NULL;
    _cleanup_(buffer_deinit) struct buffer text = {0};
    if (asprintf(&path, "%s%s%s", *name == '/' ? "" : self->run.setup.directory,
                 *name == '/' ? "" : "/", name) < 0) {
        path = NULL;
        return error_no_memory();
    }
    // Each of its errors says itself where it is.
    static const char *const others[] = {"processor", "bank", "address", "broadcast"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const struct parameter *other = parameters_find(self->run.setup.parameters, others[i]);
        if (other != NULL)
            return parameters_error(other, "'%s' is for fault loads by name; a file has its own",
                                    others[i]);
    }
    TRY(buffer_read_regular(path, MCE_FILE_LIMIT, &text));
    return mce_read(name, text.data != NULL ? text.data : "", text.size, &self->errors);
}

static struct error *find_errors(struct checks *self)
{
    const struct parameters *given = self->run.setup.parameters;
    struct mce_wanted wanted = {.load = parameters_value(given, "faultload", "all"),
                                .misc = MCE_PAGE,
                                .seed = self->run.setup.seed};
    uint64_t processor, bank;
    TRY(take_number(given, "processor", 65535, 0, &processor));
    TRY(take_number(given, "bank", 255, 1, &bank));
    TRY(take_number(given, "address", UINT64_MAX, self->run.system.memory << 19, &wanted.address));
    TRY(take_names(given, "units", mce_unit_names, MCE_UNKNOWN, wanted.units));
    TRY(take_names(given, "categories", mce_category_names, MCE_CATEGORIES, wanted.categories));
    wanted.processor = (unsigned)processor;
    wanted.bank = (unsigned)bank;
    wanted.alone = strcmp(parameters_value(given, "broadcast", "yes"), "no") == 0;
    if (choice_find(MCE_LOADS, wanted.load, strlen(wanted.load)) >= 0)
        return mce_generate(&wanted, &self->errors);
    TRY(read_file(self, wanted.load));
    mce_keep(&self->errors, &wanted);
    return NULL;
}

static void close_checks(void *data)
{
    struct checks *self = data;
    if (self == NULL)
        return;
    system_run_close(&self->run);
    mce_errors_deinit(&self->errors);
    mce_errors_deinit(&self->shot);
    free(self);
}

static struct error *fill(struct checks *self, const struct injector_setup *setup)
{
    TRY(system_run_open(&self->run, setup, "mce"));
    TRY(check_after(self));
    TRY(find_errors(self));
    for (size_t i = 0; i < self->errors.list.count; i++)
        TRY(guest_check_error(&self->run.system, &self->errors.list.items[i]));
    return NULL;
}

static struct error *open_checks(const struct injector_setup *setup, void **ret_self)
{
    struct checks *self = calloc(1, sizeof *self);
    if (self == NULL)
        return error_no_memory();
    return injector_opened(fill(self, setup), self, close_checks, ret_self);
}

// ---- Specs: the words of a file, on one line ----

static struct error *put_spec(const struct mce_error *error, struct buffer *text)
{
    _cleanup_(buffer_deinit) struct buffer lines = {0};
    TRY(mce_write(error, &lines));
    for (const char *at = lines.data; *at != '\0';) {
        size_t line = strcspn(at, "\n"), words = strcspn(at, "#\n");
        while (words != 0 && at[words - 1] == ' ')
            words--;
        if (words != 0)
            TRY(buffer_printf(text, "%s%.*s", text->size != 0 ? " " : "", (int)words, at));
        at += line + (at[line] != '\0');
    }
    return NULL;
}

static struct error *take_spec(struct checks *self, const char *spec)
{
    mce_errors_deinit(&self->shot);
    TRY(mce_read("spec", spec, strlen(spec), &self->shot));
    return self->shot.list.count != 0 ? NULL : error_new("there is no error in '%s'", spec);
}

// ---- A run ----

static struct error *prepare(void *data, struct shot *shot)
{
    struct checks *self = data;
    struct system_run *run = &self->run;
    if (shot->spec != NULL)
        TRY(take_spec(self, shot->spec));
    TRY(system_run_begin(run, shot));
    if (shot->spec != NULL) {
        struct buffer text = {.data = (char *)shot->spec, .size = strlen(shot->spec)};
        TRY(file_write(run->other.file, run->other.path, &text));
        TRY(system_run_add(run, "--mce-after"));
        TRY(system_run_add(run, self->after));
        TRY(system_run_add(run, "--mce"));
        TRY(system_run_add(run, run->other.path));
        TRY(system_run_add_snapshot(run));
    }
    return system_run_end(run, shot);
}

static struct error *add_injection(const struct checks *self, const struct guest_report *report,
                                   struct observation *observation)
{
    const struct mce_error *error = &self->shot.list.items[0];
    struct injection *injection = ARRAY_ADD(&observation->injections);
    if (injection == NULL)
        return error_no_memory();
    injection->fault = strdup(mce_category_names[mce_category(error->status, true)]);
    injection->occurrence = report->activations;
    injection->process = 1;
    injection->seconds = (double)report->activated_ns / 1e9;
    injection->program = strdup(self->run.system.name);
    return injection->fault != NULL && injection->program != NULL ? NULL : error_no_memory();
}

static struct error *observe(void *data, const char *root, struct observation *observation)
{
    struct checks *self = data;
    _cleanup_(guest_report_deinit) struct guest_report report = {0};
    TRY(system_run_observe(&self->run, &report, observation));
    if (report.activations == 0 || self->run.is_reference)
        return NULL;
    // Panics for one reason are one finding.
    const char *cause = report.rule != NULL ? report.rule : report.reason;
    if (report.crash == GUEST_PANIC && cause != NULL &&
        (observation->system_cause = strdup(cause)) == NULL)
        return error_no_memory();
    return add_injection(self, &report, observation);
}

// ---- Candidates ----

static struct error *fill_candidate(const struct checks *self, const struct mce_error *error,
                                    struct candidate *candidate)
{
    _cleanup_(buffer_deinit) struct buffer spec = {0};
    TRY(put_spec(error, &spec));
    candidate->weight = 1;
    candidate->spec = TAKE(spec.data);
    candidate->type = strdup(mce_category_names[mce_category(error->status, true)]);
    candidate->function = strdup(mce_unit_names[mce_code_unit((uint16_t)error->status)]);
    candidate->module = strdup(self->run.system.kernel);
    return candidate->type != NULL && candidate->function != NULL && candidate->module != NULL
               ? NULL
               : error_no_memory();
}

static struct error *candidates(void *data, candidate_add *add_candidate, void *add_data)
{
    struct checks *self = data;
    for (size_t i = 0; i < self->errors.list.count; i++) {
        struct candidate candidate = {0};
        struct error *error = fill_candidate(self, &self->errors.list.items[i], &candidate);
        if (error == NULL)
            error = add_candidate(add_data, &candidate);
        candidate_deinit(&candidate);
        if (error != NULL)
            return error;
    }
    return NULL;
}

static struct error *describe_stored(const struct store_injection *row, struct buffer *text)
{
    return buffer_printf(text, "machine-check error, %s", row->fault != NULL ? row->fault : "?");
}

static struct error *describe(void *data, const char *fault, const struct injection *injection,
                              struct buffer *text)
{
    return buffer_printf(text, "a processor reports a machine-check error (%s)", fault);
}

static const struct injector_stored stored = {.describe = describe_stored};

static void join(void *data, const void *leader)
{
    struct checks *self = data;
    system_run_join(&self->run, &((const struct checks *)leader)->run);
}

static const struct injector_learning learning = {.join = join};

const struct injector injector_mce = {
    .name = "mce",
    .summary = "makes a processor of a system in QEMU report hardware errors",
    .parameters = parameters,
    .open = open_checks,
    .close = close_checks,
    .prepare = prepare,
    .observe = observe,
    .candidates = candidates,
    .describe = describe,
    .learning = &learning,
    .stored = &stored,
};
