// SPDX-License-Identifier: GPL-3.0-or-later
// Starts commands by clone and exec. In between, the child runs in our memory, on a stack of its
// own, while we are suspended. So it may use system calls only, and change no memory of ours but
// `code` and `what`.
#include "sandbox/spawn.h"

#include "base/cleanup.h"
#include "base/thread.h"
#include "sandbox/message.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define PERSONALITY_ASK 0xffffffffu
#define STACK_SIZE      (64 * 1024)
#define SHARED          3 // the descriptor that a function inside gets
#define OOM_SCORE       500
#define OOM_TEXT        "500"

struct start {
    const struct spawn *spawn;
    const char *path; // value of PATH
    char **shell;     // /bin/sh COMMAND ARGUMENTS…, for scripts without #!
    pid_t parent;
    volatile int code; // errno of the step that failed
    const char *volatile what;
};

void spawn_be_ended_first(void)
{
    static const char path[] = "/proc/self/oom_score_adj";
    char before[16] = "";
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0)
        return;
    if (pread(file, before, sizeof before - 1, 0) > 0 && atoi(before) < OOM_SCORE &&
        pwrite(file, OOM_TEXT, sizeof OOM_TEXT - 1, 0) < 0)
        errno = 0; // the kernel will choose without our advice
    close(file);
}

static bool limit_resources(const struct sandbox_limits *limits)
{
    // The core limit is 1 and not 0: the kernel runs a core handler that is a program despite a
    // limit of 0, but not with a limit of 1. Processor time has a second of grace: at the hard
    // limit the kernel sends SIGKILL, which does not tell why.
    struct {
        int resource;
        bool wanted;
        uint64_t value, grace;
    } table[] = {
        {RLIMIT_CORE, !limits->core, 1, 0},
        {RLIMIT_CPU, limits->cpu_s != 0, limits->cpu_s, 1},
        {RLIMIT_FSIZE, limits->file_bytes != 0, limits->file_bytes, 0},
        {RLIMIT_NPROC, limits->processes != 0, limits->processes, 0},
        {RLIMIT_DATA, limits->memory_bytes != 0, limits->memory_bytes, 0},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct rlimit limit;
        if (!table[i].wanted)
            continue;
        if (getrlimit(table[i].resource, &limit) < 0)
            return false;
        if (limit.rlim_max > table[i].value + table[i].grace)
            limit.rlim_max = table[i].value + table[i].grace;
        limit.rlim_cur = limit.rlim_max < table[i].value ? limit.rlim_max : table[i].value;
        if (setrlimit(table[i].resource, &limit) < 0)
            return false;
    }
    return true;
}

// The kernel's struct of rt_sigaction. The C library hides two signals, which a parent may have
// ignored.
struct disposition {
    void *handler;
    unsigned long flags;
    void *restorer;
    unsigned long mask;
};

struct spawn_signals spawn_signals(bool attached)
{
    uint64_t ignored = 0, mask = 0;
    for (int signal = 1; signal < 65; signal++) {
        struct disposition now = {0};
        if (syscall(SYS_rt_sigaction, signal, NULL, &now, sizeof now.mask) == 0 &&
            now.handler == (void *)SIG_IGN)
            ignored |= 1ull << (signal - 1);
    }
    if (!attached)
        return (struct spawn_signals){.standard = ignored};
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, NULL, &mask, sizeof mask);
    // What this process and those of the sandbox ignore later is not meant for the command.
    return (struct spawn_signals){.standard = ~ignored, .ignored = ignored, .mask = mask};
}

static void set_signals(uint64_t signals, const struct disposition *disposition)
{
    for (; signals != 0; signals &= signals - 1)
        syscall(SYS_rt_sigaction, __builtin_ctzll(signals) + 1, disposition, NULL,
                sizeof disposition->mask);
}

