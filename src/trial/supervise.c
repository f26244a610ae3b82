// SPDX-License-Identifier: GPL-3.0-or-later
// Starts the command, waits for its whole process tree and kills it after the timeout. This process
// becomes a subreaper: daemons of the trial become its children and cannot escape, and the trial is
// over when there is no child left.
#include "trial/supervise.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/processes.h"
#include "base/timeouts.h"
#include "wire/region.h"

#include <errno.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void watched_signals(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGCHLD);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGQUIT);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGHUP);
}

struct error *supervise_signals_take(struct supervise_signals *ret_saved)
{
    sigset_t watched;
    watched_signals(&watched);
    *ret_saved = (struct supervise_signals){0};
    int code = pthread_sigmask(SIG_BLOCK, &watched, &ret_saved->mask);
    if (code != 0)
        return error_from_errno(code, "cannot block signals");
    // If SIGCHLD were ignored, the kernel would reap children itself, and their status were lost.
    struct sigaction standard = {.sa_handler = SIG_DFL}, ignore = {.sa_handler = SIG_IGN};
    if (sigaction(SIGCHLD, &standard, &ret_saved->child) == 0 &&
        sigaction(SIGPIPE, &ignore, &ret_saved->pipe) == 0 &&
        sigaction(SIGXFSZ, &ignore, &ret_saved->size) == 0)
        return NULL;
    struct error *error = error_from_errno(errno, "cannot change what signals do");
    supervise_signals_restore(ret_saved);
    return error;
}

void supervise_signals_restore(const struct supervise_signals *saved)
{
    sigaction(SIGCHLD, &saved->child, NULL);
    sigaction(SIGPIPE, &saved->pipe, NULL);
    sigaction(SIGXFSZ, &saved->size, NULL);
    sigprocmask(SIG_SETMASK, &saved->mask, NULL);
}

// What follows runs in the child, which shares our memory until exec: only system calls here.

#define PERSONALITY_ASK 0xffffffffu

// As runtime/process/started.c does it for what the command starts; the runtime undoes it.
static void raise_stack_limit(uint64_t ret_limits[2])
{
    struct rlimit now, raised;
    if (getrlimit(RLIMIT_STACK, &now) < 0 || now.rlim_cur >= WIRE_SMALL_STACK)
        return;
    raised = (struct rlimit){now.rlim_cur + WIRE_SMALL_STACK, now.rlim_max};
    if (raised.rlim_max < raised.rlim_cur)
        raised.rlim_max = raised.rlim_cur;
    int before;
    if (setrlimit(RLIMIT_STACK, &raised) == 0) {
        ret_limits[0] = now.rlim_cur;
        ret_limits[1] = now.rlim_max;
    } else if ((before = personality(PERSONALITY_ASK)) >= 0 &&
               personality((unsigned)before | ADDR_NO_RANDOMIZE) >= 0) {
        ret_limits[1] = (uint64_t)before + 1;
    }
}

__attribute__((noreturn)) static void child(char *const *command, char *const *environment,
                                            const struct supervise_signals *signals,
                                            uint64_t *ret_limits, pid_t parent,
                                            volatile int *ret_code)
{
    // The command must not outlive a controller that is killed.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    long now = syscall(SYS_getppid); // a preloaded library may replace getppid()
    if (now > 0 && now != parent)
        _exit(127);
    supervise_signals_restore(signals);
    raise_stack_limit(ret_limits);
    execvpe(command[0], command, environment);
    *ret_code = errno;
    _exit(127);
}

struct error *supervise_start(char *const *command, char *const *environment,
                              const struct supervise_signals *signals, uint64_t ret_limits[2],
                              pid_t *ret_pid)
{
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
        return error_from_errno(errno, "cannot adopt the processes of the trial");
    volatile int code = 0;
    pid_t parent = getpid();
    pid_t pid = vfork();
    if (pid == 0)
        child(command, environment, signals, ret_limits, parent, &code);
    if (pid < 0)
        return error_from_errno(errno, "cannot start a process");
    if (code != 0) {
        waitpid(pid, NULL, 0);
        return error_from_errno(code, "cannot run %s", command[0]);
    }
    *ret_pid = pid;
    return NULL;
}

struct watch {
    pid_t command;
    bool command_gone, all_gone;
    unsigned interrupts; // requests to stop after the command had ended
    int status;
    uint64_t start_ns, end_ns;
};

