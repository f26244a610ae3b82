// SPDX-License-Identifier: GPL-3.0-or-later
// Every compiler runs in a mount namespace of its own, in which the file with the fault lies over
// the original: names, relative includes and __FILE__ are what they always are, and it works for
// headers. Where namespaces are refused, the source itself is compiled from a copy, and faults in
// headers are not checked.
#include "mutate/source/check.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/remove.h"
#include "base/stale.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define LARGEST_OBJECT ((size_t)1 << 30)
#define CANNOT_MOUNT   125 // exit status
#define PLACE          "/tmp"
#define PREFIX         "ordeal-mutate-"
#define PATH_ROOM      256

struct job {
    pid_t pid; // 0: none
    size_t number;
};

struct check {
    struct mutate_set *set;
    const struct source_unit *const *units;
    char directory[PATH_ROOM];
    ARRAY(struct job) jobs;
    struct map originals; // object of a unit, by its address: an index of `objects`
    ARRAY(struct buffer) objects;
    struct map seen; // objects of mutants, by hash: the candidate
};

// ---- the compiler ----

static bool write_file(const char *path, const char *format, unsigned id)
{
    char text[64];
    int size = snprintf(text, sizeof text, format, id, id);
    int file = open(path, O_WRONLY | O_CLOEXEC);
    bool written = file >= 0 && write(file, text, (size_t)size) == size;
    if (file >= 0)
        close(file);
    return written;
}

static bool lay_over(const char *mutant, const char *original)
{
    unsigned uid = geteuid(), gid = getegid();
    if (unshare(CLONE_NEWNS) < 0) {
        if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
            return false;
        write_file("/proc/self/setgroups", "deny", 0);
        if (!write_file("/proc/self/uid_map", "%u %u 1", uid) ||
            !write_file("/proc/self/gid_map", "%u %u 1", gid))
            return false;
    }
    return mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount(mutant, original, NULL, MS_BIND, NULL) == 0;
}

// In the child. `mutant` is NULL for the original.
static void compile(const struct source_unit *unit, const char *mutant, const char *original,
                    const char *object)
{
    size_t count = unit->command.count;
    char **command = calloc(count + 10, sizeof *command);
    char *source = unit->source;
    int nothing = open("/dev/null", O_RDWR);
    if (command == NULL || nothing < 0 || dup2(nothing, 0) < 0 || dup2(nothing, 1) < 0 ||
        dup2(nothing, 2) < 0)
        _exit(CANNOT_MOUNT);
    bool over = mutant == NULL || lay_over(mutant, original);
    if (unit->directory != NULL && chdir(unit->directory) < 0)
        _exit(CANNOT_MOUNT);
    memcpy(command, unit->command.items, count * sizeof *command);
    if (!over) {
        char *real = realpath(original, NULL), *own = realpath(source, NULL);
        if (real == NULL || own == NULL || strcmp(real, own) != 0)
            _exit(CANNOT_MOUNT);
        *strrchr(own, '/') = '\0';
        command[count++] = (char *)"-iquote";
        command[count++] = own;
        source = (char *)mutant;
    }
    char *const last[] = {(char *)"-g0", (char *)"-fno-lto", (char *)"-c", source,
                          (char *)"-o",  (char *)object,     (char *)NULL};
    memcpy(command + count, last, sizeof last);
    execvp(command[0], command);
    _exit(127);
}

static struct error *start(const struct source_unit *unit, const char *mutant, const char *original,
                           const char *object, pid_t *ret_pid)
{
    _cleanup_free_ char *real = original != NULL ? realpath(original, NULL) : NULL;
    if (original != NULL && real == NULL)
        return error_from_errno(errno, "cannot find %s", original);
    pid_t pid = fork();
    if (pid < 0)
        return error_from_errno(errno, "cannot start the compiler");
    if (pid == 0)
        compile(unit, mutant, real, object);
    *ret_pid = pid;
    return NULL;
}

// ---- originals ----

static void name_of(const struct check *check, const char *what, size_t number,
                    char path[PATH_ROOM])
{
    snprintf(path, PATH_ROOM, "%.150s/%s-%zu.o", check->directory, what, number);
}

static struct error *compile_original(struct check *check, const struct source_unit *unit)
{
    uint64_t key = (uintptr_t)unit;
    char object[PATH_ROOM];
    int status = 0;
    pid_t pid = 0;
    if (map_has(&check->originals, key))
        return NULL;
    name_of(check, "original", check->objects.count, object);
    TRY(start(unit, NULL, NULL, object, &pid));
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return error_new("%s: %s does not compile it; the compiler's options follow the file's "
                         "name, CC and CXX name another compiler",
                         unit->source, unit->command.items[unit->compiler]);
    struct buffer *slot = ARRAY_ADD(&check->objects);
    if (slot == NULL)
        return error_no_memory();
    TRY(buffer_read_file(object, LARGEST_OBJECT, slot));
    return map_put(&check->originals, key, (uint32_t)check->objects.count - 1);
}

// ---- mutants ----