void spawn_set_signals(const struct spawn_signals *signals)
{
    const struct disposition standard = {0}, ignore = {.handler = (void *)SIG_IGN};
    set_signals(signals->standard, &standard);
    set_signals(signals->ignored, &ignore);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &signals->mask, NULL, sizeof signals->mask);
}

// Moves `from` to `to`. No descriptor that is still to be moved may be at `to`: all are above 2.
static bool place(int from, int to)
{
    return from == to ? fcntl(to, F_SETFD, 0) == 0 : dup2(from, to) == to;
}

static bool place_streams(const struct spawn *spawn)
{
    int input = spawn->input, output = fcntl(spawn->output, F_DUPFD_CLOEXEC, SHARED);
    int errors = fcntl(spawn->errors, F_DUPFD_CLOEXEC, SHARED);
    input =
        input < 0 ? open("/dev/null", O_RDONLY | O_CLOEXEC) : fcntl(input, F_DUPFD_CLOEXEC, SHARED);
    if (input < 0 || output < 0 || errors < 0)
        return false;
    if (!place(input, 0) || !place(output, 1) || !place(errors, 2))
        return false;
    if (spawn->inside == NULL && spawn->attached)
        return true; // exec closes what is not the user's
    if (spawn->inside == NULL)
        return syscall(SYS_close_range, (unsigned)SHARED, ~0u, 0u) == 0;
    return (spawn->shared == SHARED || dup2(spawn->shared, SHARED) == SHARED) &&
           fcntl(SHARED, F_SETFD, FD_CLOEXEC) == 0 &&
           syscall(SYS_close_range, SHARED + 1u, ~0u, 0u) == 0;
}

// What execvp() does, for an environment that is not ours. Returns if nothing could be executed.
static void execute(const struct start *start)
{
    const struct spawn *spawn = start->spawn;
    const char *name = spawn->command[0];
    int worst = ENOENT;
    char full[PATH_MAX];
    bool search = strchr(name, '/') == NULL && name[0] != '\0';
    for (const char *at = search ? start->path : ""; at != NULL;) {
        const char *end = strchrnul(at, ':');
        size_t size = (size_t)(end - at), length = strlen(name);
        if (size + length + 2 <= sizeof full) {
            memcpy(full, at, size);
            if (size != 0)
                full[size++] = '/';
            memcpy(full + size, name, length + 1);
            execve(full, spawn->command, spawn->environment);
            if (errno == ENOEXEC) {
                start->shell[1] = full;
                execve("/bin/sh", start->shell, spawn->environment);
            }
            if (errno != ENOENT && errno != ENOTDIR)
                worst = errno;
        }
        at = *end == ':' ? end + 1 : NULL;
    }
    errno = worst;
}

