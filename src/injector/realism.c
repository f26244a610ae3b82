// SPDX-License-Identifier: GPL-3.0-or-later
// The table of realistic errors. A fault that never happens wastes a trial and, worse, the time of
// the reader of a finding. So each function has few errors, one or two for each way to fail: no
// permission, no room, no memory, no descriptor left, broken hardware, a lost peer.
#include "injector/realism.h"

#include "base/file.h"
#include "wire/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// clang-format off
// Sorted by byte value.
static const struct realism rows[] = {
    {REALISM_STREAM_WRITE, "0", "ENOSPC lasting:ENOSPC", "EIO EPIPE"},
    {"accept", "-1", "EMFILE handler:if:EINTR", "ECONNABORTED ENFILE ENOBUFS EPROTO EAGAIN EBADF"},
    {"accept4", "-1", "EMFILE handler:if:EINTR", "ECONNABORTED ENFILE ENOBUFS EPROTO EAGAIN EBADF"},
    {"access", "-1", "EACCES", "ENOENT EIO ELOOP"},
    {"aligned_alloc", "NULL", "ENOMEM", "EINVAL"},
    {"asprintf", "-1", "ENOMEM", ""},
    {"bind", "-1", "EADDRINUSE", "EACCES EADDRNOTAVAIL EINVAL"},
    {"calloc", "NULL", "ENOMEM", ""},
    {"chdir", "-1", "if:EACCES if:ENOENT", "EIO ENOTDIR"},
    {"chmod", "-1", "EPERM", "EROFS ENOENT EIO"},
    {"chown", "-1", "EPERM", "EROFS ENOENT EIO"},
    {"clock_gettime", "-1", "", "EINVAL"},
    {"close", "-1", "file:EIO", "EINTR ENOSPC EBADF"},
    {"closedir", "-1", "", "EBADF"},
    {"connect", "-1", "ECONNREFUSED ETIMEDOUT handler:if:EINTR", "ENETUNREACH EAGAIN EBADF"},
    {"copy_file_range", "-1", "ENOSPC EIO", "EXDEV ENOSYS EINVAL"},
    {"creat", "-1", "EACCES ENOSPC", "EMFILE EROFS ENOENT"},
    {"dlopen", "NULL", "", "-"},
    {"dup", "-1", "EMFILE", "EBADF"},
    {"dup2", "-1", "", "EBADF EINTR"},
    {"dup3", "-1", "", "EBADF EINTR"},
    {"epoll_create", "-1", "EMFILE", "ENOMEM"},
    {"epoll_create1", "-1", "EMFILE", "ENOMEM"},
    {"epoll_ctl", "-1", "if:ENOMEM", "ENOSPC EBADF EINVAL"},
    {"epoll_pwait", "-1", "handler:if:EINTR", "EBADF EINVAL"},
    {"epoll_wait", "-1", "handler:if:EINTR", "EBADF EINVAL"},
    {"eventfd", "-1", "EMFILE", "ENOMEM"},
    {"execl", "-1", "EACCES", "ENOMEM E2BIG ENOENT"},
    {"execlp", "-1", "EACCES", "ENOMEM E2BIG ENOENT"},
    {"execv", "-1", "EACCES", "ENOMEM E2BIG ENOENT"},
    {"execve", "-1", "EACCES", "ENOMEM E2BIG ENOENT"},
    {"execvp", "-1", "EACCES", "ENOMEM E2BIG ENOENT"},
    {"faccessat", "-1", "EACCES", "ENOENT EIO"},
    {"fallocate", "-1", "if:ENOSPC", "EOPNOTSUPP EIO EINTR"},
    {"fchdir", "-1", "EACCES", "EBADF"},
    {"fchmod", "-1", "EPERM", "EROFS EBADF"},
    {"fchmodat", "-1", "EPERM", "EROFS ENOENT"},
    {"fchown", "-1", "EPERM", "EROFS EBADF"},
    {"fchownat", "-1", "EPERM", "EROFS ENOENT"},
    {"fclose", "EOF", "below:ENOSPC", "EIO EBADF"},
    {"fcntl", "-1", "", "EAGAIN EINVAL EMFILE EBADF"},
    {"fdatasync", "-1", "EIO", "ENOSPC EINVAL"},
    {"fdopen", "NULL", "ENOMEM", "EBADF EINVAL"},
    {"fdopendir", "NULL", "ENOMEM", "EBADF ENOTDIR"},
    {"fflush", "EOF", "below:ENOSPC", "EIO EPIPE"},
    {"fgetc", "EOF", "EIO", "EINTR EAGAIN"},
    {"fgets", "NULL", "EIO", "EINTR EAGAIN"},
    {"flock", "-1", "handler:if:EINTR", "ENOLCK EWOULDBLOCK EBADF"},
    {"fmemopen", "NULL", "ENOMEM", ""},
    {"fopen", "NULL", "if:EACCES EMFILE", "ENOENT ENOMEM EIO"},
    {"fork", "-1", "EAGAIN", "ENOMEM"},
    {"fprintf", "-1", "stream:ENOSPC", "EIO EPIPE ENOMEM"},
    {"fputc", "EOF", "stream:ENOSPC", "EIO EPIPE"},
    {"fputs", "EOF", "stream:ENOSPC", "EIO EPIPE"},
    {"fread", "0", "EIO", "EINTR EAGAIN"},
    {"freopen", "NULL", "EACCES", "EMFILE ENOENT"},
    {"fscanf", "-1", "EIO", "ENOMEM"},
    {"fseek", "-1", "", "EIO ESPIPE EINVAL"},
    {"fseeko", "-1", "", "EIO ESPIPE EINVAL"},
    {"fstat", "-1", "file:EIO", "ENOMEM EOVERFLOW EBADF"},
    {"fstatat", "-1", "EACCES", "ENOENT EIO"},
    {"fstatfs", "-1", "EIO", "ENOSYS EBADF"},
    {"fstatvfs", "-1", "EIO", "ENOSYS EBADF"},
    {"fsync", "-1", "EIO", "ENOSPC EINVAL"},
    {"ftell", "-1", "", "ESPIPE EBADF"},
    {"ftello", "-1", "", "ESPIPE EBADF"},
    {"ftruncate", "-1", "EIO", "ENOSPC EINVAL EBADF"},
    {"futimens", "-1", "EPERM", "EROFS EBADF"},
    {"fwrite", "0", "stream:ENOSPC", "EIO EPIPE"},
    {"getaddrinfo", "EAI_AGAIN", "if:-", ""},
    {"getc", "EOF", "EIO", "EINTR EAGAIN"},
    {"getchar", "EOF", "EIO", "EINTR EAGAIN"},
    {"getcwd", "NULL", "ENOENT", "EACCES ERANGE ENOMEM"},
    {"getdelim", "-1", "EIO ENOMEM", "EINTR"},
    {"getgrgid", "NULL", "EMFILE", "EIO ENOMEM"},
    {"getgrnam", "NULL", "EMFILE", "EIO ENOMEM"},
    {"gethostbyname", "NULL", "-", ""},
    {"getifaddrs", "-1", "ENOMEM", "EMFILE"},
    {"getline", "-1", "EIO ENOMEM", "EINTR"},
    {"getpeername", "-1", "ENOTCONN", "EBADF"},
    {"getpwnam", "NULL", "EMFILE", "EIO ENOMEM"},
    {"getpwuid", "NULL", "EMFILE", "EIO ENOMEM"},
    {"getrandom", "-1", "handler:if:EINTR", "ENOSYS EAGAIN"},
    {"getxattr", "-1", "EOPNOTSUPP", "ENODATA ERANGE"},
    {"iconv_open", "-1", "ENOMEM", "EINVAL EMFILE"},
    {"initgroups", "-1", "EPERM", "ENOMEM"},
    {"inotify_add_watch", "-1", "ENOSPC", "EACCES"},
    {"inotify_init", "-1", "EMFILE", "ENOMEM"},
    {"inotify_init1", "-1", "EMFILE", "ENOMEM"},
    {"ioctl", "-1", "", "EIO ENOTTY EINVAL"},
    {"kill", "-1", "", "ESRCH EPERM"},
    {"lchown", "-1", "EPERM", "EROFS"},
    {"link", "-1", "EPERM", "EEXIST ENOSPC EMLINK"},
    {"linkat", "-1", "EPERM", "EEXIST ENOSPC EMLINK"},
    {"listen", "-1", "EADDRINUSE", "EOPNOTSUPP"},
    {"listxattr", "-1", "EOPNOTSUPP", "ERANGE"},
    {"lseek", "-1", "", "ESPIPE EINVAL EBADF"},
    {"lstat", "-1", "if:EACCES", "ENOENT EIO"},
    {"malloc", "NULL", "ENOMEM", ""},
    {"memalign", "NULL", "ENOMEM", "EINVAL"},
    {"memfd_create", "-1", "EMFILE", "ENOMEM"},
    {"mkdir", "-1", "EACCES ENOSPC", "EEXIST EROFS"},
    {"mkdirat", "-1", "EACCES ENOSPC", "EEXIST EROFS"},
    {"mkdtemp", "NULL", "EACCES", "ENOSPC EEXIST"},
    {"mkfifo", "-1", "EACCES", "ENOSPC EEXIST"},
    {"mkostemp", "-1", "EACCES EMFILE", "ENOSPC EEXIST"},
    {"mkstemp", "-1", "EACCES EMFILE", "ENOSPC EEXIST"},
    {"mlock", "-1", "ENOMEM", "EPERM"},
    {"mmap", "MAP_FAILED", "ENOMEM", "EACCES ENODEV EINVAL"},
    {"mprotect", "-1", "ENOMEM", "EACCES EINVAL"},
    {"mremap", "MAP_FAILED", "if:ENOMEM", "EINVAL"},
    {"msgget", "-1", "if:ENOSPC", "EACCES"},
    {"msync", "-1", "EIO", "EINVAL"},
    {"munmap", "-1", "", "EINVAL ENOMEM"},
    {"nanosleep", "-1", "handler:EINTR", "EINVAL"},
    {"newlocale", "NULL", "if:ENOMEM", "ENOENT"},
    {"open", "-1", "if:EACCES EMFILE", "ENOENT ENOSPC EIO EROFS ELOOP"},
    {"open_memstream", "NULL", "ENOMEM", ""},
    {"openat", "-1", "if:EACCES EMFILE", "ENOENT ENOSPC EIO EROFS ELOOP"},
    {"opendir", "NULL", "EACCES EMFILE", "ENOENT ENOMEM"},
    {"pipe", "-1", "EMFILE", "ENFILE"},
    {"pipe2", "-1", "EMFILE", "ENFILE"},
    {"poll", "-1", "handler:if:EINTR", "ENOMEM EINVAL"},
    {"popen", "NULL", "EMFILE", "ENOMEM EAGAIN"},
    {"posix_fallocate", "errno", "ENOSPC", "EOPNOTSUPP EINTR"},
    {"posix_memalign", "errno", "ENOMEM", "EINVAL"},
    {"posix_openpt", "-1", "ENOSPC", "EMFILE"},
    {"posix_spawn", "errno", "EAGAIN", "ENOMEM EACCES ENOENT"},
    {"posix_spawnp", "errno", "EAGAIN", "ENOMEM EACCES ENOENT"},
    {"ppoll", "-1", "handler:EINTR", "ENOMEM EINVAL"},
    {"pread", "-1", "file:EIO", "EINTR EINVAL EBADF"},
    {"preadv", "-1", "file:EIO", "EINTR EINVAL EBADF"},
    {"printf", "-1", "stream:ENOSPC", "EIO EPIPE ENOMEM"},
    {"pselect", "-1", "handler:EINTR", "ENOMEM EINVAL"},
    {"pthread_attr_init", "errno", "", "ENOMEM"},
    {"pthread_cond_init", "errno", "", "ENOMEM EAGAIN"},
    {"pthread_cond_timedwait", "errno", "ETIMEDOUT", "EINVAL"},
    {"pthread_create", "errno", "EAGAIN", "EPERM"},
    {"pthread_join", "errno", "", "ESRCH EDEADLK"},
    {"pthread_key_create", "errno", "", "EAGAIN ENOMEM"}, // a process has 1024 keys
    {"pthread_mutex_init", "errno", "", "ENOMEM EAGAIN"},
    {"pthread_mutex_lock", "errno", "", "EDEADLK EINVAL"},
    {"pthread_mutex_timedlock", "errno", "ETIMEDOUT", "EDEADLK"},
    {"pthread_mutex_trylock", "errno", "EBUSY", "EINVAL"},
    {"pthread_setspecific", "errno", "if:ENOMEM", ""},
    {"ptsname", "NULL", "", "ENOTTY"},
    {"putc", "EOF", "stream:ENOSPC", "EIO EPIPE"},
    {"putchar", "EOF", "stream:ENOSPC", "EIO EPIPE"},
    {"putenv", "-1", "ENOMEM", ""},
    {"puts", "EOF", "stream:ENOSPC", "EIO EPIPE"},
    {"pwrite", "-1", "file:ENOSPC file:EIO file:short file:lasting:ENOSPC", "EINTR EFBIG EBADF"},
    {"pwritev", "-1", "file:ENOSPC file:EIO", "EINTR EFBIG EBADF"},
    {"read", "-1", "file:EIO pipe:short socket:short connection:ECONNRESET handler:if:EINTR file:lasting:EIO", "EAGAIN EISDIR EBADF"},
    {"readdir", "NULL", "EIO", "EBADF"},
    {"readlink", "-1", "EACCES", "ENOENT EINVAL EIO"},
    {"readlinkat", "-1", "EACCES", "ENOENT EINVAL EIO"},
    {"readv", "-1", "file:EIO pipe:short socket:short connection:ECONNRESET handler:if:EINTR", "EAGAIN EBADF"},
    {"realloc", "NULL", "ENOMEM", ""},
    {"reallocarray", "NULL", "ENOMEM", ""},
    {"realpath", "NULL", "EACCES", "ENOENT ENOMEM ELOOP"},
    {"recv", "-1", "ECONNRESET handler:if:EINTR", "short EAGAIN ETIMEDOUT ENOTCONN"},
    {"recvfrom", "-1", "connection:ECONNRESET handler:if:EINTR", "EAGAIN ETIMEDOUT"},
    {"recvmsg", "-1", "connection:ECONNRESET handler:if:EINTR", "EAGAIN ETIMEDOUT"},
    {"regcomp", "12", "-", ""},
    {"remove", "-1", "EACCES", "EBUSY ENOENT EROFS"},
    {"rename", "-1", "EACCES ENOSPC", "EXDEV ENOENT EROFS"},
    {"renameat", "-1", "EACCES ENOSPC", "EXDEV ENOENT EROFS"},
    {"renameat2", "-1", "EACCES ENOSPC", "EXDEV ENOENT EINVAL"},
    {"rmdir", "-1", "EACCES", "EBUSY ENOTEMPTY"},
    {"scandir", "-1", "EACCES ENOMEM", "ENOENT"},
    {"select", "-1", "handler:EINTR", "ENOMEM EINVAL"},
    {"sem_init", "-1", "", "ENOSYS EINVAL"},
    {"sem_open", "NULL", "EACCES", "EMFILE ENOMEM"},
    {"sem_wait", "-1", "handler:EINTR", "EINVAL"},
    {"semget", "-1", "if:ENOSPC", "EACCES"},
    {"send", "-1", "ECONNRESET handler:if:EINTR lasting:ECONNRESET", "EPIPE EAGAIN ENOBUFS"},
    {"sendfile", "-1", "EIO", "EAGAIN EINVAL ENOSYS"},
    {"sendmsg", "-1", "connection:ECONNRESET handler:if:EINTR", "EPIPE EAGAIN ENOBUFS"},
    {"sendto", "-1", "connection:ECONNRESET handler:if:EINTR", "EPIPE EAGAIN ENOBUFS"},
    {"setegid", "-1", "EPERM", ""},
    {"setenv", "-1", "ENOMEM", ""},
    {"seteuid", "-1", "EPERM", "EAGAIN"},
    {"setgid", "-1", "EPERM", ""},
    {"setgroups", "-1", "EPERM", "ENOMEM"},
    {"setlocale", "NULL", "", "-"},
    {"setpgid", "-1", "", "EPERM ESRCH"},
    {"setrlimit", "-1", "EPERM", "EINVAL"},
    {"setsid", "-1", "", "EPERM"},
    {"setsockopt", "-1", "", "ENOPROTOOPT ENOMEM"},
    {"setuid", "-1", "EPERM", "EAGAIN"},
    {"setxattr", "-1", "EOPNOTSUPP", "ENOSPC EPERM"},
    {"shm_open", "-1", "EACCES", "EMFILE"},
    {"shmat", "-1", "ENOMEM", "EACCES"},
    {"shmget", "-1", "if:ENOSPC", "ENOMEM"},
    {"sigaction", "-1", "", "EINVAL"},
    {"socket", "-1", "EMFILE", "EACCES ENOBUFS EAFNOSUPPORT"},
    {"socketpair", "-1", "EMFILE", "EOPNOTSUPP"},
    {"splice", "-1", "EIO", "EAGAIN EINVAL"},
    {"stat", "-1", "if:EACCES", "ENOENT EIO"},
    {"statfs", "-1", "EACCES", "EIO"},
    {"statvfs", "-1", "EACCES", "EIO"},
    {"statx", "-1", "EACCES", "ENOENT EIO ENOSYS"},
    {"strdup", "NULL", "ENOMEM", ""},
    {"strndup", "NULL", "ENOMEM", ""},
    {"symlink", "-1", "EACCES", "ENOSPC EEXIST"},
    {"symlinkat", "-1", "EACCES", "ENOSPC EEXIST"},
    {"syncfs", "-1", "EIO", "ENOSPC"},
    {"system", "-1", "EAGAIN", "ENOMEM"},
    {"tcgetattr", "-1", "", "EIO ENOTTY"},
    {"tcsetattr", "-1", "", "EIO ENOTTY"},
    {"timer_create", "-1", "EAGAIN", "EINVAL"},
    {"timerfd_create", "-1", "EMFILE", "ENOMEM"},
    {"timerfd_settime", "-1", "", "EINVAL"},
    {"tmpfile", "NULL", "EMFILE", "EACCES ENOSPC"},
    {"truncate", "-1", "EACCES", "EIO ENOENT"},
    {"tsearch", "NULL", "ENOMEM", ""},
    {"unlink", "-1", "EACCES", "EBUSY ENOENT EROFS"},
    {"unlinkat", "-1", "EACCES", "EBUSY ENOENT EROFS"},
    {"usleep", "-1", "handler:EINTR", ""},
    {"utime", "-1", "EACCES", "EPERM EROFS"},
    {"utimensat", "-1", "EACCES", "EPERM EROFS"},
    {"utimes", "-1", "EACCES", "EPERM EROFS"},
    {"valloc", "NULL", "ENOMEM", ""},
    {"vasprintf", "-1", "ENOMEM", ""},
    {"vfork", "-1", "EAGAIN", "ENOMEM"},
    {"vfprintf", "-1", "stream:ENOSPC", "EIO EPIPE ENOMEM"},
    {"vprintf", "-1", "stream:ENOSPC", "EIO EPIPE ENOMEM"},
    {"wait", "-1", "handler:EINTR", "ECHILD"},
    {"wait3", "-1", "handler:if:EINTR", "ECHILD"},
    {"wait4", "-1", "handler:if:EINTR", "ECHILD"},
    {"waitid", "-1", "handler:if:EINTR", "ECHILD"},
    {"waitpid", "-1", "handler:if:EINTR", "ECHILD"},
    {"wcsdup", "NULL", "ENOMEM", ""},
    {"write", "-1", "file:ENOSPC file:short connection:ECONNRESET handler:if:EINTR file:lasting:ENOSPC", "EIO EPIPE EAGAIN EBADF"},
    {"writev", "-1", "file:ENOSPC file:short connection:ECONNRESET handler:if:EINTR file:lasting:ENOSPC", "EIO EPIPE EAGAIN EBADF"},
};
// clang-format on

