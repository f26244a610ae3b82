// SPDX-License-Identifier: GPL-3.0-or-later
// Records a trace: decides at every stop whether the call is visible, and keeps its line once it
// has succeeded.
#include "observe/trace.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/escape.h"
#include "base/file.h"
#include "observe/arguments.h"
#include "observe/code-owner.h"
#include "observe/filter.h"
#include "observe/inside.h"
#include "observe/virtual.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// A start of the watched program, with all that it starts. Or the command; if a program is watched
// which the command starts, that is number 0, and nothing of it is kept.
struct invocation {
    struct trace_invocation shown;
    struct process_numbers numbers;
    struct surroundings surroundings;
    pid_t root;
    size_t cut;        // bytes that begin the names of all its tasks; "r" stands for them
    unsigned children; // that its root had made before
    size_t tasks;      // that live
    uint64_t start_ns;
};

struct recorder {
    const struct trace_watch *watch;
    bool real;                              // nothing is virtual
    const char *foreign;                    // as in trace_options
    ARRAY(struct invocation *) invocations; // that are not over
    unsigned count;                         // of those that have begun
    struct inside inside;
    struct error *error; // of a handler that cannot return it
};

// Of a task.
struct recording {
    struct invocation *invocation;
    struct process_numbers *outside; // of the invocation that it belonged to before, or NULL
    size_t process;
    bool visible; // the call that it is in
    struct call_start start;
    struct virtual_task virtual;
    struct code_owners owners;
    struct inside_task inside;
};

static struct invocation *invocation_of(const struct tracer_task *task)
{
    return ((const struct recording *)task->data)->invocation;
}

static bool kind_is_outside(enum descriptor_kind kind)
{
    return kind == DESCRIPTOR_FILE || kind == DESCRIPTOR_STREAM;
}

static enum descriptor_kind kind_of(const struct tracer_task *task, uint64_t number)
{
    struct descriptor descriptor;
    descriptor_describe(&invocation_of(task)->surroundings, task, (int)number, &descriptor);
    return descriptor.kind;
}

static bool opens_visibly(const struct tracer_task *task, const struct tracer_call *call)
{
    const char *letters = call->call->arguments;
    size_t index = (size_t)(strchr(letters, CALL_ARG_PATH) - letters);
    int directory = index != 0 ? (int)call->arguments[index - 1] : AT_FDCWD;
    uint64_t flags = call->arguments[index + 1];
    char path[2 * PATH_MAX];
    if (letters[index + 1] == CALL_ARG_OPEN_HOW)
        tracer_read(task, call->arguments[index + 1], &flags, sizeof flags);
    else if (letters[index + 1] != CALL_ARG_OPEN_FLAGS)
        flags = O_CREAT | O_TRUNC; // creat()
    return (flags & (O_CREAT | O_TRUNC)) != 0 &&
           path_of_argument(&invocation_of(task)->surroundings, task, directory,
                            call->arguments[index], path, sizeof path) &&
           !path_is_own(path);
}

// The first mmap() of i386 has its arguments in memory.
static bool maps_visibly(const struct tracer_task *task, const struct tracer_call *call)
{
    uint64_t arguments[TRACER_ARGUMENTS];
    uint32_t words[TRACER_ARGUMENTS] = {0};
    memcpy(arguments, call->arguments, sizeof arguments);
    if (call->i386 && call->call->number >= 0) {
        tracer_read(task, call->arguments[0], words, sizeof words);
        for (size_t i = 0; i < TRACER_ARGUMENTS; i++)
            arguments[i] = words[i];
    }
    return (arguments[2] & PROT_WRITE) != 0 && (arguments[3] & MAP_ANONYMOUS) == 0 &&
           (arguments[3] & MAP_TYPE) != MAP_PRIVATE &&
           kind_of(task, arguments[4]) == DESCRIPTOR_FILE;
}

// A number below 0 is a group, which has the number of its first process.
static bool reaches_others(const struct tracer_task *task, int64_t number)
{
    pid_t pid = process_numbers_real(&invocation_of(task)->numbers, (pid_t)number);
    if (pid == -1)
        return true;
    if (pid == 0)
        pid = getpgid(task->pid);
    return !tracer_is_related(task, pid < 0 ? -pid : pid);
}

// Also notes whether it reads random numbers.
static bool reads_visibly(const struct tracer_task *task, int number)
{
    struct recording *recording = task->data;
    struct descriptor descriptor;
    descriptor_describe(&recording->invocation->surroundings, task, number, &descriptor);
    recording->virtual.random_file = descriptor.kind == DESCRIPTOR_OWN &&
                                     path_is_random(descriptor.text);
    return descriptor.kind == DESCRIPTOR_STREAM;
}

