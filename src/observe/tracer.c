// SPDX-License-Identifier: GPL-3.0-or-later
// The engine: a seccomp filter stops the chosen calls, ptrace tells us of them. ARCHITECTURE.md
// says what else was measured. PTRACE_SEIZE, not PTRACE_ATTACH: group stops can be told from
// signals.
#include "observe/tracer.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/timeouts.h"
#include "observe/filter.h"
#include "observe/tracer-internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/user.h>
#include <sys/wait.h>

static const int handled[] = {SIGTERM, SIGHUP, SIGALRM, SIGINT, SIGQUIT};
#define HANDLED (sizeof handled / sizeof *handled)

// For the signal handler. There is one tracer in a process.
static volatile pid_t signal_target;

static void pass_on(int number)
{
    if (number != SIGALRM && signal_target > 0)
        kill(signal_target, number);
}

static long request(int what, const struct task *task, void *address, void *data)
{
    return ptrace(what, task->shown.tid, address, data);
}

static struct task *find(const struct tracer *tracer, pid_t tid)
{
    for (size_t i = 0; i < tracer->tasks.count; i++)
        if (tracer->tasks.items[i]->shown.tid == tid)
            return tracer->tasks.items[i];
    return NULL;
}

static void kill_all(struct tracer *tracer)
{
    for (size_t i = 0; i < tracer->tasks.count; i++)
        kill(tracer->tasks.items[i]->shown.tid, SIGKILL);
}

static void fail(struct tracer *tracer, struct error *error)
{
    if (error == NULL)
        return;
    if (tracer->error != NULL)
        error_free(error);
    else
        tracer->error = error;
    kill_all(tracer);
}

// A task that was killed meanwhile is none of our business.
void tracer_resume(struct task *task, int signal)
{
    bool in_call = task->state == TASK_IN_CALL || task->shown.every_call;
    request(in_call ? PTRACE_SYSCALL : PTRACE_CONT, task, NULL, (void *)(intptr_t)signal);
}

// The process that a thread belongs to, and that one's parent.
static void read_family(pid_t tid, pid_t *ret_pid, pid_t *ret_parent)
{
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/%d/status", tid);
    _cleanup_fclose_ FILE *file = fopen(path, "re");
    *ret_pid = tid;
    *ret_parent = 0;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        sscanf(line, "Tgid: %d", ret_pid);
        if (sscanf(line, "PPid: %d", ret_parent) == 1)
            break;
    }
}

static struct error *add_task(struct tracer *tracer, pid_t tid, enum task_state state,
                              struct task **ret_task)
{
    _cleanup_free_ struct task *task = calloc(1, sizeof *task);
    struct task **slot = task != NULL ? ARRAY_ADD(&tracer->tasks) : NULL;
    if (slot == NULL)
        return error_no_memory();
    task->shown.tracer = tracer;
    task->shown.tid = tid;
    read_family(tid, &task->shown.pid, &task->parent);
    task->state = state;
    *ret_task = *slot = TAKE(task);
    return NULL;
}

static struct error *name_task(struct tracer *tracer, struct task *task, struct task *maker)
{
    char *name = NULL;
    int size = maker == NULL ? asprintf(&name, "r")
                             : asprintf(&name, "%s.%u", maker->shown.name, ++maker->shown.children);
    char **slot = size >= 0 ? ARRAY_ADD(&tracer->names) : NULL;
    if (slot == NULL) {
        if (size >= 0)
            free(name);
        return error_no_memory();
    }
    *slot = name;
    task->shown.name = name;
    task->shown.maker = maker != NULL ? &maker->shown : NULL;
    TRY(tracer_set_family(&task->shown, maker != NULL ? maker->shown.family : 0));
    const struct tracer_handlers *handlers = tracer->handlers;
    return handlers->started != NULL ? handlers->started(handlers->data, &task->shown) : NULL;
}

static void forget(struct tracer *tracer, struct task *task)
{
    size_t kept = 0;
    for (size_t i = 0; i < tracer->tasks.count; i++) {
        struct task *other = tracer->tasks.items[i];
        if (other->shown.maker == &task->shown)
            other->shown.maker = NULL;
        if (other != task)
            tracer->tasks.items[kept++] = other;
    }
    tracer->tasks.count = kept;
    if (task->state == TASK_WAITS)
        tracer->waiting--;
    free(task);
}

