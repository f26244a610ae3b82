// SPDX-License-Identifier: GPL-3.0-or-later
// ordeal guest: runs a whole system in QEMU once, with a software fault in its kernel or without,
// and says whether it stayed stable.
#include "cli/registry.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "guest/kernel.h"
#include "mce/file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define STATUS_CRASHED 1
#define STATUS_INVALID 3

struct settings {
    const char *inject, *accelerator, *output, *executed, *machine_checks, *clear, *snapshot;
    const char *severity;
    uint64_t after_ns, every_ns;
    bool json, quiet;
};

#define FIELD(name) offsetof(struct settings, name)
static const struct option options[] = {
    {"inject", 'i', OPTION_TEXT, "FAULT",
     "enable this fault of the kernel: its number, or TYPE@PLACE, as 'ordeal faults' lists them",
     FIELD(inject)},
    {"accelerator", 0, OPTION_TEXT, "NAME",
     "kvm, tcg (emulation), or auto: kvm where it really boots a guest", FIELD(accelerator)},
    {"executed", 0, OPTION_FILE, "FILE",
     "write the numbers of the kernel's faults in code that this run executes to this file, each "
     "with the phase in which that is first",
     FIELD(executed)},
    {"snapshot", 0, OPTION_FILE, "FOLDER",
     "begin with the system as it was after the pretest, which this folder keeps; the first run "
     "boots it and fills the folder",
     FIELD(snapshot)},
    {"mce", 0, OPTION_FILE, "FILE",
     "machine-check errors that the guest gets during the workload, all at once, in the format of "
     "'ordeal mce list'",
     FIELD(machine_checks)},
    {"mce-after", 0, OPTION_SECONDS, "TIME",
     "how long after the beginning of the workload; 1s if it is not given", FIELD(after_ns)},
    {"mce-every", 0, OPTION_SECONDS, "TIME",
     "the errors come one after the other, so long apart, instead of all at once", FIELD(every_ns)},
    {"mce-severity", 0, OPTION_TEXT, "ADDRESS",
     "where a Linux guest has its function mce_severity: the report says how severe it took each "
     "error to be",
     FIELD(severity)},
    {"mce-clear", 0, OPTION_TEXT, "ADDRESS:BITS",
     "just before, clear these bits of the byte at this physical address, as if the kernel had "
     "found a processor without something",
     FIELD(clear)},
    {"output", 'o', OPTION_FILE, "FILE", "also write the report to this file, as JSON",
     FIELD(output)},
    {"json", 0, OPTION_FLAG, NULL, "print the report as JSON", FIELD(json)},
    {"quiet", 'q', OPTION_FLAG, NULL, "print no report", FIELD(quiet)},
};

// ---- What is run ----

struct prepared {
    struct ir_program program;
    char *kernel, *trace; // temporary files, or NULL
    uint64_t places[GUEST_MOST_PLACES];
    size_t place_count, candidate;
    struct guest_patches patches;
    struct mce_errors machine_checks;
    uint64_t clear_physical, severity_function;
    unsigned char clear_bits;
};

static void prepared_deinit(struct prepared *prepared)
{
    if (prepared->kernel != NULL)
        unlink(prepared->kernel);
    if (prepared->trace != NULL)
        unlink(prepared->trace);
    free(prepared->kernel);
    free(prepared->trace);
    guest_patches_deinit(&prepared->patches);
    ir_program_deinit(&prepared->program);
    mce_errors_deinit(&prepared->machine_checks);
}

static struct error *make_file(char **ret_path)
{
    const char *place = getenv("TMPDIR");
    char *path = NULL;
    if (asprintf(&path, "%s/ordeal-kernel-XXXXXX",
                 place != NULL && *place == '/' ? place : "/tmp") < 0)
        return error_no_memory();
    int file = mkostemp(path, O_CLOEXEC);
    if (file < 0) {
        struct error *error = error_from_errno(errno, "cannot make %s", path);
        free(path);
        return error;
    }
    close(file);
    *ret_path = path;
    return NULL;
}

static struct error *read_machine_checks(const char *path, struct mce_errors *ret_errors)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(buffer_read_file(path, MCE_FILE_LIMIT, &text));
    TRY(mce_read(path, text.data != NULL ? text.data : "", text.size, ret_errors));
    return ret_errors->list.count != 0 ? NULL : error_new("%s: there is no error in it", path);
}