static bool is_visible(const struct tracer_task *task, const struct tracer_call *call)
{
    const uint64_t *arguments = call->arguments;
    switch (call->call->visible) {
    case CALL_ALWAYS:
        return true;
    case CALL_CREATES:
        return opens_visibly(task, call);
    case CALL_FILE:
        return kind_of(task, arguments[0]) == DESCRIPTOR_FILE;
    case CALL_OUTSIDE:
    case CALL_LOCKS:
        return kind_is_outside(kind_of(task, arguments[0]));
    case CALL_OUTSIDE_SECOND:
        return kind_is_outside(kind_of(task, arguments[1]));
    case CALL_OUTSIDE_THIRD:
        return kind_is_outside(kind_of(task, arguments[2]));
    case CALL_INCOMING:
        return reads_visibly(task, (int)arguments[0]);
    case CALL_DEVICE:
        return !ioctl_only_asks((unsigned)arguments[1]) &&
               kind_is_outside(kind_of(task, arguments[0]));
    case CALL_SHARED:
        return maps_visibly(task, call);
    case CALL_OTHERS:
        return reaches_others(task, (int64_t)arguments[0]);
    default:
        return false;
    }
}

static struct error *add_line(const struct recording *recording, const struct buffer *line)
{
    const char *problem;
    if (recording->invocation->shown.number == 0)
        return NULL;
    return trace_add_line(&recording->invocation->shown.trace, recording->process, line->data,
                          line->size, &problem);
}

static struct error *take(void *data, const struct inside_call *call)
{
    _cleanup_(buffer_deinit) struct buffer line = {0};
    TRY(call_print_recorded(&call->call, call->descriptor, call->data, call->size, &line));
    return add_line(data, &line);
}

// A task has stopped: what it did meanwhile, and what its clock showed.
static struct error *catch_up(struct recorder *recorder, struct recording *recording)
{
    if (recording->inside.slot != NULL)
        recording->virtual.now_ns = recording->inside.slot->now_ns;
    return inside_drain(&recorder->inside, &recording->inside, take, recording);
}

static void go_on(struct recording *recording)
{
    if (recording->inside.slot != NULL)
        recording->inside.slot->now_ns = recording->virtual.now_ns;
}

// A fault that was activated since this was asked last belongs to those that run.
static void note_activation(struct recorder *recorder)
{
    const struct trace_watch *watch = recorder->watch;
    if (watch->activated == NULL || !watch->activated(watch->data))
        return;
    for (size_t i = 0; i < recorder->invocations.count; i++)
        recorder->invocations.items[i]->shown.activated = true;
}

static void free_invocation(struct invocation *invocation)
{
    trace_deinit(&invocation->shown.trace);
    surroundings_deinit(&invocation->surroundings);
    process_numbers_deinit(&invocation->numbers);
    free(invocation);
}

static struct error *begin_invocation(struct recorder *recorder, const struct tracer_task *task,
                                      unsigned number, struct invocation **ret_invocation)
{
    const struct trace_watch *watch = recorder->watch;
    note_activation(recorder);
    struct invocation *invocation = calloc(1, sizeof *invocation);
    struct invocation **slot = invocation != NULL ? ARRAY_ADD(&recorder->invocations) : NULL;
    if (slot == NULL) {
        free(invocation);
        return error_no_memory();
    }
    *slot = *ret_invocation = invocation;
    invocation->shown.number = number;
    invocation->shown.status = -1;
    invocation->root = task->pid;
    invocation->cut = strlen(task->name);
    invocation->children = task->children;
    invocation->start_ns = clock_ns();
    return number != 0 && watch->begins != NULL ? watch->begins(watch->data, number) : NULL;
}

// Its last task has ended.
static struct error *end_invocation(struct recorder *recorder, struct invocation *invocation)
{
    const struct trace_watch *watch = recorder->watch;
    struct error *error = NULL;
    size_t kept = 0;
    note_activation(recorder);
    if (invocation->shown.number != 0) {
        trace_sort(&invocation->shown.trace);
        error = watch->ended(watch->data, &invocation->shown);
    }
    for (size_t i = 0; i < recorder->invocations.count; i++)
        if (recorder->invocations.items[i] != invocation)
            recorder->invocations.items[kept++] = recorder->invocations.items[i];
    recorder->invocations.count = kept;
    free_invocation(invocation);
    return error;
}

