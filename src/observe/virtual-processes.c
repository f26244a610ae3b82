// SPDX-License-Identifier: GPL-3.0-or-later
// Process numbers in arguments, results and memory. What thread libraries keep of the numbers of
// threads (set_tid_address(), CLONE_PARENT_SETTID) stays real, because the kernel compares it with
// the owners of locks. Both kinds of number can be given to every call.
#include "observe/virtual.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define MOST_CONTROL 4096u // bytes of ancillary data that are looked at
#define USAGE_WORDS  18u   // of struct rusage
#define DIGITS       9u    // of a virtual number

// The text of a path up to what may be a number.
static size_t read_path_start(const struct tracer_task *task, uint64_t address, char *path,
                              size_t size)
{
    size_t done = 0;
    while (done + 1 < size) { // page by page, because the text may end before a hole
        size_t step = 4096 - (address + done) % 4096;
        if (step > size - 1 - done)
            step = size - 1 - done;
        size_t got = tracer_read(task, address + done, path + done, step);
        done += got;
        if (got != step || memchr(path + done - got, '\0', got) != NULL)
            break;
    }
    path[done] = '\0';
    return strlen(path);
}

// A real number has fewer digits than a virtual one: slashes fill the gap.
static void begin_number_in_path(const struct process_numbers *numbers,
                                 const struct tracer_task *task, struct virtual_task *state,
                                 uint64_t address, const char *digits)
{
    char *end, text[16];
    long number = strtol(digits, &end, 10);
    if (end - digits != DIGITS || (*end != '/' && *end != '\0'))
        return;
    pid_t real = process_numbers_real(numbers, (pid_t)number);
    if (real == number || real > 9999999)
        return;
    snprintf(text, sizeof text, "%*d", (int)DIGITS, real);
    for (size_t i = 0; i < DIGITS && text[i] == ' '; i++)
        text[i] = '/';
    virtual_patch(task, state, address, text, DIGITS);
}

static void begin_path(const struct process_numbers *numbers, const struct tracer_task *task,
                       struct virtual_task *state, uint64_t address)
{
    static const char proc[] = "/proc/", tasks[] = "/task/";
    char path[64];
    size_t skip = sizeof proc - 1;
    if (address == 0 || read_path_start(task, address, path, sizeof path) <= skip ||
        memcmp(path, proc, skip) != 0)
        return;
    state->link_to_self = strcmp(path, "/proc/self") == 0 || strcmp(path, "/proc/self/") == 0;
    begin_number_in_path(numbers, task, state, address + skip, path + skip);
    const char *thread = strstr(path, tasks);
    if (thread != NULL) {
        thread += sizeof tasks - 1;
        begin_number_in_path(numbers, task, state, address + (size_t)(thread - path), thread);
    }
}

static void begin_arguments(const struct process_numbers *numbers, struct tracer_task *task,
                            struct virtual_task *state, const struct tracer_call *call,
                            const struct virtual_call *facts)
{
    for (unsigned i = 0; facts->letters[i] != '\0'; i++) {
        pid_t given = (pid_t)call->arguments[i];
        if (facts->letters[i] == 'p') {
            begin_path(numbers, task, state, call->arguments[i]);
            continue;
        }
        pid_t real = facts->letters[i] == 'k' ? process_numbers_real(numbers, given) : given;
        if (real != given)
            tracer_set_argument(task, i, (uint64_t)(int64_t)real);
    }
}

static void begin_number(const struct process_numbers *numbers, const struct tracer_task *task,
                         struct virtual_task *state, uint64_t address)
{
    pid_t given;
    if (tracer_read(task, address, &given, sizeof given) != sizeof given)
        return;
    pid_t real = process_numbers_real(numbers, given);
    if (real != given)
        virtual_patch(task, state, address, &real, sizeof real);
}

static void show_number(const struct process_numbers *numbers, const struct tracer_task *task,
                        uint64_t address)
{
    pid_t real;
    if (tracer_read(task, address, &real, sizeof real) != sizeof real)
        return;
    pid_t shown = process_numbers_shown(numbers, real);
    if (shown != real)
        tracer_write(task, address, &shown, sizeof shown);
}

// Calls `each` for every process number among the ancillary data of a message.
static void each_credentials(const struct process_numbers *numbers, const struct tracer_task *task,
                             struct virtual_task *state, const struct tracer_call *call,
                             bool received)
{
    size_t word = call->i386 ? 4 : 8, header = word + 2 * sizeof(int);
    uint64_t control = 0, size = 0, at = 0;
    // struct msghdr: name, its size, vectors, their number, control, its size.
    if (tracer_read(task, call->arguments[1] + 4 * word, &control, word) != word ||
        tracer_read(task, call->arguments[1] + 5 * word, &size, word) != word || control == 0)
        return;
    if (size > MOST_CONTROL)
        size = MOST_CONTROL;
    while (at + header + sizeof(pid_t) <= size) {
        uint64_t length = 0;
        int kind[2];
        if (tracer_read(task, control + at, &length, word) != word ||
            tracer_read(task, control + at + word, kind, sizeof kind) != sizeof kind ||
            length < header || length > size - at)
            return;
        if (kind[0] == SOL_SOCKET && kind[1] == SCM_CREDENTIALS) {
            if (received)
                show_number(numbers, task, control + at + header);
            else
                begin_number(numbers, task, state, control + at + header);
        }
        at += (length + word - 1) / word * word;
    }
}