static void get_ready(struct tracer *tracer, struct task *task)
{
    if (tracer->handlers->ready != NULL)
        tracer->handlers->ready(tracer->handlers->data, &task->shown);
}

// A task may be killed between making another one and telling of it, which would wait for ever.
static void release_early(struct tracer *tracer, struct task *maker)
{
    for (size_t i = 0; i < tracer->tasks.count; i++) {
        struct task *task = tracer->tasks.items[i];
        if (task->state != TASK_EARLY || task->parent != maker->shown.pid)
            continue;
        fail(tracer, name_task(tracer, task, maker));
        task->state = TASK_RUNS;
        get_ready(tracer, task);
        tracer_resume(task, 0);
    }
}

static void end_task(struct tracer *tracer, struct task *task, int status)
{
    if (task->shown.name != NULL)
        release_early(tracer, task);
    if (task->shown.tid == tracer->command) {
        tracer->status = status;
        tracer->command_ended = true;
        signal_target = 0;
    }
    if (tracer->handlers->ended != NULL && task->shown.name != NULL)
        tracer->handlers->ended(tracer->handlers->data, &task->shown, status);
    forget(tracer, task);
}

// Fork, vfork or clone. The new task's first stop may come before this or after it.
static void made_task(struct tracer *tracer, struct task *maker)
{
    unsigned long tid;
    if (request(PTRACE_GETEVENTMSG, maker, NULL, &tid) < 0)
        return;
    struct task *task = find(tracer, (pid_t)tid);
    if (task == NULL) {
        fail(tracer, add_task(tracer, (pid_t)tid, TASK_NEW, &task));
        if (task != NULL)
            fail(tracer, name_task(tracer, task, maker));
        return;
    }
    fail(tracer, name_task(tracer, task, maker));
    if (task->state == TASK_EARLY) {
        task->state = TASK_RUNS;
        get_ready(tracer, task);
        tracer_resume(task, 0);
    }
}

// A thread that executes a program takes over its process's number; all others are gone.
static void executed(struct tracer *tracer, struct task *task)
{
    unsigned long former;
    if (request(PTRACE_GETEVENTMSG, task, NULL, &former) == 0 && (pid_t)former != task->shown.tid) {
        struct task *thread = find(tracer, (pid_t)former);
        if (thread != NULL) {
            task->state = thread->state;
            task->call = thread->call;
            task->changed = 0;
            task->wants_end = thread->wants_end;
            end_task(tracer, thread, 0);
        }
    }
    tracer->executed = true;
    const struct tracer_handlers *handlers = tracer->handlers;
    if (handlers->executes != NULL)
        fail(tracer, handlers->executes(handlers->data, &task->shown));
}

static void begin_now(struct task *task)
{
    task->state = task->wants_end ? TASK_IN_CALL : TASK_RUNS;
    tracer_resume(task, 0);
}

static void carry_out(struct tracer *tracer, struct task *task, const struct tracer_order *order)
{
    if (order->signal != 0)
        syscall(SYS_tgkill, task->shown.pid, task->shown.tid, order->signal);
    if (order->skip)
        tracer_set_result(task, order->result, true);
    else if (order->change)
        tracer_set_argument(&task->shown, order->argument, order->value);
    if (order->skip)
        tracer_give_back(task);
    task->wants_end = (order->stop_at_end || task->changed != 0) && !order->skip;
    if (order->delay_ns == 0) {
        begin_now(task);
        return;
    }
    task->state = TASK_WAITS;
    task->until_ns = clock_ns() + order->delay_ns;
    tracer->waiting++;
}

static bool get_call(struct task *task)
{
    struct __ptrace_syscall_info info;
    if (request(PTRACE_GET_SYSCALL_INFO, task, (void *)sizeof info, &info) < 0 ||
        info.op != PTRACE_SYSCALL_INFO_SECCOMP)
        return false;
    struct tracer_call *call = &task->call;
    *call = (struct tracer_call){.i386 = info.arch == AUDIT_ARCH_I386,
                                 .number = (int)info.seccomp.nr,
                                 .place = info.instruction_pointer};
    for (unsigned i = 0; i < TRACER_ARGUMENTS; i++)
        call->arguments[i] = info.seccomp.args[i];
    call->call = linux_call_by_number(call->number, call->i386);
    if (call->call == NULL || call->call->visible != CALL_SOCKETCALL)
        return call->call != NULL;
    // The arguments are words in memory.
    uint32_t words[TRACER_ARGUMENTS] = {0};
    call->call = linux_call_of_socketcall((unsigned)call->arguments[0]);
    tracer_read(&task->shown, call->arguments[1], words, sizeof words);
    for (unsigned i = 0; i < TRACER_ARGUMENTS; i++)
        call->arguments[i] = words[i];
    return call->call != NULL;
}