// The name of a task within its invocation, which depends on nothing outside.
static struct error *put_name(const struct invocation *invocation, const struct tracer_task *task,
                              struct buffer *name)
{
    const char *rest = task->name + invocation->cut;
    char *end = NULL;
    if (*rest == '\0')
        return buffer_printf(name, "r");
    unsigned long child = strtoul(rest + 1, &end, 10);
    return buffer_printf(name, "r.%lu%s", child - invocation->children, end);
}

static struct error *join(struct recorder *recorder, struct tracer_task *task,
                          struct invocation *invocation, const char *program)
{
    struct recording *recording = task->data;
    struct trace *trace = &invocation->shown.trace;
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(put_name(invocation, task, &text));
    recording->invocation = invocation;
    invocation->tasks++;
    TRY(trace_add_process(trace, text.data, program, &recording->process));
    const char *name = trace->processes.items[recording->process].name;
    return recorder->real ? NULL : process_numbers_add(&invocation->numbers, task->tid, name);
}

static struct error *started(void *data, struct tracer_task *task)
{
    struct recorder *recorder = data;
    struct recording *recording = calloc(1, sizeof *recording);
    if (recording == NULL)
        return error_no_memory();
    task->data = recording;
    const char *program = "";
    struct recording *maker = task->maker != NULL ? task->maker->data : NULL;
    struct invocation *invocation = maker != NULL ? maker->invocation : NULL;
    if (maker != NULL) {
        program = invocation->shown.trace.processes.items[maker->process].program;
        TRY(catch_up(recorder, maker));
    } else {
        recorder->count = recorder->watch->program != NULL ? 0 : 1;
        TRY(begin_invocation(recorder, task, recorder->count, &invocation));
    }
    inside_start(&recorder->inside, task, task->maker, maker != NULL ? &maker->inside : NULL,
                 &recording->inside);
    if (!recorder->real)
        virtual_task_start(maker != NULL ? &maker->virtual : NULL, &recording->virtual);
    return join(recorder, task, invocation, program);
}

// Whether a process that belongs to no invocation has become one.
static bool is_watched(const struct recorder *recorder, const struct recording *recording,
                       const char *link)
{
    const char *program = recorder->watch->program;
    struct stat wanted, is;
    return program != NULL && recording->invocation->shown.number == 0 &&
           stat(program, &wanted) == 0 && stat(link, &is) == 0 && wanted.st_dev == is.st_dev &&
           wanted.st_ino == is.st_ino;
}

// Its clock and its numbers begin anew. Whoever started it knows it by the number of before.
static struct error *enter(struct recorder *recorder, struct tracer_task *task)
{
    struct recording *recording = task->data;
    struct invocation *invocation;
    TRY(begin_invocation(recorder, task, ++recorder->count, &invocation));
    TRY(tracer_set_family(task, recorder->count));
    recording->outside = &recording->invocation->numbers;
    virtual_task_start(NULL, &recording->virtual);
    return join(recorder, task, invocation, "");
}

static struct error *look_around(struct recorder *recorder, const struct tracer_task *task)
{
    struct invocation *invocation = invocation_of(task);
    if (invocation->surroundings.memo != NULL)
        return NULL;
    if (invocation == recorder->invocations.items[0] && recorder->count < 2)
        inside_look(&recorder->inside, task);
    invocation->start_ns = clock_ns();
    invocation->numbers.starter = task->maker != NULL ? task->maker->pid : getpid();
    invocation->numbers.group = getpgid(task->pid);
    invocation->numbers.session = getsid(task->pid);
    return surroundings_look(task, &invocation->surroundings);
}

static struct error *executes(void *data, struct tracer_task *task)
{
    struct recorder *recorder = data;
    struct recording *recording = task->data;
    char link[64], path[PATH_MAX];
    TRY(catch_up(recorder, recording));
    inside_executes(&recording->inside);
    code_owners_deinit(&recording->owners);
    snprintf(link, sizeof link, "/proc/%d/exe", task->tid);
    if (is_watched(recorder, recording, link))
        TRY(enter(recorder, task));
    if (!recorder->real)
        virtual_executes(task, &recording->virtual);
    ssize_t size = readlink(link, path, sizeof path - 1);
    path[size > 0 ? size : 0] = '\0';
    struct trace *trace = &recording->invocation->shown.trace;
    const char *name = file_base_name(path);
    _cleanup_(buffer_deinit) struct buffer shown = {0};
    TRY(escape_put(&shown, name, strlen(name), SIZE_MAX, '"'));
    const char *copy = arena_copy(&trace->arena, shown.data, shown.size);
    if (copy == NULL)
        return error_no_memory();
    trace->processes.items[recording->process].program = copy;
    return look_around(recorder, task);
}

