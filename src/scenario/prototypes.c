// SPDX-License-Identifier: GPL-3.0-or-later
// The table of common functions of the C library and their arguments. It gives arg(n) its width,
// path(n) its meaning, `short` its count and the journal its strings. It lists only integer and
// pointer arguments, as letters of enum prototype_kind; of varargs functions, those worth showing.
// The last column is what the function returns when it fails with an errno. It is sorted by byte
// value, as a test checks, so that a look-up is a binary search.
#include "scenario/tables.h"
#include "wire/name-regex.h"

#include <stdlib.h>
#include <string.h>

const char PROTOTYPE_ERRNO[] = "errno";

// clang-format off
static const struct prototype prototypes[] = {
    {"_IO_file_write", "**z", 0, "0"},
    {"__open64_2", "pi", 0, "-1"},
    {"__open_2", "pi", 0, "-1"},
    {"__recv_chk", "f*zzi", 3, "-1"},
    {"__recvfrom_chk", "f*zzi*", 3, "-1"},
    {"abort", "", 0, NULL},
    {"accept", "f**", 0, "-1"},
    {"accept4", "f**i", 0, "-1"},
    {"access", "pi", 0, "-1"},
    {"acct", "p", 0, "-1"},
    {"adjtime", "**", 0, "-1"},
    {"alarm", "u", 0, NULL},
    {"aligned_alloc", "zz", 0, "NULL"},
    {"asprintf", "*s", 0, "-1"},
    {"atoi", "s", 0, NULL},
    {"bind", "f*u", 0, "-1"},
    {"brk", "*", 0, "-1"},
    {"calloc", "zz", 0, "NULL"},
    {"chdir", "p", 0, "-1"},
    {"chmod", "pu", 0, "-1"},
    {"chown", "puu", 0, "-1"},
    {"chroot", "p", 0, "-1"},
    {"clock_getres", "i*", 0, "-1"},
    {"clock_gettime", "i*", 0, "-1"},
    {"clock_nanosleep", "ii**", 0, PROTOTYPE_ERRNO},
    {"clock_settime", "i*", 0, "-1"},
    {"close", "f", 0, "-1"},
    {"closedir", "*", 0, "-1"},
    {"connect", "f*u", 0, "-1"},
    {"copy_file_range", "f*f*zu", 5, "-1"},
    {"creat", "pu", 0, "-1"},
    {"creat64", "pu", 0, "-1"},
    {"dlclose", "*", 0, NULL},
    {"dlopen", "pi", 0, "NULL"},
    {"dlsym", "*s", 0, "NULL"},
    {"dup", "f", 0, "-1"},
    {"dup2", "ff", 0, "-1"},
    {"dup3", "ffi", 0, "-1"},
    {"epoll_create", "i", 0, "-1"},
    {"epoll_create1", "i", 0, "-1"},
    {"epoll_ctl", "fif*", 0, "-1"},
    {"epoll_pwait", "f*ii*", 3, "-1"},
    {"epoll_wait", "f*ii", 3, "-1"},
    {"eventfd", "ui", 0, "-1"},
    {"execl", "ps", 0, "-1"},
    {"execlp", "ss", 0, "-1"},
    {"execv", "p*", 0, "-1"},
    {"execve", "p**", 0, "-1"},
    {"execvp", "s*", 0, "-1"},
    {"explicit_bzero", "*z", 0, NULL},
    {"faccessat", "fpii", 0, "-1"},
    {"fallocate", "fill", 0, "-1"},
    {"fchdir", "f", 0, "-1"},
    {"fchmod", "fu", 0, "-1"},
    {"fchmodat", "fpui", 0, "-1"},
    {"fchown", "fuu", 0, "-1"},
    {"fchownat", "fpuui", 0, "-1"},
    {"fclose", "*", 0, "EOF"},
    {"fcntl", "fil", 0, "-1"},
    {"fdatasync", "f", 0, "-1"},
    {"fdopen", "fs", 0, "NULL"},
    {"fdopendir", "f", 0, "NULL"},
    {"feof", "*", 0, NULL},
    {"ferror", "*", 0, NULL},
    {"fflush", "*", 0, "EOF"},
    {"fgetc", "*", 0, "EOF"},
    {"fgetpos", "**", 0, "-1"},
    {"fgets", "*i*", 2, "NULL"},
    {"fgetxattr", "fs*z", 4, "-1"},
    {"fileno", "*", 0, "-1"},
    {"flock", "fi", 0, "-1"},
    {"fopen", "ps", 0, "NULL"},
    {"fopen64", "ps", 0, "NULL"},
    {"fork", "", 0, "-1"},
    {"fprintf", "*s", 0, "-1"},
    {"fputc", "i*", 0, "EOF"},
    {"fputs", "s*", 0, "EOF"},
    {"fread", "*zz*", 3, "0"},
    {"fread_unlocked", "*zz*", 3, "0"},
    {"free", "*", 0, NULL},
    {"freopen", "ps*", 0, "NULL"},
    {"freopen64", "ps*", 0, "NULL"},
    {"fscanf", "*s", 0, "-1"},
    {"fseek", "*li", 0, "-1"},
    {"fseeko", "*li", 0, "-1"},
    {"fsetpos", "**", 0, "-1"},
    {"fsetxattr", "fs*zi", 0, "-1"},
    {"fstat", "f*", 0, "-1"},
    {"fstat64", "f*", 0, "-1"},
    {"fstatat", "fp*i", 0, "-1"},
    {"fstatat64", "fp*i", 0, "-1"},
    {"fstatfs", "f*", 0, "-1"},
    {"fstatvfs", "f*", 0, "-1"},
    {"fsync", "f", 0, "-1"},
    {"ftell", "*", 0, "-1"},
    {"ftello", "*", 0, "-1"},
    {"ftruncate", "fl", 0, "-1"},
    {"ftruncate64", "fl", 0, "-1"},
    {"futimens", "f*", 0, "-1"},
    {"fwrite", "*zz*", 3, "0"},
    {"fwrite_unlocked", "*zz*", 3, "0"},
    {"getaddrinfo", "ss**", 0, "EAI_SYSTEM"},
    {"getc", "*", 0, "EOF"},
    {"getcwd", "*z", 0, "NULL"},
    {"getdelim", "**i*", 0, "-1"},
    {"getegid", "", 0, NULL},
    {"getenv", "s", 0, "NULL"},
    {"geteuid", "", 0, NULL},
    {"getgid", "", 0, NULL},
    {"getgrgid", "u", 0, "NULL"},
    {"getgrnam", "s", 0, "NULL"},
    {"gethostbyname", "s", 0, "NULL"},
    {"gethostname", "*z", 0, "-1"},
    {"getline", "***", 0, "-1"},
    {"getnameinfo", "*u*u*u", 0, "EAI_SYSTEM"},
    {"getpeername", "f**", 0, "-1"},
    {"getpid", "", 0, NULL},
    {"getppid", "", 0, NULL},
    {"getpwnam", "s", 0, "NULL"},
    {"getpwuid", "u", 0, "NULL"},
    {"getrandom", "*zu", 2, "-1"},
    {"getrlimit", "i*", 0, "-1"},
    {"getrusage", "i*", 0, "-1"},
    {"getsockname", "f**", 0, "-1"},
    {"getsockopt", "fii**", 0, "-1"},
    {"gettimeofday", "**", 0, "-1"},
    {"getuid", "", 0, NULL},
    {"getxattr", "ps*z", 4, "-1"},
    {"inotify_add_watch", "fpu", 0, "-1"},
    {"inotify_init", "", 0, "-1"},
    {"inotify_init1", "i", 0, "-1"},
    {"ioctl", "fz*", 0, "-1"},
    {"kill", "ii", 0, "-1"},
    {"lchown", "puu", 0, "-1"},
    {"link", "pp", 0, "-1"},
    {"linkat", "fpfpi", 0, "-1"},
    {"listen", "fi", 0, "-1"},
    {"listxattr", "p*z", 3, "-1"},
    {"localtime", "*", 0, "NULL"},
    {"localtime_r", "**", 0, "NULL"},
    {"lseek", "fli", 0, "-1"},
    {"lseek64", "fli", 0, "-1"},
    {"lstat", "p*", 0, "-1"},
    {"lstat64", "p*", 0, "-1"},
    {"madvise", "*zi", 0, "-1"},
    {"malloc", "z", 0, "NULL"},
    {"memalign", "zz", 0, "NULL"},
    {"memfd_create", "su", 0, "-1"},
    {"mkdir", "pu", 0, "-1"},
    {"mkdirat", "fpu", 0, "-1"},
    {"mkdtemp", "p", 0, "NULL"},
    {"mkfifo", "pu", 0, "-1"},
    {"mknod", "puz", 0, "-1"},
    {"mkostemp", "pi", 0, "-1"},
    {"mkstemp", "p", 0, "-1"},
    {"mkstemp64", "p", 0, "-1"},
    {"mktime", "*", 0, "-1"},
    {"mlock", "*z", 0, "-1"},
    {"mmap", "*ziifl", 0, "MAP_FAILED"},
    {"mmap64", "*ziifl", 0, "MAP_FAILED"},
    {"mount", "ppsz*", 0, "-1"},
    {"mprotect", "*zi", 0, "-1"},
    {"mremap", "*zzi", 0, "MAP_FAILED"},
    {"msgget", "ii", 0, "-1"},
    {"msync", "*zi", 0, "-1"},
    {"munmap", "*z", 0, "-1"},
    {"nanosleep", "**", 0, "-1"},
    {"open", "piu", 0, "-1"},
    {"open64", "piu", 0, "-1"},
    {"openat", "fpiu", 0, "-1"},
    {"openat64", "fpiu", 0, "-1"},
    {"opendir", "p", 0, "NULL"},
    {"pathconf", "pi", 0, "-1"},
    {"pause", "", 0, "-1"},
    {"pclose", "*", 0, "-1"},
    {"perror", "s", 0, NULL},
    {"pipe", "*", 0, "-1"},
    {"pipe2", "*i", 0, "-1"},
    {"poll", "*zi", 0, "-1"},
    {"popen", "ss", 0, "NULL"},
    {"posix_fadvise", "flli", 0, PROTOTYPE_ERRNO},
    {"posix_fallocate", "fll", 0, PROTOTYPE_ERRNO},
    {"posix_memalign", "*zz", 0, PROTOTYPE_ERRNO},
    {"posix_spawn", "*p****", 0, PROTOTYPE_ERRNO},
    {"posix_spawnp", "*s****", 0, PROTOTYPE_ERRNO},
    {"ppoll", "*z**", 0, "-1"},
    {"pread", "f*zl", 3, "-1"},
    {"pread64", "f*zl", 3, "-1"},
    {"preadv", "f*il", 3, "-1"},
    {"printf", "s", 0, "-1"},
    {"pselect", "i*****", 0, "-1"},
    {"pthread_attr_init", "*", 0, PROTOTYPE_ERRNO},
    {"pthread_barrier_wait", "*", 0, PROTOTYPE_ERRNO},
    {"pthread_cancel", "z", 0, PROTOTYPE_ERRNO},
    {"pthread_cond_broadcast", "*", 0, PROTOTYPE_ERRNO},
    {"pthread_cond_init", "**", 0, PROTOTYPE_ERRNO},
    {"pthread_cond_signal", "*", 0, PROTOTYPE_ERRNO},
    {"pthread_cond_timedwait", "***", 0, PROTOTYPE_ERRNO},
    {"pthread_cond_wait", "**", 0, PROTOTYPE_ERRNO},
    {"pthread_create", "****", 0, PROTOTYPE_ERRNO},
    {"pthread_detach", "z", 0, PROTOTYPE_ERRNO},
    {"pthread_join", "z*", 0, PROTOTYPE_ERRNO},
    {"pthread_key_create", "**", 0, PROTOTYPE_ERRNO},
    {"pthread_mutex_destroy", "*", 0, PROTOTYPE_ERRNO},
    {"pthread_mutex_init", "**", 0, PROTOTYPE_ERRNO},
    {"pthread_mutex_lock", "*", 0, PROTOTYPE_ERRNO},
    {"pthread_mutex_timedlock", "**", 0, PROTOTYPE_ERRNO},
    {"pthread_mutex_trylock", "*", 0, PROTOTYPE_ERRNO},
    {"pthread_mutex_unlock", "*", 0, PROTOTYPE_ERRNO},
    {"pthread_once", "**", 0, PROTOTYPE_ERRNO},
    {"pthread_rwlock_rdlock", "*", 0, PROTOTYPE_ERRNO},
    {"pthread_rwlock_unlock", "*", 0, PROTOTYPE_ERRNO},
    {"pthread_rwlock_wrlock", "*", 0, PROTOTYPE_ERRNO},
    {"pthread_setspecific", "u*", 0, PROTOTYPE_ERRNO},
    {"pthread_sigmask", "i**", 0, PROTOTYPE_ERRNO},
    {"ptrace", "ii**", 0, "-1"},
    {"putc", "i*", 0, "EOF"},
    {"putenv", "s", 0, "-1"},
    {"puts", "s", 0, "EOF"},
    {"pwrite", "f*zl", 3, "-1"},
    {"pwrite64", "f*zl", 3, "-1"},
    {"pwritev", "f*il", 3, "-1"},
    {"raise", "i", 0, "-1"},
    {"read", "f*z", 3, "-1"},
    {"readdir", "*", 0, "NULL"},
    {"readdir64", "*", 0, "NULL"},
    {"readlink", "p*z", 3, "-1"},
    {"readlinkat", "fp*z", 4, "-1"},
    {"readv", "f*i", 3, "-1"},
    {"realloc", "*z", 0, "NULL"},
    {"reallocarray", "*zz", 0, "NULL"},
    {"realpath", "p*", 0, "NULL"},
    {"recv", "f*zi", 3, "-1"},
    {"recvfrom", "f*zi**", 3, "-1"},
    {"recvmmsg", "f*ui*", 3, "-1"},
    {"recvmsg", "f*i", 0, "-1"},
    {"regcomp", "*si", 0, NULL},
    {"remove", "p", 0, "-1"},
    {"rename", "pp", 0, "-1"},
    {"renameat", "fpfp", 0, "-1"},
    {"renameat2", "fpfpu", 0, "-1"},
    {"rewind", "*", 0, NULL},
    {"rmdir", "p", 0, "-1"},
    {"scandir", "p***", 0, "-1"},
    {"sched_setaffinity", "iz*", 0, "-1"},
    {"sched_yield", "", 0, NULL},
    {"select", "i****", 0, "-1"},
    {"sem_init", "*iu", 0, "-1"},
    {"sem_open", "siuu", 0, "NULL"},
    {"sem_post", "*", 0, "-1"},
    {"sem_trywait", "*", 0, "-1"},
    {"sem_wait", "*", 0, "-1"},
    {"semget", "iii", 0, "-1"},
    {"send", "f*zi", 3, "-1"},
    {"sendfile", "ff*z", 4, "-1"},
    {"sendfile64", "ff*z", 4, "-1"},
    {"sendmmsg", "f*ui", 3, "-1"},
    {"sendmsg", "f*i", 0, "-1"},
    {"sendto", "f*zi*u", 3, "-1"},
    {"setegid", "u", 0, "-1"},
    {"setenv", "ssi", 0, "-1"},
    {"seteuid", "u", 0, "-1"},
    {"setgid", "u", 0, "-1"},
    {"setgroups", "z*", 0, "-1"},
    {"setitimer", "i**", 0, "-1"},
    {"setlocale", "is", 0, "NULL"},
    {"setpgid", "ii", 0, "-1"},
    {"setpriority", "iui", 0, "-1"},
    {"setrlimit", "i*", 0, "-1"},
    {"setsid", "", 0, "-1"},
    {"setsockopt", "fii*u", 0, "-1"},
    {"setuid", "u", 0, "-1"},
    {"setvbuf", "**iz", 0, NULL},
    {"setxattr", "ps*zi", 0, "-1"},
    {"shm_open", "siu", 0, "-1"},
    {"shm_unlink", "s", 0, "-1"},
    {"shmat", "i*i", 0, "-1"},
    {"shmget", "izi", 0, "-1"},
    {"shutdown", "fi", 0, "-1"},
    {"sigaction", "i**", 0, "-1"},
    {"signal", "i*", 0, "SIG_ERR"},
    {"signalfd", "f*i", 0, "-1"},
    {"sigprocmask", "i**", 0, "-1"},
    {"sleep", "u", 0, NULL},
    {"snprintf", "*zs", 0, "-1"},
    {"socket", "iii", 0, "-1"},
    {"socketpair", "iii*", 0, "-1"},
    {"splice", "f*f*zu", 5, "-1"},
    {"sprintf", "*s", 0, "-1"},
    {"sscanf", "ss", 0, "-1"},
    {"stat", "p*", 0, "-1"},
    {"stat64", "p*", 0, "-1"},
    {"statfs", "p*", 0, "-1"},
    {"statvfs", "p*", 0, "-1"},
    {"statx", "fpiu*", 0, "-1"},
    {"strdup", "s", 0, "NULL"},
    {"strndup", "sz", 0, "NULL"},
    {"strtol", "s*i", 0, NULL},
    {"strtoul", "s*i", 0, NULL},
    {"symlink", "pp", 0, "-1"},
    {"symlinkat", "pfp", 0, "-1"},
    {"sync", "", 0, NULL},
    {"syncfs", "f", 0, "-1"},
    {"sysconf", "i", 0, "-1"},
    {"syslog", "is", 0, NULL},
    {"system", "s", 0, "-1"},
    {"tcgetattr", "f*", 0, "-1"},
    {"tcsetattr", "fi*", 0, "-1"},
    {"time", "*", 0, "-1"},
    {"timer_create", "i**", 0, "-1"},
    {"timer_settime", "zi**", 0, "-1"},
    {"timerfd_create", "ii", 0, "-1"},
    {"timerfd_settime", "fi**", 0, "-1"},
    {"tmpfile", "", 0, "NULL"},
    {"truncate", "pl", 0, "-1"},
    {"truncate64", "pl", 0, "-1"},
    {"umask", "u", 0, NULL},
    {"umount", "p", 0, "-1"},
    {"umount2", "pi", 0, "-1"},
    {"uname", "*", 0, "-1"},
    {"ungetc", "i*", 0, "EOF"},
    {"unlink", "p", 0, "-1"},
    {"unlinkat", "fpi", 0, "-1"},
    {"unsetenv", "s", 0, "-1"},
    {"usleep", "u", 0, "-1"},
    {"utime", "p*", 0, "-1"},
    {"utimensat", "fp*i", 0, "-1"},
    {"utimes", "p*", 0, "-1"},
    {"valloc", "z", 0, "NULL"},
    {"vasprintf", "*s*", 0, "-1"},
    {"vfork", "", 0, "-1"},
    {"vfprintf", "*s*", 0, "-1"},
    {"vprintf", "s*", 0, "-1"},
    {"vsnprintf", "*zs*", 0, "-1"},
    {"vsprintf", "*s*", 0, "-1"},
    {"wait", "*", 0, "-1"},
    {"wait3", "*i*", 0, "-1"},
    {"wait4", "i*i*", 0, "-1"},
    {"waitid", "iu*i*", 0, "-1"},
    {"waitpid", "i*i", 0, "-1"},
    {"write", "f*z", 3, "-1"},
    {"writev", "f*i", 3, "-1"},
};
// clang-format on