size_t realism_count(void)
{
    return sizeof rows / sizeof *rows;
}

const struct realism *realism_at(size_t index)
{
    return &rows[index];
}

// What the errors with "if" depend on. Constants are numbers: rules know no EPOLL_CTL_ADD. A call
// that does not wait is not interrupted. Files may be waited for: they may be far away.
#define WAITS       "not fd(1).nonblocking"
#define NOT_NULL(n) "arg(" n ") != \"/dev/null\""
#define NOT_HERE    "arg(1) != \"/\" and arg(1) != \".\""
#define CREATES(n)  "arg(" n ") & 512 != 0"
#define MAY_HANG(n) "arg(" n ") & 1 == 0"
static const struct {
    const char *name, *condition;
} conditions[] = {
    {"accept", WAITS},
    {"accept4", WAITS},
    {"chdir", NOT_HERE}, // everybody may enter these
    {"connect", WAITS},
    {"epoll_ctl", "arg(2) == 1"},   // what is watched is added
    {"epoll_pwait", "arg(4) != 0"}, // the time to wait
    {"epoll_wait", "arg(4) != 0"},
    {"fallocate", "arg(2) & 2 == 0"}, // no hole is made
    {"flock", "arg(2) & 4 == 0"},
    {"fopen", NOT_NULL("1")},
    {"getaddrinfo", "arg(1) ~ \"*[g-zG-Z]*\""}, // a name, not a number, which nobody is asked about
    {"getrandom", "arg(2) > 256"},
    {"lstat", NOT_HERE},
    {"mremap", "arg(3) > arg(2)"}, // it grows
    {"msgget", CREATES("2")},
    {"newlocale", "arg(2) != \"C\" and arg(2) != \"POSIX\""}, // these are built in
    {"open", NOT_NULL("1")},
    {"openat", NOT_NULL("2")},
    {"poll", "arg(3) != 0"},
    {"pthread_setspecific", "arg(1) >= 32 and arg(2) != 0"}, // the first keys have room everywhere
    {"read", WAITS},
    {"readv", WAITS},
    {"recv", WAITS},
    {"recvfrom", WAITS},
    {"recvmsg", WAITS},
    {"semget", CREATES("3")},
    {"send", WAITS},
    {"sendmsg", WAITS},
    {"sendto", WAITS},
    {"shmget", CREATES("3")},
    {"stat", NOT_HERE},
    {"wait3", MAY_HANG("2")},
    {"wait4", MAY_HANG("3")},
    {"waitid", MAY_HANG("4")},
    {"waitpid", MAY_HANG("3")},
    {"write", WAITS},
    {"writev", WAITS},
};