static bool adds_filters(const struct tracer_call *call)
{
    return strcmp(call->call->name, "seccomp") == 0 || strcmp(call->call->name, "prctl") == 0;
}

// 34 MB more would be locked, or count.
static bool limits_memory(const struct tracer_call *call)
{
    const uint64_t *arguments = call->arguments;
    if (call->i386)
        return false;
    return call->number == SYS_mlockall ||
           (call->number == SYS_setrlimit && arguments[0] == RLIMIT_AS) ||
           (call->number == SYS_prlimit64 && arguments[1] == RLIMIT_AS && arguments[2] != 0);
}

// True: the task will come to its call again.
static bool offer(struct recorder *recorder, struct tracer_task *task,
                  const struct tracer_call *call, struct tracer_order *order)
{
    struct recording *recording = task->data;
    struct inside_identity identity = {.now_ns = recording->virtual.now_ns};
    if (!recorder->real) {
        const struct process_numbers *numbers = &recording->invocation->numbers;
        identity.pid = process_numbers_shown(numbers, task->pid);
        identity.tid = process_numbers_shown(numbers, task->tid);
    }
    if (adds_filters(call))
        inside_bar(task, &recording->inside);
    if (limits_memory(call) && inside_withdraw(task, &recording->inside, order))
        return true;
    return inside_offer(&recorder->inside, task, &recording->inside, call, &identity, order);
}

static bool names_files(const struct tracer_call *call)
{
    return call->call->visible == CALL_ALWAYS &&
           (call->call->reason == REASON_NAMES || call->call->reason == REASON_MACHINE);
}

static void note_visible(struct recorder *recorder, struct tracer_task *task,
                         const struct tracer_call *call)
{
    struct recording *recording = task->data;
    const struct descriptor_memo *memo = recording->invocation->surroundings.memo;
    if (names_files(call))
        inside_forget(&recorder->inside);
    if (memo != NULL && memo->valid && call->call->arguments[0] == CALL_ARG_DESCRIPTOR)
        inside_describe(&recorder->inside, task, &recording->inside, memo->number,
                        &memo->descriptor);
}

static struct error *begin(void *data, struct tracer_task *task, const struct tracer_call *call,
                           struct tracer_order *order)
{
    struct recorder *recorder = data;
    struct recording *recording = task->data;
    recording->visible = false;
    surroundings_forget(&recording->invocation->surroundings);
    TRY(catch_up(recorder, recording));
    if (recorder->foreign != NULL &&
        code_is_of(&recording->owners, task, call->place, recorder->foreign))
        return NULL;
    if (offer(recorder, task, call, order))
        return NULL;
    recording->visible = is_visible(task, call);
    note_visible(recorder, task, call);
    if (recording->visible) {
        order->stop_at_end = true;
        call_start_deinit(&recording->start);
        TRY(call_start_take(&recording->invocation->surroundings, task, call, &recording->start));
    }
    if (!recorder->real)
        virtual_begin(&recording->invocation->numbers, task, &recording->virtual, call, order);
    go_on(recording);
    return NULL;
}

// A connection on its way is no failure. Who is at the other end is known only now.
static bool has_succeeded(const struct tracer_task *task, const struct tracer_call *call)
{
    bool connects = strcmp(call->call->name, "connect") == 0;
    bool accepts = strncmp(call->call->name, "accept", 6) == 0;
    if (tracer_failed(call->result) && !(connects && call->result == -EINPROGRESS))
        return false;
    if (connects)
        return kind_of(task, call->arguments[0]) == DESCRIPTOR_STREAM;
    return !accepts || kind_of(task, (uint64_t)call->result) == DESCRIPTOR_STREAM;
}

static struct error *end(void *data, struct tracer_task *task, const struct tracer_call *call,
                         struct tracer_order *order)
{
    struct recorder *recorder = data;
    struct recording *recording = task->data;
    surroundings_forget(&recording->invocation->surroundings);
    TRY(catch_up(recorder, recording));
    if (names_files(call))
        inside_forget(&recorder->inside);
    if (!recorder->real)
        virtual_end(&recording->invocation->numbers, task, &recording->virtual, call, order);
    go_on(recording);
    if (!recording->visible || !has_succeeded(task, call))
        return NULL;
    _cleanup_(buffer_deinit) struct buffer line = {0};
    TRY(call_print(task, &recording->start, call->result, &line));
    return add_line(recording, &line);
}