static struct error *read_clear(const char *text, struct prepared *prepared)
{
    char *end, *last;
    unsigned long long address = strtoull(text, &end, 0);
    unsigned long bits = *end == ':' ? strtoul(end + 1, &last, 0) : 0;
    if (end == text || *end != ':' || *last != '\0' || bits == 0 || bits > 255)
        return error_new("--mce-clear takes an address and bits of a byte, such as "
                         "0x2a3f0c0:0x04, not '%s'",
                         text);
    prepared->clear_physical = address;
    prepared->clear_bits = (unsigned char)bits;
    return NULL;
}

static struct error *read_address(const char *text, uint64_t *ret_address)
{
    char *end;
    errno = 0;
    *ret_address = strtoull(text, &end, 0);
    return isdigit((unsigned char)*text) && *end == '\0' && errno == 0 && *ret_address != 0
               ? NULL
               : error_new("--mce-severity takes an address such as 0xffffffff81042a10, not '%s'",
                           text);
}

static struct error *prepare(const struct settings *settings, const struct guest_system *system,
                             struct prepared *prepared)
{
    if (settings->machine_checks != NULL && settings->inject != NULL)
        return error_new("either --inject or --mce: a run has one kind of fault");
    if ((settings->after_ns != 0 || settings->every_ns != 0 || settings->clear != NULL ||
         settings->severity != NULL) &&
        settings->machine_checks == NULL)
        return error_new("--mce-after, --mce-every, --mce-severity and --mce-clear are about "
                         "errors of --mce");
    if (settings->severity != NULL)
        TRY(read_address(settings->severity, &prepared->severity_function));
    if (settings->clear != NULL)
        TRY(read_clear(settings->clear, prepared));
    if (settings->machine_checks != NULL)
        TRY(read_machine_checks(settings->machine_checks, &prepared->machine_checks));
    if (settings->inject == NULL && settings->executed == NULL)
        return NULL;
    if (settings->inject != NULL && settings->executed != NULL)
        return error_new("--executed is about a run without a fault");
    if (settings->executed != NULL && settings->snapshot != NULL)
        return error_new("--executed is about a run that boots, not about one from a snapshot");
    TRY(ir_program_open(system->kernel, &prepared->program));
    if (settings->snapshot != NULL) { // the kernel's own file is booted
        TRY(image_find(&prepared->program.image, settings->inject, &prepared->candidate));
        return guest_kernel_find_patches(&prepared->program.image, prepared->candidate,
                                         prepared->places, &prepared->place_count,
                                         &prepared->patches);
    }
    TRY(make_file(&prepared->kernel));
    if (settings->executed != NULL) {
        TRY(make_file(&prepared->trace));
        return guest_kernel_write_twins(&prepared->program.image, prepared->kernel);
    }
    TRY(image_find(&prepared->program.image, settings->inject, &prepared->candidate));
    return guest_kernel_write_faulty(&prepared->program.image, prepared->candidate,
                                     prepared->kernel, prepared->places, &prepared->place_count);
}

static struct error *choose(const char *name, enum guest_accelerator *ret_accelerator)
{
    static const char *const names[] = {"auto", "kvm", "tcg"};
    *ret_accelerator = GUEST_AUTO;
    if (name == NULL)
        return NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) {
            *ret_accelerator = (enum guest_accelerator)i;
            return NULL;
        }
    return error_new("--accelerator takes kvm, tcg or auto, not '%s'", name);
}

static struct error *write_executed(const char *path, const struct guest_report *report,
                                    struct prepared *prepared)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    size_t count = prepared->program.image.candidates.count;
    _cleanup_free_ enum guest_phase *phases = calloc(count + 1, sizeof *phases);
    if (phases == NULL)
        return error_no_memory();
    TRY(guest_kernel_take_trace(&prepared->program, prepared->trace, report, phases));
    for (size_t i = 0; i < count; i++)
        if (prepared->program.executed[i])
            TRY(buffer_printf(&text, "%zu\t%s\n", i + 1, guest_phase_names[phases[i]]));
    _cleanup_(output_close) struct output output;
    TRY(output_open(path, STDOUT_FILENO, &output));
    return output_put(&output, &text);
}

// ---- What is said ----

static struct error *put_phases(const struct guest_report *report, struct buffer *text)
{
    int first = report->snapshot ? GUEST_WORKLOAD : GUEST_BOOT;
    for (int i = first; i <= (int)report->phase; i++)
        TRY(buffer_printf(text, "%s%s %.2f s", i != first ? ", " : "", guest_phase_names[i],
                          clock_seconds(report->phase_ns[i])));
    if (report->snapshot)
        TRY(buffer_printf(text, ", from a snapshot"));
    return buffer_printf(text, " (%s)\n", report->accelerator);
}