const char *realism_condition(const struct realism *row)
{
    for (size_t i = 0; row != NULL && i < sizeof conditions / sizeof *conditions; i++)
        if (strcmp(conditions[i].name, row->name) == 0)
            return conditions[i].condition;
    return NULL;
}

static int compare(const void *key, const void *row)
{
    return strcmp(key, ((const struct realism *)row)->name);
}

static const struct realism *find(const char *name)
{
    return bsearch(name, rows, sizeof rows / sizeof *rows, sizeof *rows, compare);
}

// Names that header files give to functions of the table.
static const struct realism_alias aliases[] = {
    {"__overflow", "putc"},
    {"__uflow", "getc"},
    {"__underflow", "getc"},
};

size_t realism_alias_count(void)
{
    return sizeof aliases / sizeof *aliases;
}

const struct realism_alias *realism_alias_at(size_t index)
{
    return &aliases[index];
}

const struct realism *realism_find(const char *function)
{
    const struct realism *row = find(function);
    for (size_t i = 0; row == NULL && i < sizeof aliases / sizeof *aliases; i++)
        if (strcmp(function, aliases[i].name) == 0)
            row = find(aliases[i].meant);
    char plain[WIRE_PLAIN_NAME];
    for (size_t state = 0; row == NULL && wire_plain_name(function, &state, plain);)
        row = find(plain);
    return row;
}

