// SPDX-License-Identifier: GPL-3.0-or-later
// Records a trace: decides at every stop whether the call is visible, and keeps its line once it
// has succeeded.
#include "observe/trace.h"

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/file.h"
#include "observe/arguments.h"
#include "observe/code-owner.h"
#include "observe/filter.h"
#include "observe/inside.h"
#include "observe/virtual.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

struct recorder {
    struct trace trace;
    bool real;           // nothing is virtual
    const char *foreign; // as in trace_options
    struct process_numbers numbers;
    struct surroundings surroundings;
    bool looked; // at the surroundings
    struct inside inside;
};

// Of a task.
struct recording {
    size_t process;
    bool visible; // the call that it is in
    struct call_start start;
    struct virtual_task virtual;
    struct code_owners owners;
    struct inside_task inside;
};

static bool kind_is_outside(enum descriptor_kind kind)
{
    return kind == DESCRIPTOR_FILE || kind == DESCRIPTOR_STREAM;
}

static enum descriptor_kind kind_of(const struct recorder *recorder, const struct tracer_task *task,
                                    uint64_t number)
{
    struct descriptor descriptor;
    descriptor_describe(&recorder->surroundings, task, (int)number, &descriptor);
    return descriptor.kind;
}

static bool opens_visibly(const struct recorder *recorder, const struct tracer_task *task,
                          const struct tracer_call *call)
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
           path_of_argument(&recorder->surroundings, task, directory, call->arguments[index], path,
                            sizeof path) &&
           !path_is_own(path);
}

// The first mmap() of i386 has its arguments in memory.
static bool maps_visibly(const struct recorder *recorder, const struct tracer_task *task,
                         const struct tracer_call *call)
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
           kind_of(recorder, task, arguments[4]) == DESCRIPTOR_FILE;
}

// A number below 0 is a group, which has the number of its first process.
static bool reaches_others(const struct recorder *recorder, const struct tracer_task *task,
                           int64_t number)
{
    pid_t pid = process_numbers_real(&recorder->numbers, (pid_t)number);
    if (pid == -1)
        return true;
    if (pid == 0)
        pid = getpgid(task->pid);
    return !tracer_knows(task->tracer, pid < 0 ? -pid : pid);
}

// Also notes whether it reads random numbers.
static bool reads_visibly(const struct recorder *recorder, const struct tracer_task *task,
                          int number)
{
    struct recording *recording = task->data;
    struct descriptor descriptor;
    descriptor_describe(&recorder->surroundings, task, number, &descriptor);
    recording->virtual.random_file = descriptor.kind == DESCRIPTOR_OWN &&
                                     path_is_random(descriptor.text);
    return descriptor.kind == DESCRIPTOR_STREAM;
}

static bool is_visible(const struct recorder *recorder, const struct tracer_task *task,
                       const struct tracer_call *call)
{
    const uint64_t *arguments = call->arguments;
    switch (call->call->visible) {
    case CALL_ALWAYS:
        return true;
    case CALL_CREATES:
        return opens_visibly(recorder, task, call);
    case CALL_FILE:
        return kind_of(recorder, task, arguments[0]) == DESCRIPTOR_FILE;
    case CALL_OUTSIDE:
    case CALL_LOCKS:
        return kind_is_outside(kind_of(recorder, task, arguments[0]));
    case CALL_OUTSIDE_SECOND:
        return kind_is_outside(kind_of(recorder, task, arguments[1]));
    case CALL_OUTSIDE_THIRD:
        return kind_is_outside(kind_of(recorder, task, arguments[2]));
    case CALL_INCOMING:
        return reads_visibly(recorder, task, (int)arguments[0]);
    case CALL_DEVICE:
        return !ioctl_only_asks((unsigned)arguments[1]) &&
               kind_is_outside(kind_of(recorder, task, arguments[0]));
    case CALL_SHARED:
        return maps_visibly(recorder, task, call);
    case CALL_OTHERS:
        return reaches_others(recorder, task, (int64_t)arguments[0]);
    default:
        return false;
    }
}

static struct error *add_line(struct recorder *recorder, size_t process, const struct buffer *line)
{
    const char *problem;
    return trace_add_line(&recorder->trace, process, line->data, line->size, &problem);
}

struct taking {
    struct recorder *recorder;
    size_t process;
};

static struct error *take(void *data, const struct inside_call *call)
{
    const struct taking *taking = data;
    _cleanup_(buffer_deinit) struct buffer line = {0};
    TRY(call_print_recorded(&call->call, call->descriptor, call->data, call->size, &line));
    return add_line(taking->recorder, taking->process, &line);
}

// A task has stopped: what it did meanwhile, and what its clock showed.
static struct error *catch_up(struct recorder *recorder, struct recording *recording)
{
    struct taking taking = {recorder, recording->process};
    if (recording->inside.slot != NULL)
        recording->virtual.now_ns = recording->inside.slot->now_ns;
    return inside_drain(&recorder->inside, &recording->inside, take, &taking);
}

static void go_on(struct recording *recording)
{
    if (recording->inside.slot != NULL)
        recording->inside.slot->now_ns = recording->virtual.now_ns;
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
    if (maker != NULL) {
        program = recorder->trace.processes.items[maker->process].program;
        TRY(catch_up(recorder, maker));
    }
    inside_start(&recorder->inside, task, task->maker, maker != NULL ? &maker->inside : NULL,
                 &recording->inside);
    if (!recorder->real) {
        virtual_task_start(maker != NULL ? &maker->virtual : NULL, &recording->virtual);
        TRY(process_numbers_add(&recorder->numbers, task->tid, task->name));
    }
    return trace_add_process(&recorder->trace, task->name, program, &recording->process);
}