static const char *prepare(const struct start *start)
{
    const struct spawn *spawn = start->spawn;
    if (spawn->mortal && prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
        return "tie a process to its parent";
    for (const int *group = spawn->groups; group != NULL && *group >= 0; group++)
        if (pwrite(*group, "0", 1, 0) != 1)
            return "enter the control group";
    if (spawn->directory != NULL && chdir(spawn->directory) < 0)
        return "enter the working directory";
    if (!spawn->attached)
        syscall(SYS_setsid); // fails harmlessly if it leads a session already
    if (spawn->announce >= 0 && !message_announce(spawn->announce))
        return "announce the process";
    if (!place_streams(spawn))
        return "set up standard streams";
    if (spawn->terminal && ioctl(0, TIOCSCTTY, 0) < 0)
        return "set up the terminal";
    if (spawn->fixed_addresses) // where that is forbidden, they stay random
        personality((unsigned long)personality(PERSONALITY_ASK) | ADDR_NO_RANDOMIZE);
    spawn_be_ended_first();
    if (!limit_resources(&spawn->limits))
        return "limit resources";
    spawn_set_signals(&spawn->signals);
    return NULL;
}

static int child(void *data)
{
    struct start *start = data;
    const char *failed = prepare(start);
    long parent = start->spawn->mortal ? syscall(SYS_getppid) : start->parent;
    if (parent != 0 && parent != start->parent)
        _exit(127);
    if (failed == NULL) {
        execute(start);
        failed = "run";
    }
    start->code = errno;
    start->what = failed;
    _exit(127);
}

static const char *search_path(char *const *environment)
{
    for (; *environment != NULL; environment++)
        if (**environment == 'P' && strncmp(*environment, "PATH=", 5) == 0)
            return *environment + 5;
    return "/usr/local/bin:/usr/bin:/bin";
}

static struct error *shell_command(char *const *command, char ***ret_shell)
{
    size_t count = 0;
    while (command[count] != NULL)
        count++;
    if (count == 0)
        return error_new("there is no command to run");
    char **shell = calloc(count + 2, sizeof *shell);
    if (shell == NULL)
        return error_no_memory();
    shell[0] = (char *)"/bin/sh";
    // shell[1] is the path, filled in when it is known.
    memcpy(shell + 2, command + 1, (count - 1) * sizeof *shell);
    *ret_shell = shell;
    return NULL;
}

// Starts a function of ours. It needs memory of its own, so this is a real fork.
static struct error *start_function(const struct spawn *spawn, pid_t *ret_pid, int *ret_handle)
{
    const struct start start = {.spawn = spawn, .parent = (pid_t)syscall(SYS_getpid)};
    int prepared[2]; // its end in the child is closed with everything else, when it is prepared
    if (pipe2(prepared, O_CLOEXEC) < 0)
        return error_from_errno(errno, "cannot make a pipe");
    pid_t pid = fork();
    int failure = errno;
    close(pid == 0 ? prepared[0] : prepared[1]);
    if (pid < 0) {
        close(prepared[0]);
        return error_from_errno(failure, "cannot start a process");
    }
    if (pid == 0) {
        const char *failed = prepare(&start);
        long parent = spawn->mortal ? syscall(SYS_getppid) : start.parent;
        _exit(failed == NULL && (parent == 0 || parent == start.parent) ? spawn->inside(SHARED)
                                                                        : 127);
    }
    char byte;
    while (read(prepared[0], &byte, 1) < 0 && errno == EINTR)
        ;
    close(prepared[0]);
    int handle = (int)syscall(SYS_pidfd_open, pid, 0);
    if (handle < 0) {
        int code = errno;
        kill(pid, SIGKILL);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
        return error_from_errno(code, "cannot watch a process");
    }
    *ret_pid = pid;
    *ret_handle = handle;
    return NULL;
}

struct error *spawn_start(const struct spawn *spawn, pid_t *ret_pid, int *ret_handle)
{
    if (spawn->inside != NULL)
        return start_function(spawn, ret_pid, ret_handle);
    _cleanup_free_ char **shell = NULL;
    _cleanup_free_ char *stack = malloc(STACK_SIZE);
    if (stack == NULL)
        return error_no_memory();
    TRY(shell_command(spawn->command, &shell));
    struct start start = {.spawn = spawn,
                          .path = search_path(spawn->environment),
                          .shell = shell,
                          .parent = (pid_t)syscall(SYS_getpid)};
    // No signal handler of ours may run in the child.
    sigset_t before;
    TRY(signals_block(&before));
    int handle = -1;
    pid_t pid = clone(child, stack + STACK_SIZE, CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD,
                      &start, &handle);
    int code = errno;
    signals_restore(&before);
    if (pid < 0)
        return error_from_errno(code, "cannot start a process");
    if (start.what != NULL) {
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
        close(handle);
        if (strcmp(start.what, "run") == 0)
            return error_from_errno(start.code, "cannot run %s", spawn->command[0]);
        return error_from_errno(start.code, "cannot %s of %s", start.what, spawn->command[0]);
    }
    *ret_pid = pid;
    *ret_handle = handle;
    return NULL;
}