size_t prototype_count(void)
{
    return sizeof prototypes / sizeof *prototypes;
}

const struct prototype *prototype_at(size_t index)
{
    return &prototypes[index];
}

const struct prototype *prototype_find(const char *name)
{
    size_t low = 0, high = prototype_count();
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(prototypes[middle].name, name);
        if (order == 0)
            return &prototypes[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

int64_t prototype_failure_value(const char *failure, int error)
{
    if (failure == PROTOTYPE_ERRNO)
        return error;
    const struct constant *constant = constant_find(failure, strlen(failure));
    return constant != NULL ? constant->value : strtoll(failure, NULL, 10);
}

static bool is_same_failure(const char *a, const char *b)
{
    if (a == PROTOTYPE_ERRNO || b == PROTOTYPE_ERRNO)
        return a == b;
    return prototype_failure_value(a, 0) == prototype_failure_value(b, 0);
}

bool prototype_failure(const char *pattern, const char **ret_failure)
{
    bool is_errno = strncmp(pattern, "pthread_", 8) == 0 || strncmp(pattern, "posix_", 6) == 0;
    *ret_failure = is_errno ? PROTOTYPE_ERRNO : NULL;
    const struct prototype *exact = prototype_find(pattern);
    if (exact != NULL)
        *ret_failure = exact->failure;
    if (is_errno || (!wire_is_regex(pattern) && strpbrk(pattern, "*?[") == NULL))
        return true;
    for (size_t i = 0; i < prototype_count(); i++) {
        const char *failure = prototypes[i].failure;
        if (failure == NULL || !function_pattern_fits(pattern, false, prototypes[i].name))
            continue;
        if (*ret_failure != NULL && !is_same_failure(*ret_failure, failure))
            return false;
        *ret_failure = failure;
    }
    return true;
}

// Checks only whether the value is of the right kind: a pointer, a size, an errno. A number of the
// right kind may be what the user wants: read=0 is the end of a file.
const char *prototype_impossible_result(const char *function, uint64_t value)
{
    const struct prototype *prototype = prototype_find(function);
    const char *failure = prototype != NULL ? prototype->failure : NULL;
    int64_t number = (int64_t)value;
    bool impossible = false;
    if (failure == NULL)
        return NULL;
    if (failure == PROTOTYPE_ERRNO)
        impossible = number < 0;
    else if (strcmp(failure, "NULL") == 0)
        impossible = number != 0 && number >= -4096 && number < 4096; // no address
    else if (strcmp(failure, "MAP_FAILED") == 0)
        impossible = number == 0;
    else if (strcmp(failure, "0") == 0)
        impossible = number < 0;
    if (!impossible)
        return NULL;
    return failure == PROTOTYPE_ERRNO ? "an errno" : failure;
}

char prototype_argument(const struct prototype *prototype, unsigned number)
{
    if (prototype == NULL || number == 0 || number > strlen(prototype->arguments))
        return 0;
    return prototype->arguments[number - 1];
}

const char *prototype_kind_text(char kind)
{
    switch ((enum prototype_kind)kind) {
    case PROTOTYPE_INT:
        return "an int";
    case PROTOTYPE_UNSIGNED:
        return "an unsigned int";
    case PROTOTYPE_LONG:
        return "a long";
    case PROTOTYPE_SIZE:
        return "a size";
    case PROTOTYPE_FD:
        return "a descriptor";
    case PROTOTYPE_PATH:
        return "a path";
    case PROTOTYPE_STRING:
        return "a string";
    case PROTOTYPE_POINTER:
        return "a pointer";
    }
    return "unknown";
}
