// SPDX-License-Identifier: GPL-3.0-or-later
// Orders and result travel in a memory file without a name, which the workload cannot find. What
// comes back was written by a process that ran beside the target, so it is read as foreign bytes.
#include "engine/observed-workload.h"

#include "base/cleanup.h"
#include "base/cursor.h"
#include "base/file.h"
#include "base/quote.h"
#include "base/words.h"
#include "engine/activation-watch.h"
#include "interface/record.h"
#include "observe/trace.h"
#include "sandbox/message.h"
#include "trial/program.h"
#include "wire/region.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOT_TRACED 125 // exit status
// Of a trace, packed: about 300 million stores. It lies in memory, once for each trial that runs.
#define INTERFACE_MOST_BYTES (UINT64_C(256) << 20)

struct observed_head {
    uint64_t orders; // bytes behind this
    uint64_t trace;  // bytes behind the orders: of an interface, or records of invocations
    uint64_t begun;  // invocations
    uint64_t done;
};

// Of an invocation that has ended; its trace follows.
struct observed_record {
    uint64_t number, size, ns;
    int32_t status;
    uint32_t activated;
};
#define MOST_INVOCATIONS 20000

struct observed_workload {
    int shared;
    char *const *command;
    bool interface;
    bool each;       // start of a program is an invocation; if not, the command is
    uint64_t orders; // bytes of them in `shared`; what that says itself the target may have written
};

static struct error *write_at(int file, const void *bytes, size_t size, off_t at)
{
    for (size_t done = 0; done < size;) {
        ssize_t now = pwrite(file, (const char *)bytes + done, size - done, at + (off_t)done);
        if (now < 0 && errno != EINTR)
            return error_from_errno(errno, "cannot write what was observed");
        done += now > 0 ? (size_t)now : 0;
    }
    return NULL;
}

static struct error *read_at(int file, void *bytes, size_t size, off_t at)
{
    for (size_t done = 0; done < size;) {
        ssize_t now = pread(file, (char *)bytes + done, size - done, at + (off_t)done);
        if (now == 0 || (now < 0 && errno != EINTR))
            return error_new("what was observed is incomplete");
        done += now > 0 ? (size_t)now : 0;
    }
    return NULL;
}

// The tool that records, or "" for behaviour, and the libraries.
static struct error *put_libraries(const struct words *libraries, struct buffer *orders)
{
    _cleanup_free_ char *tool = NULL;
    if (libraries->count == 0)
        return message_add_text(orders, "");
    TRY(program_interface_tool(&tool));
    TRY(message_add_text(orders, tool));
    return message_add_list(orders, libraries->items);
}

struct error *observed_workload_new(const struct observed_plan *plan,
                                    struct observed_workload **ret_workload)
{
    _cleanup_(buffer_deinit) struct buffer orders = {0};
    TRY(message_add_list(&orders, plan->command));
    TRY(message_add_list(&orders, plan->environment));
    TRY(message_add_text(&orders, plan->input != NULL ? plan->input : ""));
    TRY(message_add_text(&orders, plan->program != NULL ? plan->program : ""));
    TRY(message_add_text(&orders, plan->faulty ? "faulty" : ""));
    TRY(put_libraries(plan->libraries, &orders));
    _cleanup_close_ int shared = memfd_create("workload", MFD_CLOEXEC);
    if (shared < 0)
        return error_from_errno(errno, "cannot make memory for what is observed");
    const struct observed_head head = {.orders = orders.size};
    TRY(write_at(shared, &head, sizeof head, 0));
    TRY(write_at(shared, orders.data, orders.size, sizeof head));
    struct observed_workload *workload = calloc(1, sizeof *workload);
    if (workload == NULL)
        return error_no_memory();
    workload->shared = shared;
    shared = -1;
    workload->command = plan->command;
    workload->interface = plan->libraries->count != 0;
    workload->each = plan->program != NULL;
    workload->orders = orders.size;
    *ret_workload = workload;
    return NULL;
}

void observed_workload_free(struct observed_workload *workload)
{
    if (workload == NULL)
        return;
    close(workload->shared);
    free(workload);
}

static struct error *open_input(const char *path)
{
    if (path[0] == '\0')
        return NULL;
    _cleanup_close_ int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (file < 0 || dup2(file, STDIN_FILENO) < 0)
        return error_from_errno(errno, "cannot open %s for the workload", path);
    return NULL;
}

struct observing {
    int shared;
    struct observed_head *head;
    struct activation_watch *activation;
};