static bool equals(const struct buffer *a, const struct buffer *b)
{
    return a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

static struct error *compare(struct check *check, size_t number)
{
    struct mutate_candidate *candidate = &check->set->items.items[number];
    char path[PATH_ROOM];
    _cleanup_(buffer_deinit) struct buffer object = {0}, other = {0};
    name_of(check, "object", number, path);
    TRY(buffer_read_file(path, LARGEST_OBJECT, &object));
    candidate->checked = true;
    uint32_t original = map_find(&check->originals, (uintptr_t)check->units[number]);
    if (equals(&object, &check->objects.items[original])) {
        candidate->state = MUTATE_EQUIVALENT;
        return NULL;
    }
    // Only objects of one unit are compared.
    uint64_t hash = hash_mix(hash_bytes(object.data, object.size), original);
    uint32_t earlier = map_find(&check->seen, hash);
    if (earlier == MAP_NONE)
        return map_put(&check->seen, hash, (uint32_t)number);
    name_of(check, "object", earlier, path);
    TRY(buffer_read_file(path, LARGEST_OBJECT, &other));
    if (equals(&object, &other)) {
        candidate->state = MUTATE_DUPLICATE;
        candidate->same = earlier;
    }
    return NULL;
}

static struct error *finish_one(struct check *check)
{
    int status = 0;
    struct job *done = NULL;
    while (done == NULL) {
        pid_t pid = waitpid(-1, &status, 0);
        if (pid < 0 && errno != EINTR)
            return error_from_errno(errno, "cannot wait for a compiler");
        for (size_t i = 0; i < check->jobs.count && done == NULL; i++)
            if (check->jobs.items[i].pid == pid)
                done = &check->jobs.items[i];
    }
    done->pid = 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == CANNOT_MOUNT)
        return NULL; // not checked
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return NULL;
    struct mutate_candidate *candidate = &check->set->items.items[done->number];
    candidate->state = MUTATE_BROKEN;
    candidate->checked = true;
    return NULL;
}

static struct job *free_job(struct check *check)
{
    for (size_t i = 0; i < check->jobs.count; i++)
        if (check->jobs.items[i].pid == 0)
            return &check->jobs.items[i];
    return NULL;
}

static struct error *start_one(struct check *check, size_t number)
{
    const struct mutate_candidate *candidate = &check->set->items.items[number];
    char mutant[PATH_ROOM], object[PATH_ROOM];
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(compile_original(check, check->units[number]));
    while (free_job(check) == NULL)
        TRY(finish_one(check));
    struct job *job = free_job(check);
    // The object has the source's name: it must be the original's, wherever it is.
    snprintf(mutant, sizeof mutant, "%.150s/%zu", check->directory, number);
    if (mkdir(mutant, 0700) < 0 && errno != EEXIST)
        return error_from_errno(errno, "cannot make %s", mutant);
    snprintf(mutant, sizeof mutant, "%.150s/%zu/%.80s", check->directory, number,
             file_base_name(candidate->changed));
    name_of(check, "object", number, object);
    TRY(check->set->level->apply(check->set, number, &text));
    int file = open(mutant, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0)
        return error_from_errno(errno, "cannot write %s", mutant);
    ssize_t written = write(file, text.data, text.size);
    if (close(file) < 0 || written != (ssize_t)text.size)
        return error_from_errno(errno, "cannot write %s", mutant);
    TRY(start(check->units[number], mutant, candidate->changed, object, &job->pid));
    job->number = number;
    return NULL;
}

static struct error *check_all(struct check *check, const bool *wanted)
{
    struct error *error = NULL;
    for (size_t i = 0; i < check->set->items.count && error == NULL; i++)
        if (wanted[i] && check->set->items.items[i].state == MUTATE_APPLICABLE)
            error = start_one(check, i);
    for (size_t i = 0; i < check->jobs.count; i++)
        while (check->jobs.items[i].pid != 0) {
            struct error *other = finish_one(check);
            if (other != NULL && error == NULL)
                error = other;
            else
                error_free(other);
        }
    for (size_t i = 0; i < check->set->items.count && error == NULL; i++) {
        char path[PATH_ROOM];
        name_of(check, "object", i, path);
        if (wanted[i] && check->set->items.items[i].state == MUTATE_APPLICABLE &&
            access(path, R_OK) == 0)
            error = compare(check, i);
    }
    return error;
}

struct error *source_check(struct mutate_set *set, const struct source_unit *const *units,
                           const bool *wanted)
{
    struct check check = {.set = set, .units = units};
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    stale_each(PLACE, PREFIX, false, remove_stale); // of processes that were killed
    snprintf(check.directory, sizeof check.directory, PLACE "/" PREFIX "%s-XXXXXX", stale_owner());
    if (mkdtemp(check.directory) == NULL)
        return error_from_errno(errno, "cannot make a directory in " PLACE);
    struct error *error = NULL;
    for (long i = 0; i < (processors > 0 ? processors : 1) && error == NULL; i++)
        if (ARRAY_ADD(&check.jobs) == NULL)
            error = error_no_memory();
    if (error == NULL)
        error = check_all(&check, wanted);
    struct error *other = remove_tree(check.directory);
    if (error == NULL)
        error = other;
    else
        error_free(other);
    for (size_t i = 0; i < check.objects.count; i++)
        buffer_deinit(&check.objects.items[i]);
    ARRAY_DEINIT(&check.objects);
    ARRAY_DEINIT(&check.jobs);
    map_deinit(&check.originals);
    map_deinit(&check.seen);
    return error;
}
