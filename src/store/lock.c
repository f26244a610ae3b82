// SPDX-License-Identifier: GPL-3.0-or-later
// The lock that allows one writer. It is on two files: on PATH-lock, which says who has it, and on
// the database itself, which may have other names (it was renamed, or mounted twice). Both are
// POSIX record locks, because flock() and open-file-description locks are inherited by fork(): a
// job slot that briefly outlives its killed controller would keep the file from being resumed. The
// content of the lock file is only used for the error message.
#include "store/lock.h"

#include "base/cleanup.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

// The byte of the database that is locked: far beyond its end and those that SQLite locks.
#define LOCKED_BYTE (INT64_C(1) << 62)

struct store_lock {
    struct store_lock *next;
    char *path;
    int descriptor;
    pid_t owner;
    dev_t device;
    ino_t inode;
    int database; // its descriptor; SQLite has others
    dev_t database_device;
    ino_t database_inode;
};

// A record lock does not stop the process that holds it, and closing any descriptor of the file
// ends it. So the locks of this process are kept in a list, and their files are not opened again.
// Each lock has the process id, since a forked child holds none of them.
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct store_lock *held;

static bool is_held(const char *path)
{
    struct stat facts;
    if (stat(path, &facts) != 0)
        return false;
    for (const struct store_lock *lock = held; lock != NULL; lock = lock->next)
        if (lock->owner == getpid() &&
            ((lock->device == facts.st_dev && lock->inode == facts.st_ino) ||
             (lock->database_device == facts.st_dev && lock->database_inode == facts.st_ino)))
            return true;
    return false;
}

static struct flock byte_lock(void)
{
    return (struct flock){
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = LOCKED_BYTE, .l_len = 1};
}

// The process is unknown if it is in another process namespace.
static struct error *refuse_other_name(const char *path, pid_t owner)
{
    char who[40] = "";
    if (owner > 0)
        snprintf(who, sizeof who, ": process %d", (int)owner);
    return error_new("%s: another controller is writing to this file under another name%s; the "
                     "file was linked, renamed or mounted twice",
                     path, who);
}

// With several names, SQLite would have a log for each, and none would be complete.
static struct error *check_links(const char *path, const struct stat *facts)
{
    if (facts->st_nlink <= 1)
        return NULL;
    return error_new("%s: the file has %lu names (hard links); commits under one of them would be "
                     "missing under the others: use a copy (cp %s COPY), or remove the other names",
                     path, (unsigned long)facts->st_nlink, path);
}

static struct error *lock_database(const char *path, struct store_lock *lock)
{
    if (is_held(path))
        return error_new("%s: this process is writing to it already, under another name", path);
    _cleanup_close_ int descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat facts;
    if (descriptor < 0 || fstat(descriptor, &facts) != 0)
        return error_from_errno(errno, "%s: cannot be opened", path);
    TRY(check_links(path, &facts));
    struct flock byte = byte_lock();
    if (fcntl(descriptor, F_SETLK, &byte) != 0) {
        int code = errno;
        if (code != EACCES && code != EAGAIN)
            return error_from_errno(code, "%s: cannot be locked", path);
        bool known = fcntl(descriptor, F_GETLK, &byte) == 0 && byte.l_type != F_UNLCK;
        return refuse_other_name(path, known ? byte.l_pid : 0);
    }
    lock->database_device = facts.st_dev;
    lock->database_inode = facts.st_ino;
    lock->database = descriptor;
    descriptor = -1;
    return NULL;
}

