// SPDX-License-Identifier: GPL-3.0-or-later
// Makes and uses snapshots, by QEMU's migration: the state of devices goes to a file, memory is a
// file from the beginning, and who begins with it maps that file privately.
#include "guest/snapshot.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/timeouts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define MADE_OF       "made-of" // written last
#define LOCK          "lock"
#define MADE_OF_LIMIT (1u << 20)

// ---- What it was made of ----

static struct error *put_file(const char *what, const char *path, struct buffer *text)
{
    struct stat status;
    if (path == NULL)
        return NULL;
    if (stat(path, &status) != 0)
        return error_from_errno(errno, "cannot read %s", path);
    return buffer_printf(text, "%s %s %lld %lld.%09ld\n", what, path, (long long)status.st_size,
                         (long long)status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

static struct error *put_made_of(const struct guest_system *system, const char *kind,
                                 struct buffer *text)
{
    const char *const texts[] = {kind, system->machine, system->processor, system->append,
                                 system->serial_link ? "serial" : "network"};
    TRY(buffer_printf(text, "memory %" PRIu64 " processors %" PRIu64 " port %" PRIu64 "\n",
                      system->memory, system->processors, system->port));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        TRY(buffer_printf(text, "%s\n", texts[i] != NULL ? texts[i] : ""));
    for (size_t i = 0; i < system->options.count; i++)
        TRY(buffer_printf(text, "option %s\n", system->options.items[i]));
    TRY(put_file("kernel", system->kernel, text));
    TRY(put_file("initrd", system->initrd, text));
    TRY(put_file("disk", system->disk, text));
    return put_file("pretest", system->pretest, text);
}

// ---- The folder ----

static struct error *path_in(const struct guest_snapshot *snapshot, const char *name,
                             char **ret_path)
{
    if (asprintf(ret_path, "%s/%s", snapshot->folder, name) >= 0)
        return NULL;
    *ret_path = NULL;
    return error_no_memory();
}

static struct error *make_folder(const char *folder, const char *kind,
                                 struct guest_snapshot *snapshot)
{
    if (mkdir(folder, 0700) != 0 && errno != EEXIST)
        return error_from_errno(errno, "cannot make %s", folder);
    _cleanup_free_ char *absolute = realpath(folder, NULL);
    if (absolute == NULL)
        return error_from_errno(errno, "cannot open %s", folder);
    if (asprintf(&snapshot->folder, "%s/%s", absolute, kind) < 0) {
        snapshot->folder = NULL;
        return error_no_memory();
    }
    return mkdir(snapshot->folder, 0700) == 0 || errno == EEXIST
               ? NULL
               : error_from_errno(errno, "cannot make %s", snapshot->folder);
}

// Whoever makes the snapshot has the lock.
static struct error *lock(struct guest_snapshot *snapshot, int signals)
{
    _cleanup_free_ char *path = NULL;
    TRY(path_in(snapshot, LOCK, &path));
    _cleanup_close_ int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0)
        return error_from_errno(errno, "cannot open %s", path);
    struct pollfd state = {.fd = signals, .events = POLLIN};
    while (flock(file, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return error_from_errno(errno, "cannot lock %s", path);
        if (poll(&state, 1, clock_poll_ms(GUEST_RETRY_PAUSE_NS)) > 0)
            return error_new("interrupted");
    }
    snapshot->lock = file;
    file = -1;
    return NULL;
}

static void unlock(struct guest_snapshot *snapshot)
{
    if (snapshot->folder != NULL && snapshot->lock >= 0)
        close(snapshot->lock);
    snapshot->lock = -1;
}

static struct error *look(struct guest_snapshot *snapshot)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    _cleanup_free_ char *path = NULL;
    TRY(path_in(snapshot, MADE_OF, &path));
    if (access(path, F_OK) != 0)
        return NULL;
    TRY(buffer_read_regular(path, MADE_OF_LIMIT, &text));
    if (text.size != snapshot->made_of.size ||
        memcmp(text.data, snapshot->made_of.data, text.size) != 0)
        return error_new("the snapshot in %s was made of another system, or of other versions of "
                         "its files; remove it, and it is made anew",
                         snapshot->folder);
    snapshot->made = true;
    unlock(snapshot);
    return NULL;
}

struct error *guest_snapshot_open(const char *folder, const char *kind,
                                  const struct guest_system *system, int signals,
                                  struct guest_snapshot *ret_snapshot)
{
    *ret_snapshot = (struct guest_snapshot){.lock = -1};
    TRY(put_made_of(system, kind, &ret_snapshot->made_of));
    TRY(make_folder(folder, kind, ret_snapshot));
    TRY(lock(ret_snapshot, signals));
    struct error *error = look(ret_snapshot);
    if (error != NULL)
        unlock(ret_snapshot); // what is there belongs to somebody
    return error;
}

void guest_snapshot_clear(const struct guest_snapshot *snapshot)
{
    static const char *const names[] = {SNAPSHOT_MEMORY, SNAPSHOT_STATE, SNAPSHOT_DISK};
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if ((size_t)snprintf(path, sizeof path, "%s/%s", snapshot->folder, names[i]) < sizeof path)
            unlink(path);
}

void guest_snapshot_close(struct guest_snapshot *snapshot)
{
    if (snapshot->lock >= 0 && !snapshot->made)
        guest_snapshot_clear(snapshot);
    unlock(snapshot);
    free(snapshot->folder);
    buffer_deinit(&snapshot->made_of);
    *snapshot = (struct guest_snapshot){.lock = -1};
}

struct error *guest_snapshot_finish(struct guest_snapshot *snapshot)
{
    _cleanup_free_ char *path = NULL;
    TRY(path_in(snapshot, MADE_OF, &path));
    TRY(file_replace(path, &snapshot->made_of));
    snapshot->made = true;
    unlock(snapshot);
    return NULL;
}

// ---- QEMU ----

// Memory is in the snapshot's file already.
static struct error *leave_out_memory(struct guest_qmp *qmp, uint64_t deadline_ns)
{
    return guest_qmp_command_with(qmp, "migrate-set-capabilities",
                                  "{\"capabilities\":["
                                  "{\"capability\":\"x-ignore-shared\",\"state\":true},"
                                  "{\"capability\":\"events\",\"state\":true}]}",
                                  deadline_ns);
}

static struct error *wait_for_state(struct guest_qmp *qmp, const char *what, uint64_t deadline_ns)
{
    const char *reached = qmp->events.migration;
    bool in_time = true;
    while (strcmp(reached, "completed") != 0) {
        if (strcmp(reached, "failed") == 0)
            return error_new("QEMU cannot %s the state of the guest", what);
        if (!in_time)
            return error_new("QEMU did not %s the state of the guest in time", what);
        TRY(guest_link_wait(&qmp->link, deadline_ns, &in_time));
        TRY(guest_qmp_take(qmp));
    }
    return NULL;
}

// A layer of its own above the disk.
static struct error *add_layer(struct guest_qmp *qmp, const char *folder, uint64_t deadline_ns)
{
    char path[PATH_MAX];
    if ((size_t)snprintf(path, sizeof path, "%s/" SNAPSHOT_DISK, folder) >= sizeof path)
        return error_new("%s is too long a name", folder);
    json_t *object =
        json_pack("{s:s, s:s, s:s}", "device", "virtio0", "snapshot-file", path, "format", "qcow2");
    _cleanup_free_ char *text = object != NULL ? json_dumps(object, JSON_COMPACT) : NULL;
    json_decref(object);
    return text != NULL ? guest_qmp_command_with(qmp, "blockdev-snapshot-sync", text, deadline_ns)
                        : error_no_memory();
}

struct error *guest_snapshot_prepare(struct guest_qmp *qmp, const char *folder, bool has_disk,
                                     uint64_t deadline_ns)
{
    TRY(leave_out_memory(qmp, deadline_ns));
    return has_disk ? add_layer(qmp, folder, deadline_ns) : NULL;
}

// Gives QEMU the file of the state, and does with it what `command` says.
static struct error *use_state(struct guest_qmp *qmp, const char *folder, int flags,
                               const char *command, uint64_t deadline_ns)
{
    char path[PATH_MAX];
    if ((size_t)snprintf(path, sizeof path, "%s/" SNAPSHOT_STATE, folder) >= sizeof path)
        return error_new("%s is too long a name", folder);
    _cleanup_close_ int file = open(path, flags | O_CLOEXEC, 0600);
    if (file < 0)
        return error_from_errno(errno, "cannot open %s", path);
    TRY(guest_qmp_give(qmp, file, "state", deadline_ns));
    TRY(guest_qmp_command_with(qmp, command, "{\"uri\":\"fd:state\"}", deadline_ns));
    return wait_for_state(qmp, (flags & O_CREAT) != 0 ? "write" : "read", deadline_ns);
}

struct error *guest_snapshot_save(struct guest_qmp *qmp, const char *folder, uint64_t deadline_ns)
{
    TRY(guest_qmp_command(qmp, "stop", deadline_ns));
    return use_state(qmp, folder, O_WRONLY | O_CREAT | O_TRUNC, "migrate", deadline_ns);
}

struct error *guest_snapshot_load(struct guest_qmp *qmp, const char *folder, uint64_t deadline_ns)
{
    TRY(leave_out_memory(qmp, deadline_ns));
    return use_state(qmp, folder, O_RDONLY, "migrate-incoming", deadline_ns);
}