static struct error *signalled(void *data, struct tracer_task *task, int *signal)
{
    struct recorder *recorder = data;
    struct recording *recording = task->data;
    if (recording->inside.slot != NULL)
        recording->virtual.now_ns = recording->inside.slot->now_ns;
    TRY(inside_leave(&recorder->inside, task, &recording->inside, signal, take, recording));
    if (*signal != 0)
        inside_keep(task, &recording->inside);
    if (!recorder->real && *signal != 0)
        virtual_signal(&recording->invocation->numbers, task, &recording->virtual, signal);
    go_on(recording);
    return NULL;
}

// Only of processes: that a thread ends is nothing that others learn.
static void ended(void *data, struct tracer_task *task, int status)
{
    struct recorder *recorder = data;
    struct recording *recording = task->data;
    _cleanup_(buffer_deinit) struct buffer line = {0};
    if (recording == NULL)
        return;
    task->data = NULL;
    if (recording->invocation == NULL) {
        free(recording);
        return;
    }
    struct invocation *invocation = recording->invocation;
    struct error *error = catch_up(recorder, recording);
    if (error == NULL && task->tid == task->pid && status != -1)
        error = WIFSIGNALED(status)
                    ? buffer_printf(&line, TRACE_KILLED "(%d)", WTERMSIG(status))
                    : buffer_printf(&line, TRACE_EXITED "(%d)", WEXITSTATUS(status));
    if (error == NULL && line.size != 0)
        error = add_line(recording, &line);
    process_numbers_end(&invocation->numbers, task->tid, recording->virtual.waited_ns);
    if (recording->outside != NULL)
        process_numbers_end(recording->outside, task->tid, 0);
    if (task->tid == invocation->root) {
        invocation->shown.status = status;
        invocation->shown.ns = clock_ns() - invocation->start_ns;
    }
    if (--invocation->tasks == 0 && invocation->shown.number != 0 && error == NULL)
        error = end_invocation(recorder, invocation);
    if (recorder->error == NULL)
        recorder->error = TAKE(error);
    error_free(error);
    call_start_deinit(&recording->start);
    code_owners_deinit(&recording->owners);
    inside_end(&recording->inside);
    free(recording);
}

static void free_recorder(struct recorder *recorder)
{
    for (size_t i = 0; i < recorder->invocations.count; i++)
        free_invocation(recorder->invocations.items[i]);
    ARRAY_DEINIT(&recorder->invocations);
    inside_close(&recorder->inside);
    error_free(recorder->error);
}

struct error *trace_record_each(const struct trace_options *options,
                                const struct trace_watch *watch, int *ret_status)
{
    _cleanup_(free_recorder) struct recorder recorder = {
        .watch = watch, .real = options->real, .foreign = options->foreign};
    _cleanup_free_ unsigned char *stops = calloc(linux_call_count(), 1);
    if (stops == NULL)
        return error_no_memory();
    for (size_t i = 0; i < linux_call_count(); i++)
        if (linux_call_at(i)->visible != CALL_NEVER)
            stops[i] = FILTER_STOP_IF_VISIBLE;
    if (!options->real)
        virtual_add_stops(stops);
    inside_open(&recorder.inside);
    static const char *const others[] = {"seccomp", "mlockall", "setrlimit", "prlimit64"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        stops[linux_call_index(linux_call_find(others[i]))] = FILTER_STOP;
    stops[linux_call_index(linux_call_find("prctl"))] = FILTER_ABOUT(FILTER_STOP_IF_FILTERS, 0);
    const struct tracer_handlers handlers = {.started = started,
                                             .executes = executes,
                                             .begin = begin,
                                             .end = end,
                                             .signalled = signalled,
                                             .ended = ended,
                                             .data = &recorder};
    const struct tracer_options traced = {.command = options->command,
                                          .environment = options->environment,
                                          .stops = stops,
                                          .handlers = &handlers,
                                          .trusted = &inside_code,
                                          .repeatable = !options->real};
    TRY(tracer_run(&traced, ret_status));
    return TAKE(recorder.error);
}

static struct error *take_whole(void *data, struct trace_invocation *invocation)
{
    *(struct trace *)data = invocation->trace;
    invocation->trace = (struct trace){0};
    return NULL;
}

struct error *trace_record(const struct trace_options *options, struct trace *ret_trace,
                           int *ret_status)
{
    _cleanup_(trace_deinit) struct trace trace = {0};
    const struct trace_watch watch = {.ended = take_whole, .data = &trace};
    TRY(trace_record_each(options, &watch, ret_status));
    *ret_trace = trace;
    trace = (struct trace){0};
    return NULL;
}