static void reap(struct watch *watch)
{
    for (;;) {
        int status;
        pid_t pid = waitpid(-1, &status, WNOHANG);
        if (pid < 0 && errno == EINTR)
            continue;
        if (pid < 0)
            watch->all_gone = true; // ECHILD
        if (pid <= 0)
            return;
        if (pid == watch->command) {
            watch->command_gone = true;
            watch->status = status;
            watch->end_ns = clock_ns();
        }
    }
}

size_t supervise_kill(void)
{
    uint64_t deadline_ns = clock_ns() + KILL_WAIT_NS;
    for (;;) {
        size_t count = 0, refused = 0;
        error_free(processes_signal(SIGKILL, NULL, &count, &refused));
        for (;;) {
            pid_t pid = waitpid(-1, NULL, WNOHANG);
            if (pid < 0 && errno == ECHILD)
                return 0;
            if (pid <= 0)
                break;
        }
        if ((count != 0 && refused == count) || clock_ns() > deadline_ns)
            return count != 0 ? count : 1; // waitpid() knows of a child, even if /proc shows none
        clock_sleep(KILL_RUN_PAUSE_NS);
    }
}

// The terminal sends its signals to the command itself; we pass on what others send to us. When
// only daemons are left, the first request sends them SIGTERM and every further one SIGKILL.
static void pass_on(struct watch *watch, const siginfo_t *signal)
{
    if (!watch->command_gone) {
        if (signal->si_code <= 0 || signal->si_signo == SIGTERM || signal->si_signo == SIGHUP)
            kill(watch->command, signal->si_signo);
        return;
    }
    size_t count, refused;
    error_free(
        processes_signal(watch->interrupts++ == 0 ? SIGTERM : SIGKILL, NULL, &count, &refused));
}

// Waits for a signal, or until the deadline; 0: there is none. False when it has passed.
static bool wait_signal(struct watch *watch, uint64_t deadline_ns)
{
    sigset_t watched;
    watched_signals(&watched);
    struct timespec left = {.tv_sec = 3600}; // without a deadline; the caller waits again
    if (deadline_ns != 0) {
        uint64_t now_ns = clock_ns();
        if (now_ns >= deadline_ns)
            return false;
        left = clock_timespec(deadline_ns - now_ns);
    }
    siginfo_t signal;
    if (sigtimedwait(&watched, &signal, &left) > 0 && signal.si_signo != SIGCHLD)
        pass_on(watch, &signal);
    return true;
}

static struct outcome conclude(const struct watch *watch)
{
    bool killed = WIFSIGNALED(watch->status);
    return (struct outcome){
        .kind = killed ? WIRE_OUTCOME_SIGNAL : WIRE_OUTCOME_EXIT,
        .status = killed ? WTERMSIG(watch->status) : WEXITSTATUS(watch->status),
        .ns = watch->end_ns - watch->start_ns,
    };
}

struct error *supervise_wait(pid_t pid, const struct supervise_options *options,
                             struct outcome *ret_outcome)
{
    struct watch watch = {.command = pid, .start_ns = options->start_ns};
    uint64_t deadline_ns = options->timeout_ns == 0 ? 0 : watch.start_ns + options->timeout_ns;
    uint64_t moment_ns = watch.start_ns + RESERVE_WAIT_NS;
    if (deadline_ns < options->timeout_ns) // the sum overflowed: never
        deadline_ns = 0;
    for (reap(&watch); !watch.all_gone; reap(&watch)) {
        bool early = moment_ns != 0 && (deadline_ns == 0 || moment_ns < deadline_ns);
        if (wait_signal(&watch, early ? moment_ns : deadline_ns))
            continue;
        if (early) {
            moment_ns = 0;
            struct error *error = options->settled(options->data);
            if (error != NULL) {
                supervise_kill();
                return error;
            }
            continue;
        }
        uint64_t ns = clock_ns() - watch.start_ns;
        *ret_outcome =
            (struct outcome){.kind = WIRE_OUTCOME_TIMEOUT, .ns = ns, .left_over = supervise_kill()};
        return NULL;
    }
    if (!watch.command_gone)
        return error_new("the command ended, but somebody else took its exit status");
    *ret_outcome = conclude(&watch);
    return NULL;
}