bool realism_happens(const char *function)
{
    const struct realism *row = realism_find(function);
    return row != NULL && row->errors[0] != '\0';
}

// They return the same when nothing is wrong but the input: it ends, or has not what is asked for.
static const char *const by_input[] = {
    "fgetc",    "fgets",    "fread",      "fscanf",    "getaddrinfo",   "getc",
    "getchar",  "getdelim", "getgrgid",   "getgrnam",  "gethostbyname", "getline",
    "getpwnam", "getpwuid", "iconv_open", "newlocale", "readdir",       "regcomp",
};

bool realism_forces(const char *function)
{
    const struct realism *row = realism_find(function);
    for (size_t i = 0; row != NULL && i < sizeof by_input / sizeof *by_input; i++)
        if (strcmp(row->name, by_input[i]) == 0)
            return false;
    return row != NULL && row->errors[0] != '\0';
}

static const char *const needs[REALISM_NEEDS] = {
    "", "file:", "socket:", "connection:", "pipe:", "handler:", "stream:", "below:"};

const char *realism_test(enum realism_need need)
{
    static const char *const tests[REALISM_NEEDS] = {[REALISM_FILE] = "file",
                                                     [REALISM_SOCKET] = "socket",
                                                     [REALISM_CONNECTION] = "connection",
                                                     [REALISM_PIPE] = "pipe"};
    return tests[need];
}