static void begin_wait_info(const struct process_numbers *numbers, struct tracer_task *task,
                            const struct tracer_call *call)
{
    pid_t given = (pid_t)call->arguments[1];
    if (call->arguments[0] != P_PID && call->arguments[0] != P_PGID)
        return;
    pid_t real = process_numbers_real(numbers, given);
    if (real != given)
        tracer_set_argument(task, 1, (uint64_t)(int64_t)real);
}

static void begin_owners(const struct process_numbers *numbers, struct tracer_task *task,
                         struct virtual_task *state, const struct tracer_call *call,
                         struct tracer_order *order)
{
    pid_t given = (pid_t)call->arguments[2];
    switch (call->arguments[1]) {
    case F_SETOWN:
        if (process_numbers_real(numbers, given) != given)
            tracer_set_argument(task, 2, (uint64_t)(int64_t)process_numbers_real(numbers, given));
        return;
    case F_SETOWN_EX: // a kind and a number
        begin_number(numbers, task, state, call->arguments[2] + sizeof(int));
        return;
    case F_GETOWN:
    case F_GETOWN_EX:
    case F_GETLK:
    case 12: // F_GETLK64 of i386
        order->stop_at_end = true;
        return;
    default:
        return;
    }
}

static bool asks_terminal(uint64_t request)
{
    return request == TIOCGPGRP || request == TIOCGSID;
}

void virtual_processes_begin(struct process_numbers *numbers, struct tracer_task *task,
                             struct virtual_task *state, const struct tracer_call *call,
                             const struct virtual_call *facts, struct tracer_order *order)
{
    state->link_to_self = false;
    begin_arguments(numbers, task, state, call, facts);
    switch (facts->kind) {
    case VIRTUAL_OWN_PROCESS:
    case VIRTUAL_OWN_TASK:
        order->skip = true;
        order->result =
            process_numbers_shown(numbers, facts->kind == VIRTUAL_OWN_TASK ? task->tid : task->pid);
        return;
    case VIRTUAL_ARGUMENTS:
        return;
    case VIRTUAL_LINK:
        order->stop_at_end |= state->link_to_self;
        return;
    case VIRTUAL_OWNERS:
        begin_owners(numbers, task, state, call, order);
        return;
    case VIRTUAL_TERMINAL:
        if (call->arguments[1] == TIOCSPGRP)
            begin_number(numbers, task, state, call->arguments[2]);
        order->stop_at_end |= asks_terminal(call->arguments[1]);
        return;
    case VIRTUAL_CREDENTIALS_SENT:
        each_credentials(numbers, task, state, call, false);
        return;
    case VIRTUAL_WAIT_INFO:
        begin_wait_info(numbers, task, call);
        break;
    default:
        break;
    }
    order->stop_at_end = true;
}

static void show_result(pid_t shown, const struct tracer_call *call, struct tracer_order *order)
{
    if (shown == call->result)
        return;
    order->replace = true;
    order->result = shown;
}

// siginfo of a signal from a process, or of the end of one.
static void show_signal_info(const struct process_numbers *numbers, const struct tracer_task *task,
                             const struct tracer_call *call, uint64_t address)
{
    int start[3]; // signal, errno, code
    if (address == 0 || tracer_read(task, address, start, sizeof start) != sizeof start ||
        (start[0] != SIGCHLD && start[2] > 0))
        return;
    uint64_t number = address + (call->i386 ? 12 : 16);
    show_number(numbers, task, number);
    static const unsigned char none[16];
    if (start[0] == SIGCHLD && start[2] > 0) // processor times
        tracer_write(task, number + (call->i386 ? 12 : 16), none, call->i386 ? 8 : 16);
}

static void show_owners(const struct process_numbers *numbers, const struct tracer_task *task,
                        const struct tracer_call *call, struct tracer_order *order)
{
    // l_pid stands behind two short and two long words.
    if (call->arguments[1] == F_GETOWN)
        show_result(process_numbers_shown_group(numbers, (pid_t)call->result), call, order);
    else if (call->arguments[1] == F_GETOWN_EX)
        show_number(numbers, task, call->arguments[2] + sizeof(int));
    else if (call->arguments[1] == F_GETLK)
        show_number(numbers, task, call->arguments[2] + (call->i386 ? 12 : 24));
    else if (call->arguments[1] == 12 && call->i386)
        show_number(numbers, task, call->arguments[2] + 20);
}