// Who has a lock on the file, 0 for nobody, -1 for somebody in another process namespace. The file
// must not be one of ours: closing it would end its locks.
static pid_t owner_of(const char *path, const struct flock *wanted)
{
    _cleanup_close_ int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct flock lock = *wanted;
    if (descriptor < 0 || fcntl(descriptor, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK)
        return 0;
    return lock.l_pid > 0 ? lock.l_pid : -1;
}

// A lock file that we may not read belongs to another user. Then only he can know.
static bool is_readable(const char *path)
{
    return access(path, R_OK) == 0 || errno == ENOENT;
}

// A writer locks the file beside the name that it uses first, and the database then.
struct error *store_lock_check_name(const char *path)
{
    char name[PATH_MAX];
    const struct flock byte = byte_lock(), whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int size = snprintf(name, sizeof name, "%s-lock", path);
    if (size < 0 || (size_t)size >= sizeof name)
        return NULL; // nobody can have locked it
    pthread_mutex_lock(&mutex);
    pid_t writer = is_held(path) ? 0 : owner_of(path, &byte);
    pid_t namesake = writer != 0 ? owner_of(name, &whole) : 0;
    // It may have ended between the two looks.
    bool differs = writer != namesake && owner_of(path, &byte) == writer;
    pthread_mutex_unlock(&mutex);
    return differs && is_readable(name) ? refuse_other_name(path, writer) : NULL;
}

// Says who holds the lock: "process 17 on host". The file may hold any bytes.
static struct error *refuse(const char *path, int descriptor, pid_t owner)
{
    char text[300];
    ssize_t size = pread(descriptor, text, sizeof text - 1, 0);
    size = size < 0 ? 0 : size;
    for (ssize_t i = 0; i < size; i++)
        if (!isprint((unsigned char)text[i]))
            size = i;
    text[size] = '\0';
    int database = (int)strlen(path) - (int)strlen("-lock");
    if (size == 0 && owner > 0)
        return error_new("%.*s: another controller is writing to it: process %d", database, path,
                         (int)owner);
    return error_new("%.*s: another controller is writing to it%s%s", database, path,
                     size > 0 ? ": " : "", text);
}

static void write_owner(int descriptor)
{
    char host[256] = "", text[300];
    if (gethostname(host, sizeof host - 1) != 0 || host[0] == '\0')
        strcpy(host, "this host");
    int size = snprintf(text, sizeof text, "process %d on %s\n", (int)getpid(), host);
    // Ignore a failure, on a full disk for instance: only the message suffers.
    if (ftruncate(descriptor, 0) != 0 || pwrite(descriptor, text, (size_t)size, 0) != size)
        return;
}

// Whether the name still leads to the locked file. Its last owner may have removed it meanwhile.
static bool is_current(const char *path, int descriptor, struct stat *ret_facts)
{
    struct stat named;
    return fstat(descriptor, ret_facts) == 0 && stat(path, &named) == 0 &&
           ret_facts->st_dev == named.st_dev && ret_facts->st_ino == named.st_ino;
}

static struct error *try_take(const char *path, int *ret_descriptor, struct stat *ret_facts)
{
    if (is_held(path))
        return error_new("%.*s: this process is writing to it already",
                         (int)(strlen(path) - strlen("-lock")), path);
    for (;;) {
        _cleanup_close_ int descriptor =
            open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
        if (descriptor < 0)
            return error_from_errno(errno, "%s: cannot be made, so that two could write at once",
                                    path);
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        if (fcntl(descriptor, F_SETLK, &lock) != 0) {
            int code = errno;
            if (code != EACCES && code != EAGAIN)
                return error_from_errno(code, "%s: cannot be locked", path);
            if (fcntl(descriptor, F_GETLK, &lock) == 0 && lock.l_type == F_UNLCK)
                continue; // removed just now
            return refuse(path, descriptor, lock.l_pid);
        }
        if (is_current(path, descriptor, ret_facts)) {
            *ret_descriptor = descriptor;
            descriptor = -1;
            return NULL;
        }
    }
}

struct error *store_lock_take(const char *path, struct store_lock **ret_lock)
{
    _cleanup_free_ struct store_lock *lock = calloc(1, sizeof *lock);
    _cleanup_free_ char *name = NULL;
    if (lock == NULL || asprintf(&name, "%s-lock", path) < 0) {
        name = NULL;
        return error_no_memory();
    }
    pthread_mutex_lock(&mutex);
    struct stat facts;
    struct error *error = try_take(name, &lock->descriptor, &facts);
    if (error == NULL) {
        error = lock_database(path, lock);
        if (error != NULL) {
            unlink(name);
            close(lock->descriptor);
        }
    }
    if (error == NULL) {
        lock->owner = getpid();
        lock->device = facts.st_dev;
        lock->inode = facts.st_ino;
        lock->path = TAKE(name);
        lock->next = held;
        held = lock;
        write_owner(lock->descriptor);
        *ret_lock = TAKE(lock);
    }
    pthread_mutex_unlock(&mutex);
    return error;
}

// Removes the file before it releases the lock. Whoever waits for either finds out in is_current().
void store_lock_release(struct store_lock *lock)
{
    if (lock == NULL)
        return;
    pthread_mutex_lock(&mutex);
    for (struct store_lock **at = &held; *at != NULL; at = &(*at)->next)
        if (*at == lock) {
            *at = lock->next;
            break;
        }
    close(lock->database);
    unlink(lock->path);
    close(lock->descriptor);
    pthread_mutex_unlock(&mutex);
    free(lock->path);
    free(lock);
}