static void begins(struct tracer *tracer, struct task *task)
{
    struct tracer_order order = {0};
    const struct tracer_handlers *handlers = tracer->handlers;
    task->changed = 0;
    if (get_call(task) && tracer->executed && handlers->begin != NULL && tracer->error == NULL)
        fail(tracer, handlers->begin(handlers->data, &task->shown, &task->call, &order));
    if (order.left)
        return;
    if (order.again) {
        task->state = TASK_RUNS;
        tracer_resume(task, 0);
        return;
    }
    carry_out(tracer, task, &order);
}

static void ends(struct tracer *tracer, struct task *task)
{
    struct __ptrace_syscall_info info;
    bool was_in_call = task->state == TASK_IN_CALL;
    task->state = TASK_RUNS;
    if (was_in_call && request(PTRACE_GET_SYSCALL_INFO, task, (void *)sizeof info, &info) > 0 &&
        info.op == PTRACE_SYSCALL_INFO_EXIT) {
        struct tracer_order order = {0};
        const struct tracer_handlers *handlers = tracer->handlers;
        task->call.result = info.exit.rval;
        if (handlers->end != NULL && tracer->error == NULL)
            fail(tracer, handlers->end(handlers->data, &task->shown, &task->call, &order));
        tracer_give_back(task);
        if (order.replace)
            tracer_set_result(task, order.result, false);
    }
    task->changed = 0;
    tracer_resume(task, 0);
}

static void signalled(struct tracer *tracer, struct task *task, int signal)
{
    const struct tracer_handlers *handlers = tracer->handlers;
    if (handlers->signalled != NULL && tracer->executed && task->shown.name != NULL &&
        tracer->error == NULL)
        fail(tracer, handlers->signalled(handlers->data, &task->shown, &signal));
    tracer_resume(task, signal);
}