static bool ask_activation(void *data)
{
    return activation_watch_ask(((struct observing *)data)->activation);
}

static struct error *invocation_begins(void *data, unsigned number)
{
    struct observing *observing = data;
    observing->head->begun = number;
    return write_at(observing->shared, observing->head, sizeof *observing->head, 0);
}

static struct error *invocation_ended(void *data, struct trace_invocation *invocation)
{
    struct observing *observing = data;
    struct observed_head *head = observing->head;
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(trace_print(&invocation->trace, &text));
    const struct observed_record record = {.number = invocation->number,
                                           .size = text.size,
                                           .ns = invocation->ns,
                                           .status = invocation->status,
                                           .activated = invocation->activated};
    off_t at = (off_t)(sizeof *head + head->orders + head->trace);
    TRY(write_at(observing->shared, &record, sizeof record, at));
    TRY(write_at(observing->shared, text.data, text.size, at + (off_t)sizeof record));
    head->trace += sizeof record + text.size;
    return write_at(observing->shared, head, sizeof *head, 0);
}

struct behaviour_orders {
    char **command, **environment;
    const char *program; // "": the command
    bool faulty;
};

static struct error *record_behaviour(int shared, struct observed_head *head,
                                      const struct behaviour_orders *orders, int *ret_status)
{
    struct observing observing = {shared, head, NULL};
    struct activation_watch *activation = NULL;
    const struct trace_options options = {.command = orders->command,
                                          .environment = orders->environment,
                                          .foreign = WIRE_RUNTIME_NAME};
    struct trace_watch watch = {
        .begins = invocation_begins, .ended = invocation_ended, .data = &observing};
    if (*orders->program != '\0')
        watch.program = orders->program;
    if (watch.program != NULL && orders->faulty)
        TRY(activation_watch_open(orders->environment, &activation));
    if (activation != NULL)
        watch.activated = ask_activation;
    observing.activation = activation;
    struct error *error = trace_record_each(&options, &watch, ret_status);
    activation_watch_close(activation);
    return error;
}

static struct error *record_interface(int shared, struct observed_head *head,
                                      struct interface_recording *recording, struct cursor *cursor,
                                      int *ret_status)
{
    _cleanup_free_ char **libraries = NULL;
    struct interface_recorded recorded;
    struct stat facts;
    off_t start = (off_t)(sizeof *head + head->orders);
    TRY(message_list(cursor, &libraries));
    while (libraries[recording->library_count] != NULL)
        recording->library_count++;
    recording->libraries = (const char *const *)libraries;
    recording->output = shared;
    recording->name = "the trace";
    if (lseek(shared, start, SEEK_SET) < 0)
        return error_from_errno(errno, "cannot write the trace");
    recording->most_size = INTERFACE_MOST_BYTES;
    TRY(interface_record(recording, &recorded));
    *ret_status = recorded.status;
    if (recorded.too_large) // then there is none
        return ftruncate(shared, start) < 0 ? error_from_errno(errno, "cannot empty the trace")
                                            : NULL;
    if (fstat(shared, &facts) < 0)
        return error_from_errno(errno, "cannot see the trace");
    head->trace = (uint64_t)(facts.st_size - start);
    return NULL;
}

static struct error *record(int shared, int *ret_status)
{
    struct observed_head head;
    fcntl(shared, F_SETFD, FD_CLOEXEC);
    TRY(read_at(shared, &head, sizeof head, 0));
    _cleanup_free_ char *orders = malloc(head.orders);
    if (orders == NULL)
        return error_no_memory();
    TRY(read_at(shared, orders, head.orders, sizeof head));
    struct cursor cursor = {.data = (const unsigned char *)orders, .size = head.orders};
    _cleanup_free_ char **command = NULL, **environment = NULL;
    TRY(message_list(&cursor, &command));
    TRY(message_list(&cursor, &environment));
    const char *input = message_text(&cursor);
    TRY(open_input(input != NULL ? input : ""));
    const char *program = message_text(&cursor), *faulty = message_text(&cursor);
    const struct behaviour_orders behaviour = {.command = command,
                                               .environment = environment,
                                               .program = program != NULL ? program : "",
                                               .faulty = faulty != NULL && *faulty != '\0'};
    const char *tool = message_text(&cursor);
    struct interface_recording recording = {
        .tool = tool, .command = command, .environment = environment, .foreign = WIRE_RUNTIME_NAME};
    // A process that has entered a user namespace may not be traced, nor may a copy of it.
    prctl(PR_SET_DUMPABLE, 1);
    TRY(tool != NULL && *tool != '\0'
            ? record_interface(shared, &head, &recording, &cursor, ret_status)
            : record_behaviour(shared, &head, &behaviour, ret_status));
    head.done = 1;
    return write_at(shared, &head, sizeof head, 0);
}