static struct error *executes(void *data, struct tracer_task *task)
{
    struct recorder *recorder = data;
    struct recording *recording = task->data;
    char link[64], path[PATH_MAX];
    TRY(catch_up(recorder, recording));
    inside_executes(&recording->inside);
    code_owners_deinit(&recording->owners);
    if (!recorder->real)
        virtual_executes(task, &recording->virtual);
    snprintf(link, sizeof link, "/proc/%d/exe", task->tid);
    ssize_t size = readlink(link, path, sizeof path - 1);
    path[size > 0 ? size : 0] = '\0';
    struct trace_process *process = &recorder->trace.processes.items[recording->process];
    const char *name = file_base_name(path);
    _cleanup_(buffer_deinit) struct buffer shown = {0};
    TRY(escape_put(&shown, name, strlen(name), SIZE_MAX, '"'));
    process->program = arena_copy(&recorder->trace.arena, shown.data, shown.size);
    if (process->program == NULL)
        return error_no_memory();
    if (recorder->looked)
        return NULL;
    recorder->looked = true;
    inside_look(&recorder->inside, task);
    recorder->numbers.starter = getpid();
    recorder->numbers.group = getpgid(task->pid);
    recorder->numbers.session = getsid(task->pid);
    return surroundings_look(task, &recorder->surroundings);
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
        identity.pid = process_numbers_shown(&recorder->numbers, task->pid);
        identity.tid = process_numbers_shown(&recorder->numbers, task->tid);
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
    const struct descriptor_memo *memo = recorder->surroundings.memo;
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
    surroundings_forget(&recorder->surroundings);
    TRY(catch_up(recorder, recording));
    if (recorder->foreign != NULL &&
        code_is_of(&recording->owners, task, call->place, recorder->foreign))
        return NULL;
    if (offer(recorder, task, call, order))
        return NULL;
    recording->visible = is_visible(recorder, task, call);
    note_visible(recorder, task, call);
    if (recording->visible) {
        order->stop_at_end = true;
        call_start_deinit(&recording->start);
        TRY(call_start_take(&recorder->surroundings, task, call, &recording->start));
    }
    if (!recorder->real)
        virtual_begin(&recorder->numbers, task, &recording->virtual, call, order);
    go_on(recording);
    return NULL;
}

// A connection on its way is no failure. Who is at the other end is known only now.
static bool has_succeeded(const struct recorder *recorder, const struct tracer_task *task,
                          const struct tracer_call *call)
{
    bool connects = strcmp(call->call->name, "connect") == 0;
    bool accepts = strncmp(call->call->name, "accept", 6) == 0;
    if (tracer_failed(call->result) && !(connects && call->result == -EINPROGRESS))
        return false;
    if (connects)
        return kind_of(recorder, task, call->arguments[0]) == DESCRIPTOR_STREAM;
    return !accepts || kind_of(recorder, task, (uint64_t)call->result) == DESCRIPTOR_STREAM;
}

static struct error *end(void *data, struct tracer_task *task, const struct tracer_call *call,
                         struct tracer_order *order)
{
    struct recorder *recorder = data;
    struct recording *recording = task->data;
    surroundings_forget(&recorder->surroundings);
    TRY(catch_up(recorder, recording));
    if (names_files(call))
        inside_forget(&recorder->inside);
    if (!recorder->real)
        virtual_end(&recorder->numbers, task, &recording->virtual, call, order);
    go_on(recording);
    if (!recording->visible || !has_succeeded(recorder, task, call))
        return NULL;
    _cleanup_(buffer_deinit) struct buffer line = {0};
    TRY(call_print(task, &recording->start, call->result, &line));
    return add_line(recorder, recording->process, &line);
}

static struct error *signalled(void *data, struct tracer_task *task, int *signal)
{
    struct recorder *recorder = data;
    struct recording *recording = task->data;
    struct taking taking = {recorder, recording->process};
    if (recording->inside.slot != NULL)
        recording->virtual.now_ns = recording->inside.slot->now_ns;
    TRY(inside_leave(&recorder->inside, task, &recording->inside, signal, take, &taking));
    if (*signal != 0)
        inside_keep(task, &recording->inside);
    if (!recorder->real && *signal != 0)
        virtual_signal(&recorder->numbers, task, &recording->virtual, signal);
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
    struct error *error = catch_up(recorder, recording);
    if (error == NULL && task->tid == task->pid && status != -1)
        error = WIFSIGNALED(status)
                    ? buffer_printf(&line, TRACE_KILLED "(%d)", WTERMSIG(status))
                    : buffer_printf(&line, TRACE_EXITED "(%d)", WEXITSTATUS(status));
    if (error == NULL && line.size != 0)
        error = add_line(recorder, recording->process, &line);
    error_free(error);
    process_numbers_end(&recorder->numbers, task->tid, recording->virtual.waited_ns);
    call_start_deinit(&recording->start);
    code_owners_deinit(&recording->owners);
    inside_end(&recording->inside);
    free(recording);
    task->data = NULL;
}

static void free_recorder(struct recorder *recorder)
{
    trace_deinit(&recorder->trace);
    surroundings_deinit(&recorder->surroundings);
    process_numbers_deinit(&recorder->numbers);
    inside_close(&recorder->inside);
}

struct error *trace_record(const struct trace_options *options, struct trace *ret_trace,
                           int *ret_status)
{
    _cleanup_(free_recorder) struct recorder recorder = {.real = options->real,
                                                         .foreign = options->foreign};
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
    trace_sort(&recorder.trace);
    *ret_trace = recorder.trace;
    recorder.trace = (struct trace){0};
    return NULL;
}
