// SPDX-License-Identifier: GPL-3.0-or-later
// Runs the command as the only step of a sandbox run. The command shares our process group, so the
// terminal's signals reach it without our help; what others send to us is passed on.
#include "trial/sandboxed.h"

#include "base/cleanup.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SHOWN_CHANGES 1000 // paths that are kept; more are counted

static const int watched[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
#define WATCHED (sizeof watched / sizeof *watched)

struct sandboxed {
    struct trial *trial;
    struct supervise_signals signals;
    struct sigaction actions[WATCHED]; // that we had, if `handling`
    bool signals_taken, handling;
    struct error *error;
};

// For the signal handler. There is one such run at a time.
static struct {
    volatile int command; // pidfd, or -1
    volatile int stop;    // end what the command has left behind
} handled = {.command = -1};

static void handle(int number, siginfo_t *signal, void *context)
{
    int code = errno;
    bool passed = signal->si_code <= 0 || number == SIGTERM || number == SIGHUP;
    if (syscall(SYS_pidfd_send_signal, handled.command, passed ? number : 0, NULL, 0) < 0)
        handled.stop = 1;
    errno = code;
}

// Everything before the command may still be interrupted in the usual way.
static bool before(void *data, struct sandbox *sandbox)
{
    struct sandboxed *run = data;
    struct runtime_session *session = run->trial->session;
    const char *inside = sandbox_directory(sandbox);
    _cleanup_free_ char *here = getcwd(NULL, 0);
    if (here != NULL && strcmp(inside, here) != 0)
        run->error = runtime_session_map_path(session, inside, here);
    if (run->error == NULL)
        run->error = runtime_session_begin(session, sandbox_root(sandbox));
    if (run->error == NULL)
        run->error = supervise_signals_take(&run->signals);
    run->signals_taken = run->error == NULL;
    return run->error == NULL;
}

static uint64_t started(void *data, pid_t pid)
{
    struct sandboxed *run = data;
    sigset_t set;
    sigemptyset(&set);
    run->handling = true;
    handled.stop = 0;
    handled.command = (int)syscall(SYS_pidfd_open, pid, 0);
    for (size_t i = 0; i < WATCHED; i++) {
        struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_RESTART};
        sigaction(watched[i], &action, &run->actions[i]);
        sigaddset(&set, watched[i]);
    }
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    return UINT64_MAX;
}

static void restore_signals(const struct sandboxed *run)
{
    for (size_t i = 0; run->handling && i < WATCHED; i++)
        sigaction(watched[i], &run->actions[i], NULL);
    if (run->signals_taken)
        supervise_signals_restore(&run->signals);
    if (handled.command >= 0)
        close(handled.command);
    handled.command = -1;
}

static struct error *add_change(void *data, const struct sandbox_change *change)
{
    struct trial *trial = data;
    if (trial->change_count++ >= SHOWN_CHANGES)
        return NULL;
    struct sandbox_change *added = ARRAY_ADD(&trial->changes);
    if (added == NULL)
        return error_no_memory();
    *added = (struct sandbox_change){.kind = change->kind, .size = change->size};
    added->path = strdup(change->path);
    return added->path == NULL ? error_no_memory() : NULL;
}

static struct error *look(void *data, struct sandbox *sandbox)
{
    struct sandboxed *run = data;
    return run->error != NULL ? NULL : sandbox_each_change(sandbox, NULL, add_change, run->trial);
}

static struct outcome outcome_of(const struct sandbox_result *result)
{
    struct outcome outcome = {.status = result->status, .ns = result->ns};
    outcome.kind = result->end == SANDBOX_EXIT     ? WIRE_OUTCOME_EXIT
                   : result->end == SANDBOX_SIGNAL ? WIRE_OUTCOME_SIGNAL
                                                   : WIRE_OUTCOME_TIMEOUT;
    if (outcome.kind == WIRE_OUTCOME_TIMEOUT && handled.stop && result->ended != -1) {
        bool killed = WIFSIGNALED(result->ended);
        outcome.kind = killed ? WIRE_OUTCOME_SIGNAL : WIRE_OUTCOME_EXIT;
        outcome.status = killed ? WTERMSIG(result->ended) : WEXITSTATUS(result->ended);
    }
    return outcome;
}

static struct error *conclude(struct trial *trial, const struct sandbox *sandbox,
                              const struct sandbox_result *result)
{
    trial->outcome = outcome_of(result);
    trial->sandbox = sandbox_kind(sandbox);
    for (size_t i = 0; i < sandbox_warning_count(sandbox); i++)
        TRY(trial_warn(trial, "%s", sandbox_warning(sandbox, i)));
    if (result->process_count != 0)
        TRY(trial_warn(trial, "the command had %zu processes and was ended for that",
                       result->process_count));
    return NULL;
}

struct error *sandboxed_run(const struct trial_options *options, struct sandbox *sandbox,
                            struct trial *trial)
{
    struct sandboxed run = {.trial = trial};
    const struct sandbox_step step = {
        .command = trial->started.items,
        .environment = trial->environment,
        .input = STDIN_FILENO,
        .passed = true,
        .output = STDOUT_FILENO,
        .errors = STDERR_FILENO,
        .timeout_ns = options->timeout_ns,
        .stop = &handled.stop,
        .before = before,
        .started = started,
        .data = &run,
    };
    const char *const visible[] = {runtime_session_file(trial->session), options->state_file, NULL};
    _cleanup_(sandbox_result_deinit) struct sandbox_result result = {0};
    struct error *error = sandbox_run(sandbox, &step, 1, visible, look, &run, &result);
    restore_signals(&run);
    if (error == NULL)
        return run.error != NULL ? run.error : conclude(trial, sandbox, &result);
    error_free(run.error);
    return error;
}