// Ends as the command did. The core file, if there is one, is the command's.
static int end_like(int status)
{
    if (!WIFSIGNALED(status))
        return WEXITSTATUS(status);
    const struct rlimit none = {0, 0};
    sigset_t all;
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0);
    signal(WTERMSIG(status), SIG_DFL);
    sigemptyset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    raise(WTERMSIG(status));
    return 128 + WTERMSIG(status);
}

static int observe_inside(int shared)
{
    int status = 0;
    _cleanup_error_ struct error *error = record(shared, &status);
    if (error == NULL)
        return end_like(status);
    dprintf(STDERR_FILENO, "ordeal: %s\n", error_message(error));
    return NOT_TRACED;
}

void observed_workload_fill(const struct observed_workload *workload, struct sandbox_step *step)
{
    step->command = workload->command; // its name in messages
    step->inside = observe_inside;
    step->shared = workload->shared;
    step->input = -1;
}

static struct error *say_trouble(const struct observed_workload *workload, struct outcome_run *run)
{
    _cleanup_(buffer_deinit) struct buffer why = {0};
    const struct buffer *err = &run->workload.err.kept;
    TRY(buffer_printf(&why, "%s could not be recorded",
                      workload->interface ? "what the library gives its user"
                                          : "the behaviour of the workload"));
    TRY(quote_put_last_line(&why, "; stderr: ", err->data, err->size));
    run->trouble = TAKE(why.data);
    return NULL;
}

// Records are in the order in which invocations ended. A damaged one ends them.
static struct error *take_invocations(const struct observed_workload *workload,
                                      const struct buffer *bytes, uint64_t begun,
                                      struct outcome_run *run)
{
    struct cursor cursor = {.data = (const unsigned char *)bytes->data, .size = bytes->size};
    struct observed_record record;
    if (begun > MOST_INVOCATIONS)
        return error_new("the workload starts the program more than %d times", MOST_INVOCATIONS);
    for (uint64_t i = 0; i < begun; i++) {
        struct outcome_invocation *added = ARRAY_ADD(&run->invocations);
        if (added == NULL)
            return error_no_memory();
        *added = (struct outcome_invocation){0};
    }
    while (!cursor.failed && cursor.at < cursor.size) {
        cursor_copy(&cursor, &record, sizeof record);
        const char *text = (const char *)cursor_bytes(&cursor, cursor.failed ? 0 : record.size);
        if (cursor.failed || text == NULL || record.number == 0 || record.number > begun)
            return NULL;
        struct outcome_invocation *invocation = &run->invocations.items[record.number - 1];
        free(invocation->trace);
        invocation->trace = strndup(text, record.size);
        if (invocation->trace == NULL)
            return error_no_memory();
        invocation->ns = record.ns;
        invocation->status = record.status;
        // Of the command alone it is known otherwise.
        invocation->activated = record.activated != 0 || !workload->each;
    }
    return NULL;
}

struct error *observed_workload_take(const struct observed_workload *workload,
                                     struct outcome_run *run)
{
    struct observed_head head;
    struct stat facts;
    uint64_t behind = sizeof head + workload->orders;
    TRY(read_at(workload->shared, &head, sizeof head, 0));
    bool ended = run->workload.end == SANDBOX_EXIT || run->workload.end == SANDBOX_SIGNAL;
    if (head.done == 0 && ended && run->trouble == NULL)
        return say_trouble(workload, run);
    uint64_t most = workload->interface ? INTERFACE_MOST_BYTES : TRACE_MOST_BYTES;
    if ((head.done == 0 && workload->interface) || head.trace > most ||
        fstat(workload->shared, &facts) < 0 || (uint64_t)facts.st_size < behind ||
        (uint64_t)facts.st_size - behind < head.trace)
        return NULL;
    _cleanup_(buffer_deinit) struct buffer bytes = {.data = malloc(head.trace + 1)};
    if (bytes.data == NULL)
        return error_no_memory();
    bytes.size = head.trace;
    bytes.room = head.trace + 1;
    TRY(read_at(workload->shared, bytes.data, head.trace, (off_t)behind));
    bytes.data[head.trace] = '\0';
    if (!workload->interface)
        return take_invocations(workload, &bytes, head.begun, run);
    run->interface = bytes;
    bytes = (struct buffer){0};
    return NULL;
}
