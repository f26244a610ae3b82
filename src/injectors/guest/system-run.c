// SPDX-License-Identifier: GPL-3.0-or-later
// The command, its options, and its report.
#include "injectors/guest/system-run.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/frame-text.h"
#include "base/remove.h"
#include "base/stale.h"
#include "trial/region-file.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REPORT_LIMIT (1u << 20)
#define SNAPSHOTS    "ordeal-snapshots-"

void shared_file_close(struct shared_file *file)
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

struct error *shared_file_make(struct shared_file *file)
{
    unsigned place = 0;
    if (file->path != NULL)
        return ftruncate(file->file, 0) == 0 && lseek(file->file, 0, SEEK_SET) == 0
                   ? NULL
                   : error_from_errno(errno, "cannot empty %s", file->path);
    return region_file_make_shared(false, &place, &file->file, &file->path, &file->directory);
}

// The folder in "ordeal guest SYSTEM", and the place of "guest" in it.
static struct error *find_system(struct system_run *self, const char *name, const char **ret_folder)
{
    const struct words *command = self->setup.command;
    if (command->count < 3 || strcmp(file_base_name(command->items[0]), "ordeal") != 0 ||
        strcmp(command->items[1], "guest") != 0)
        return error_new("the injector '%s' needs the command 'ordeal guest SYSTEM'", name);
    if (command->items[2][0] == '-')
        return error_new("the injector '%s' needs the command 'ordeal guest SYSTEM' without "
                         "options: it adds its own",
                         name);
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

struct error *system_run_open(struct system_run *self, const struct injector_setup *setup,
                              const char *name)
{
    const char *folder = NULL,
               *accelerator = parameters_value(setup->parameters, "accelerator", "auto");
    _cleanup_free_ char *full = NULL;
    self->setup = *setup;
    TRY(find_system(self, name, &folder));
    if (folder[0] != '/' && asprintf(&full, "%s/%s", self->setup.directory, folder) < 0) {
        full = NULL;
        return error_no_memory();
    }
    TRY(guest_system_read(full != NULL ? full : folder, &self->system));
    self->accelerator = strcmp(accelerator, "kvm") == 0   ? GUEST_KVM
                        : strcmp(accelerator, "tcg") == 0 ? GUEST_TCG
                                                          : GUEST_AUTO;
    TRY(guest_choose_accelerator(&self->accelerator));
    return find_self(&self->ordeal);
}

// ---- Snapshots ----

// Kept as long as this instance, which is the controller's: only its runs have no fault.
static struct error *make_snapshots(struct system_run *self)
{
    const char *place = getenv("TMPDIR");
    if (self->snapshots != NULL ||
        strcmp(parameters_value(self->setup.parameters, "snapshots", "yes"), "no") == 0)
        return NULL;
    if (place == NULL || *place != '/')
        place = "/tmp";
    stale_each(place, SNAPSHOTS, false, remove_stale);
    _cleanup_free_ char *path = NULL;
    if (asprintf(&path, "%s/" SNAPSHOTS "%s-XXXXXX", place, stale_owner()) < 0) {
        path = NULL;
        return error_no_memory();
    }
    if (mkdtemp(path) == NULL)
        return error_from_errno(errno, "cannot make a directory in %s", place);
    self->snapshots = TAKE(path);
    return NULL;
}

static void remove_snapshots(struct system_run *self)
{
    if (self->has_joined)
        return;
    if (self->snapshots != NULL)
        error_free(remove_tree(self->snapshots));
    free(self->snapshots);
}

void system_run_join(struct system_run *self, const struct system_run *leader)
{
    self->snapshots = leader->snapshots;
    self->has_joined = true;
}

struct error *system_run_add_snapshot(struct system_run *self)
{
    if (self->snapshots == NULL)
        return NULL;
    self->visible[2] = self->snapshots;
    TRY(system_run_add(self, "--snapshot"));
    return system_run_add(self, self->snapshots);
}

void system_run_close(struct system_run *self)
{
    remove_snapshots(self);
    shared_file_close(&self->report);
    shared_file_close(&self->other);
    guest_system_deinit(&self->system);
    words_deinit(&self->command);
    free(self->ordeal);
}

// ---- Before a run ----

struct error *system_run_add(struct system_run *self, const char *word)
{
    return words_add(&self->command, word, strlen(word));
}

struct error *system_run_begin(struct system_run *self, const struct shot *shot)
{
    const char *const words[] = {self->ordeal,    "guest",
                                 "--quiet", // what it says is no output of the target
                                 "--accelerator", self->accelerator == GUEST_KVM ? "kvm" : "tcg",
                                 "--output"};
    self->is_reference = shot->spec == NULL;
    self->visible[2] = NULL;
    if (self->is_reference)
        TRY(make_snapshots(self));
    TRY(shared_file_make(&self->report));
    TRY(shared_file_make(&self->other));
    words_clear(&self->command);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        TRY(system_run_add(self, words[i]));
    return system_run_add(self, self->report.path);
}

struct error *system_run_end(struct system_run *self, struct shot *shot)
{
    for (char *const *word = shot->command + self->verb + 1; *word != NULL; word++)
        TRY(system_run_add(self, *word));
    self->visible[0] = self->report.path;
    self->visible[1] = self->other.path;
    shot->visible = self->visible;
    shot->use_command = self->command.items;
    return NULL;
}

// ---- After it ----

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
    if (report->rule != NULL)
        TRY(buffer_printf(text, " (%s)", report->rule));
    if (report->activations != 0)
        TRY(buffer_printf(text, "; the fault was first activated during %s",
                          guest_phase_names[report->activated_in]));
    return report->snapshot ? buffer_printf(text, "; the run began with a snapshot") : NULL;
}

// The kernel's frames, "name+0x12/0x40", as all others are written: "name (vmlinux)".
static struct error *put_stack(const struct system_run *self, const char *frames,
                               struct buffer *text)
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

static struct error *take_report(const struct system_run *self, const struct guest_report *report,
                                 struct observation *observation)
{
    _cleanup_(buffer_deinit) struct buffer reason = {0}, stack = {0};
    observation->system = system_of(report);
    observation->activations = report->activations;
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

struct error *system_run_observe(const struct system_run *self, struct guest_report *ret_report,
                                 struct observation *observation)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    *ret_report = (struct guest_report){0};
    TRY(buffer_read_regular(self->report.path, REPORT_LIMIT, &text));
    if (text.size == 0) { // it could not begin; what it said is kept
        observation->system = SYSTEM_NOT_RUN;
        observation->system_reason = strdup("'ordeal guest' left no report");
        return observation->system_reason != NULL ? NULL : error_no_memory();
    }
    TRY(guest_report_read(text.data, text.size, ret_report));
    return take_report(self, ret_report, observation);
}