static bool stops_groups(int signal)
{
    return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

static void stopped(struct tracer *tracer, struct task *task, int status)
{
    int signal = WSTOPSIG(status);
    switch (TRACER_EVENT(status)) {
    case PTRACE_EVENT_SECCOMP:
        begins(tracer, task);
        return;
    case PTRACE_EVENT_FORK:
    case PTRACE_EVENT_VFORK:
    case PTRACE_EVENT_CLONE:
        made_task(tracer, task);
        tracer_resume(task, 0);
        return;
    case PTRACE_EVENT_EXIT:
        tracer->handlers->exits(tracer->handlers->data, &task->shown);
        tracer_resume(task, 0);
        return;
    case PTRACE_EVENT_EXEC:
        executed(tracer, task);
        tracer_resume(task, 0);
        return;
    case PTRACE_EVENT_STOP:
        if (task->state == TASK_NEW) {
            task->state = TASK_RUNS;
            get_ready(tracer, task);
        }
        if (stops_groups(signal))
            request(PTRACE_LISTEN, task, NULL, NULL);
        else
            tracer_resume(task, 0);
        return;
    default:
        if (signal != (SIGTRAP | 0x80)) {
            signalled(tracer, task, signal);
        } else if (task->shown.every_call && task->state != TASK_IN_CALL) {
            tracer->handlers->at_call(tracer->handlers->data, &task->shown);
            tracer_resume(task, 0);
        } else {
            ends(tracer, task);
        }
    }
}

static void heard(struct tracer *tracer, pid_t tid, int status)
{
    struct task *task = find(tracer, tid);
    if (!WIFSTOPPED(status)) {
        if (task != NULL)
            end_task(tracer, task, status);
        return;
    }
    if (task != NULL && task->state == TASK_WAITS && TRACER_EVENT(status) != PTRACE_EVENT_EXEC) {
        tracer->waiting--; // something else got it going, which only a kill can do
        task->state = TASK_RUNS;
    }
    if (task == NULL) {
        fail(tracer, add_task(tracer, tid, TASK_EARLY, &task));
        return;
    }
    if (tracer->error != NULL)
        kill(tid, SIGKILL);
    stopped(tracer, task, status);
}

// Stops that a handler did not expect when it waited for another one.
static void hear_rest(struct tracer *tracer)
{
    for (size_t i = 0; i < tracer->unheard.count; i++) { // may grow meanwhile
        struct heard_status next = tracer->unheard.items[i];
        tracer->unheard.items[i].tid = 0;
        heard(tracer, next.tid, next.status);
    }
    tracer->unheard.count = 0;
}

static void wake(struct tracer *tracer)
{
    uint64_t now_ns = clock_ns();
    for (size_t i = 0; i < tracer->tasks.count; i++) {
        struct task *task = tracer->tasks.items[i];
        if (task->state != TASK_WAITS || task->until_ns > now_ns)
            continue;
        tracer->waiting--;
        begin_now(task);
    }
}

// While a task waits, or a handler, a timer interrupts waitpid(), again and again: a signal just
// before it does not.
static void set_timer(struct tracer *tracer)
{
    uint64_t period_ns = tracer->waiting != 0 ? TRACER_PAUSE_NS : 0;
    if (tracer->tick_ns != 0 && (period_ns == 0 || tracer->tick_ns < period_ns))
        period_ns = tracer->tick_ns;
    if (period_ns == tracer->timer_ns)
        return;
    struct timeval period = {.tv_sec = (time_t)(period_ns / NS_PER_S),
                             .tv_usec = (suseconds_t)(period_ns % NS_PER_S / NS_PER_US)};
    struct itimerval timer = {period, period};
    setitimer(ITIMER_REAL, &timer, NULL);
    tracer->timer_ns = period_ns;
}

static struct error *loop(struct tracer *tracer)
{
    const struct tracer_handlers *handlers = tracer->handlers;
    int code = 0;
    while (code == 0) {
        int status;
        set_timer(tracer);
        pid_t tid = waitpid(-1, &status, __WALL);
        if (tid > 0)
            heard(tracer, tid, status);
        else if (errno != EINTR)
            code = errno;
        hear_rest(tracer);
        if (tracer->waiting != 0)
            wake(tracer);
        tracer->tick_ns = tracer->executed && handlers->tick != NULL && tracer->error == NULL
                              ? handlers->tick(handlers->data)
                              : 0;
    }
    tracer->waiting = 0;
    tracer->tick_ns = 0;
    set_timer(tracer);
    return code == ECHILD ? NULL : error_from_errno(code, "cannot wait for the command");
}

// Not execvpe(), which runs a shell for files that are no programs.
static void execute(const struct tracer_options *options)
{
    const char *name = options->command[0], *path = NULL;
    for (char *const *variable = options->environment; *variable != NULL; variable++)
        if (strncmp(*variable, "PATH=", 5) == 0)
            path = *variable + 5;
    char full[PATH_MAX];
    int code = ENOENT;
    if (strchr(name, '/') != NULL || path == NULL) {
        execve(name, options->command, options->environment);
        return;
    }
    for (const char *at = path;; at++) {
        size_t size = strcspn(at, ":");
        if ((size_t)snprintf(full, sizeof full, "%.*s%s%s", (int)size, at, size != 0 ? "/" : "",
                             name) < sizeof full)
            execve(full, options->command, options->environment);
        if (errno != ENOENT && errno != ENOTDIR)
            code = errno;
        at += size;
        if (*at == '\0')
            break;
    }
    errno = code;
}

// Runs in the child. `go` tells that it is traced; `report` gets an errno.
__attribute__((noreturn)) static void child(const struct tracer_options *options,
                                            const struct filter *filter,
                                            const struct sigaction *actions, int go, int report)
{
    char byte;
    int code = 0;
    if (read(go, &byte, 1) != 1)
        _exit(127);
    close(go);
    for (size_t i = 0; i < HANDLED; i++)
        sigaction(handled[i], &actions[i], NULL);
    if (options->repeatable || options->fixed_addresses)
        personality((unsigned long)personality(0xffffffff) |
                    ADDR_NO_RANDOMIZE); // where it is forbidden, addresses stay random
    if (options->repeatable)
        prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
    if (options->stops == NULL || filter_install(filter))
        execute(options);
    code = errno;
    if (write(report, &code, sizeof code) != sizeof code)
        _exit(126);
    _exit(127);
}

static struct error *seize(struct tracer *tracer, pid_t pid)
{
    long wanted = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEFORK |
                  PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC |
                  PTRACE_O_EXITKILL;
    if (tracer->handlers->exits != NULL)
        wanted |= PTRACE_O_TRACEEXIT;
    struct task *task = NULL;
    TRY(add_task(tracer, pid, TASK_RUNS, &task));
    TRY(name_task(tracer, task, NULL));
    if (ptrace(PTRACE_SEIZE, pid, NULL, (void *)wanted) < 0)
        return error_from_errno(errno, "cannot trace the command; ptrace may be forbidden here");
    return NULL;
}

static struct error *start_and_watch(struct tracer *tracer, const struct tracer_options *options,
                                     const struct filter *filter, const struct sigaction *actions)
{
    _cleanup_close_ int go_read = -1, go_write = -1, report_read = -1, report_write = -1;
    int go[2], report[2];
    if (pipe2(go, O_CLOEXEC) < 0)
        return error_from_errno(errno, "cannot make a pipe");
    go_read = go[0], go_write = go[1];
    if (pipe2(report, O_CLOEXEC) < 0)
        return error_from_errno(errno, "cannot make a pipe");
    report_read = report[0], report_write = report[1];
    pid_t pid = fork();
    if (pid < 0)
        return error_from_errno(errno, "cannot start a process");
    if (pid == 0) {
        close(go_write);
        child(options, filter, actions, go_read, report_write);
    }
    tracer->command = pid;
    struct error *error = seize(tracer, pid);
    if (error == NULL && write(go_write, "", 1) != 1)
        error = error_from_errno(errno, "cannot start the command");
    if (error != NULL) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, __WALL);
        return error;
    }
    close(report_write);
    report_write = -1;
    signal_target = pid;
    bool forbidden = options->repeatable && counter_forbid();
    error = loop(tracer);
    if (forbidden)
        counter_allow();
    TRY(error);
    int code;
    if (read(report_read, &code, sizeof code) == sizeof code)
        return error_from_errno(code, "cannot run %s", options->command[0]);
    return tracer->command_ended ? NULL : error_new("nobody knows how the command ended");
}