static void show_link(const struct process_numbers *numbers, const struct tracer_task *task,
                      const struct tracer_call *call, struct tracer_order *order)
{
    char text[16];
    unsigned buffer = strcmp(call->call->name, "readlinkat") == 0 ? 2 : 1;
    size_t room = (size_t)call->arguments[buffer + 1];
    int size = snprintf(text, sizeof text, "%d", process_numbers_shown(numbers, task->pid));
    size_t kept = (size_t)size < room ? (size_t)size : room;
    if (tracer_write(task, call->arguments[buffer], text, kept)) {
        order->replace = true;
        order->result = (int64_t)kept;
    }
}

static void show_terminal(const struct process_numbers *numbers, const struct tracer_task *task,
                          uint64_t request, uint64_t address)
{
    pid_t real;
    if (!asks_terminal(request) || tracer_read(task, address, &real, sizeof real) != sizeof real)
        return;
    pid_t shown = request == TIOCGSID ? process_numbers_shown_session(numbers, real)
                                      : process_numbers_shown_group(numbers, real);
    tracer_write(task, address, &shown, sizeof shown);
}

// Resources that a child has used, which differ from run to run.
static void clear_usage(const struct tracer_task *task, const struct tracer_call *call,
                        const struct virtual_call *facts)
{
    static const unsigned char none[USAGE_WORDS * 8];
    const char *letter = strchr(facts->letters, 'u');
    if (letter == NULL || call->arguments[letter - facts->letters] == 0)
        return;
    tracer_write(task, call->arguments[letter - facts->letters], none,
                 USAGE_WORDS * (call->i386 ? 4 : 8));
}

// Whoever learns of the end of a process has waited as long as that one did. What else its clock
// showed does not count: a shell learns of it now by a call that waits, now by one that only looks.
static void catch_up(const struct process_numbers *numbers, struct virtual_task *state, pid_t child)
{
    uint64_t waited_ns = process_numbers_waited_ns(numbers, child);
    if (state->waited_ns >= waited_ns)
        return;
    state->now_ns += waited_ns - state->waited_ns;
    state->waited_ns = waited_ns;
}

static void end_wait_info(const struct process_numbers *numbers, const struct tracer_task *task,
                          struct virtual_task *state, const struct tracer_call *call)
{
    pid_t child;
    uint64_t number = call->arguments[2] + (call->i386 ? 12 : 16);
    if (call->arguments[2] == 0 || tracer_read(task, number, &child, sizeof child) != sizeof child)
        return;
    catch_up(numbers, state, child);
    show_signal_info(numbers, task, call, call->arguments[2]);
}

void virtual_processes_end(struct process_numbers *numbers, const struct tracer_task *task,
                           struct virtual_task *state, const struct tracer_call *call,
                           const struct virtual_call *facts, struct tracer_order *order)
{
    if (tracer_failed(call->result))
        return;
    pid_t result = (pid_t)call->result;
    clear_usage(task, call, facts);
    switch (facts->kind) {
    case VIRTUAL_PARENT:
        show_result(process_numbers_shown_parent(numbers, result), call, order);
        break;
    case VIRTUAL_RESULT:
        if (facts->letters[0] == 'k')
            catch_up(numbers, state, result);
        show_result(process_numbers_shown(numbers, result), call, order);
        break;
    case VIRTUAL_GROUP_RESULT:
        show_result(process_numbers_shown_group(numbers, result), call, order);
        break;
    case VIRTUAL_SESSION_RESULT:
        show_result(process_numbers_shown_session(numbers, result), call, order);
        break;
    case VIRTUAL_WAIT_INFO:
        end_wait_info(numbers, task, state, call);
        break;
    case VIRTUAL_SIGNAL_INFO:
        show_signal_info(numbers, task, call, call->arguments[1]);
        break;
    case VIRTUAL_OWNERS:
        show_owners(numbers, task, call, order);
        break;
    case VIRTUAL_TERMINAL:
        show_terminal(numbers, task, call->arguments[1], call->arguments[2]);
        break;
    case VIRTUAL_PEER:
        show_number(numbers, task, call->arguments[3]);
        break;
    case VIRTUAL_CREDENTIALS_GOT:
        each_credentials(numbers, task, state, call, true);
        break;
    case VIRTUAL_LINK:
        if (state->link_to_self)
            show_link(numbers, task, call, order);
        break;
    default:
        break;
    }
}

void virtual_signal_info(const struct process_numbers *numbers, const struct tracer_task *task)
{
    siginfo_t info;
    if (ptrace(PTRACE_GETSIGINFO, task->tid, NULL, &info) < 0)
        return;
    bool child = info.si_signo == SIGCHLD && info.si_code > 0;
    if (!child && info.si_code > 0)
        return;
    pid_t shown = process_numbers_shown(numbers, info.si_pid);
    if (shown == info.si_pid && !child)
        return;
    info.si_pid = shown;
    if (child)
        info.si_utime = info.si_stime = 0;
    ptrace(PTRACE_SETSIGINFO, task->tid, NULL, &info);
}