// Removes a prefix from the word. False if the word does not begin with it.
static bool take(struct realism_error *error, const char *prefix)
{
    size_t size = strlen(prefix);
    if (error->size < size || strncmp(error->name, prefix, size) != 0)
        return false;
    error->name += size;
    error->size -= size;
    return true;
}

bool realism_next(const char **list, struct realism_error *ret_error)
{
    const char *word = *list + strspn(*list, " ");
    size_t size = strcspn(word, " ");
    if (size == 0)
        return false;
    *list = word + size;
    struct realism_error error = {.name = word, .size = size};
    for (unsigned i = REALISM_NOTHING + 1; i < REALISM_NEEDS; i++)
        if (take(&error, needs[i]))
            error.need = i;
    error.conditional = take(&error, "if:");
    error.lasting = take(&error, "lasting:");
    error.is_short = error.size == 5 && memcmp(error.name, "short", 5) == 0;
    if (*error.name == '-' || error.is_short)
        error.size = 0;
    *ret_error = error;
    return true;
}

void realism_action(const struct realism *row, const struct realism_error *error,
                    char action[REALISM_ACTION])
{
    bool is_error = strcmp(row->result, "errno") == 0;
    if (error->is_short)
        strcpy(action, "short 1"); // half of a large buffer may be more than there is
    else
        snprintf(action, REALISM_ACTION, "%s%s%.*s", is_error ? "" : row->result,
                 is_error || error->size == 0 ? "" : "/", (int)error->size, error->name);
}

bool realism_put_condition(const struct realism *row, const struct realism_error *error,
                           unsigned descriptor, char condition[REALISM_CONDITION_SIZE])
{
    const char *own = error->conditional ? realism_condition(row) : NULL;
    bool tested = realism_test(error->need) != NULL && descriptor != 0;
    char test[24] = "";
    if (tested)
        snprintf(test, sizeof test, "fd(%u).%s", descriptor, realism_test(error->need));
    snprintf(condition, REALISM_CONDITION_SIZE, "%s%s%s", test,
             tested && own != NULL ? " and " : "", own != NULL ? own : "");
    return condition[0] != '\0';
}

bool realism_is_system(const char *library)
{
    return wire_is_system(file_base_name(library));
}