// The terminal sends its signals to the command itself.
static void take_signals(struct sigaction *saved)
{
    for (size_t i = 0; i < HANDLED; i++) {
        struct sigaction action = {.sa_handler = pass_on};
        if (handled[i] == SIGINT || handled[i] == SIGQUIT)
            action.sa_handler = SIG_IGN;
        sigaction(handled[i], &action, &saved[i]);
    }
}

struct error *tracer_run(const struct tracer_options *options, int *ret_status)
{
    _cleanup_(filter_deinit) struct filter filter = {0};
    if (options->stops != NULL)
        TRY(filter_make(options->stops, options->trusted, &filter));
    struct tracer tracer = {.handlers = options->handlers};
    struct sigaction saved[HANDLED];
    take_signals(saved);
    struct error *error = start_and_watch(&tracer, options, &filter, saved);
    signal_target = 0;
    for (size_t i = 0; i < HANDLED; i++)
        sigaction(handled[i], &saved[i], NULL);
    while (tracer.tasks.count != 0)
        end_task(&tracer, tracer.tasks.items[0], -1);
    ARRAY_DEINIT(&tracer.tasks);
    ARRAY_DEINIT(&tracer.unheard);
    for (size_t i = 0; i < tracer.names.count; i++)
        free(tracer.names.items[i]);
    ARRAY_DEINIT(&tracer.names);
    map_deinit(&tracer.families);
    if (error == NULL)
        error = tracer.error;
    else
        error_free(tracer.error);
    if (error == NULL)
        *ret_status = tracer.status;
    return error;
}

static uint64_t member(pid_t pid, unsigned family)
{
    return (uint64_t)family << 32 | (uint32_t)pid;
}

struct error *tracer_set_family(struct tracer_task *task, unsigned family)
{
    task->family = family;
    return map_add(&task->tracer->families, member(task->pid, family), NULL);
}

bool tracer_is_related(const struct tracer_task *task, pid_t pid)
{
    return map_has(&task->tracer->families, member(pid, task->family));
}

bool tracer_each(const struct tracer *tracer, bool (*each)(void *data, struct tracer_task *task),
                 void *data)
{
    for (size_t i = 0; i < tracer->tasks.count; i++) {
        struct tracer_task *task = &tracer->tasks.items[i]->shown;
        if (task->tid == task->pid && each(data, task))
            return true;
    }
    return false;
}