static struct error *put_end(const struct guest_system *system, const struct guest_report *report,
                             struct buffer *text)
{
    const char *phase = guest_phase_names[report->phase];
    const char *reason = report->reason != NULL ? report->reason : "no reason is known";
    switch (report->end) {
    case GUEST_STABLE:
        return buffer_printf(text, "%s: stable; the workload ended with exit status %d\n",
                             system->name, report->status);
    case GUEST_NOT_RUN:
        return buffer_printf(text, "%s: could not be run: %s\n", system->name, reason);
    case GUEST_PRETEST_FAILED:
        return buffer_printf(text, "%s: not valid, %s during %s: %s\n", system->name,
                             report->crash == GUEST_BROKEN ? "the test failed" : "it crashed",
                             phase, reason);
    default:
        return buffer_printf(text, "%s: crashed during %s (%s): %s\n", system->name, phase,
                             guest_crash_names[report->crash], reason);
    }
}

static struct error *put_fault(const struct prepared *prepared, const struct guest_report *report,
                               struct buffer *text)
{
    const struct image_candidate *candidate =
        &prepared->program.image.candidates.items[prepared->candidate];
    TRY(buffer_printf(text, "  fault    %s at %s:%u in %s\n", candidate->type, candidate->file,
                      candidate->line,
                      prepared->program.image.functions.items[candidate->function].name));
    if (report->activations == 0)
        return buffer_printf(text, "  activated  never\n");
    return buffer_printf(
        text, "  activated  %s%llu times, first during %s, %.2f s after the start\n",
        report->more ? "at least " : "", (unsigned long long)report->activations,
        guest_phase_names[report->activated_in], clock_seconds(report->activated_ns));
}

static struct error *put_grade(const struct guest_grade *grade, struct buffer *text)
{
    bool is_level = grade->severity >= 0 && grade->severity < MCE_SEVERITIES;
    TRY(buffer_printf(text, "  severity %d (%s) of %#llx in bank %u, in the %s", grade->severity,
                      is_level ? mce_severity_names[grade->severity] : "no level",
                      (unsigned long long)grade->status, grade->bank,
                      grade->in_user ? "program" : "kernel"));
    if (grade->severity != (int)grade->wanted)
        TRY(buffer_printf(text, "; by its rules %s", mce_severity_names[grade->wanted]));
    return buffer_printf(text, "\n");
}

static struct error *put_machine_checks(const struct guest_report *report, struct buffer *text)
{
    if (report->activations == 0)
        return buffer_printf(text, "  injected nothing: the workload had ended before\n");
    TRY(buffer_printf(text, "  injected %llu machine-check error%s, %.2f s after the start\n",
                      (unsigned long long)report->activations, report->activations == 1 ? "" : "s",
                      clock_seconds(report->activated_ns)));
    for (size_t i = 0; i < report->grade_count; i++)
        TRY(put_grade(&report->grades[i], text));
    TRY(buffer_printf(text, "  action   %s", guest_action_names[report->action]));
    return report->rule != NULL ? buffer_printf(text, ", because of: %s\n", report->rule)
                                : buffer_printf(text, "\n");
}

static struct error *put_lines(const char *title, const char *lines, struct buffer *text)
{
    if (lines == NULL || *lines == '\0')
        return NULL;
    TRY(buffer_printf(text, "  %s\n", title));
    for (size_t size; *lines != '\0'; lines += size + (lines[size] != '\0')) {
        size = strcspn(lines, "\n");
        TRY(buffer_printf(text, "    %.*s\n", (int)size, lines));
    }
    return NULL;
}

static struct error *put_report(const struct guest_system *system, const struct prepared *prepared,
                                const struct guest_report *report, struct buffer *text)
{
    TRY(put_end(system, report, text));
    TRY(buffer_printf(text, "  phases   "));
    TRY(put_phases(report, text));
    if (prepared->place_count != 0)
        TRY(put_fault(prepared, report, text));
    if (report->machine_checks)
        TRY(put_machine_checks(report, text));
    if (report->end == GUEST_STABLE)
        return NULL;
    TRY(put_lines("the kernel's own report", report->stack, text));
    return put_lines("last lines of the console", report->console, text);
}

static int status_of(const struct guest_report *report)
{
    static const int statuses[] = {[GUEST_NOT_RUN] = EXIT_CANNOT_RUN,
                                   [GUEST_PRETEST_FAILED] = STATUS_INVALID,
                                   [GUEST_CRASHED] = STATUS_CRASHED,
                                   [GUEST_UNFINISHED] = STATUS_CRASHED};
    return report->end == GUEST_STABLE ? report->status : statuses[report->end];
}

struct guest_run_data {
    const struct settings *settings;
    struct prepared *prepared;
};

static struct error *snapshot_kernel(void *data, const char **ret_path)
{
    struct prepared *prepared = ((struct guest_run_data *)data)->prepared;
    TRY(make_file(&prepared->kernel));
    *ret_path = prepared->kernel;
    return guest_kernel_write_twins(&prepared->program.image, prepared->kernel);
}

// What is known so far, in case this process is killed. What cannot be written now is tried again.
static void write_progress(void *data, const struct guest_report *report)
{
    const struct settings *settings = ((struct guest_run_data *)data)->settings;
    _cleanup_(buffer_deinit) struct buffer json = {0};
    _cleanup_(output_close) struct output output = {.opened = -1};
    if (settings->output == NULL)
        return;
    struct error *error = output_open(settings->output, STDOUT_FILENO, &output);
    if (error == NULL)
        error = guest_report_write(report, &json);
    if (error == NULL)
        error = output_put(&output, &json);
    error_free(error);
}

static struct error *conclude(const struct settings *settings, const struct guest_system *system,
                              const struct prepared *prepared, const struct guest_report *report)
{
    _cleanup_(buffer_deinit) struct buffer json = {0}, text = {0};
    TRY(guest_report_write(report, &json));
    if (settings->output != NULL) {
        _cleanup_(output_close) struct output output;
        TRY(output_open(settings->output, STDOUT_FILENO, &output));
        TRY(output_put(&output, &json));
    }
    if (settings->quiet)
        return NULL;
    TRY(put_report(system, prepared, report, &text));
    return file_write(STDERR_FILENO, "standard error", settings->json ? &json : &text);
}

static struct error *run(const void *data, char **operands, int *ret_status)
{
    const struct settings *settings = data;
    _cleanup_(guest_system_deinit) struct guest_system system = {0};
    _cleanup_(prepared_deinit) struct prepared prepared = {0};
    _cleanup_(guest_report_deinit) struct guest_report report = {0};
    enum guest_accelerator accelerator;
    TRY(choose(settings->accelerator, &accelerator));
    TRY(guest_system_read(operands[0], &system));
    TRY(prepare(settings, &system, &prepared));
    struct guest_run_data run_data = {settings, &prepared};
    const struct guest_run_options wanted = {
        .accelerator = accelerator,
        .kernel = prepared.kernel,
        .workload = operands[1] != NULL ? operands + 1 : NULL,
        .trace = prepared.trace,
        .snapshot = settings->snapshot,
        .patches = prepared.patches.items.items,
        .patch_count = prepared.patches.items.count,
        .snapshot_kernel = snapshot_kernel,
        .places = prepared.places,
        .place_count = prepared.place_count,
        .clear_physical = prepared.clear_physical,
        .clear_bits = prepared.clear_bits,
        .machine_checks = settings->machine_checks != NULL ? &prepared.machine_checks : NULL,
        .machine_checks_every_ns = settings->every_ns,
        .severity_function = prepared.severity_function,
        .machine_checks_ns = settings->after_ns != 0 ? settings->after_ns : NS_PER_S,
        .progress = write_progress,
        .data = &run_data,
    };
    TRY(guest_run(&system, &wanted, &report));
    if (settings->executed != NULL)
        TRY(write_executed(settings->executed, &report, &prepared));
    *ret_status = status_of(&report);
    return conclude(settings, &system, &prepared, &report);
}

const struct command cmd_guest = {
    .name = "guest",
    .summary = "Run a whole system in QEMU, with a fault in its kernel, and test whether it lives.",
    .operands = "SYSTEM [WORKLOAD [ARGUMENT]...]",
    .details =
        "SYSTEM is a folder with a file system.yaml, which says how to boot the system and how to\n"
        "talk to it. The run has five phases: boot, pretest, workload, posttest, shutdown. Exit\n"
        "status: the workload's if the system is stable, 1 if it crashed, 3 if the pretest "
        "failed,\n"
        "2 if it could not be run.\n"
        "\n"
        "  ordeal guest systems/linux\n"
        "  ordeal guest -i flip-branch@fs/open.c:1022 systems/linux\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .settings_size = sizeof(struct settings),
    .least = 1,
    .most = UINT32_MAX,
    .passes_options = true,
    .without_mathematics = true,
    .run = run,
};
