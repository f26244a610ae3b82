// SPDX-License-Identifier: GPL-3.0-or-later
// The process of a job slot: job, shot, verdict, result, until the controller closes the socket. It
// must not outlive the controller (the kernel sees to that). It must keep nothing of the
// controller's open, above all not the store, whose lock would then outlive the controller. It must
// not get the terminal's Ctrl-C, which is for the controller alone.
#include "engine/slot-internal.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/secrets.h"
#include "engine/shooting.h"
#include "engine/slot-message.h"
#include "observe/trace.h"
#include "oracle/judge.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define OUTPUT_KEPT 4096 // bytes of the end of stderr

struct error *slot_receive(struct slot *slot, size_t *ret_size)
{
    slot->in.size -= slot->taken;
    if (slot->in.size != 0)
        memmove(slot->in.data, slot->in.data + slot->taken, slot->in.size);
    slot->taken = 0;
    for (;;) {
        TRY(slot_message_size(slot->in.data, slot->in.size, ret_size));
        if (*ret_size != 0 && slot->in.size >= *ret_size) {
            slot->taken = *ret_size;
            return NULL;
        }
        char bytes[4096];
        size_t want = *ret_size != 0 ? *ret_size - slot->in.size : sizeof bytes;
        ssize_t got = recv(slot->socket, bytes, want < sizeof bytes ? want : sizeof bytes, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_from_errno(errno, "cannot hear");
        if (got == 0) {
            *ret_size = 0;
            return NULL;
        }
        TRY(buffer_append(&slot->in, bytes, (size_t)got));
    }
}

// Secrets are masked before anything is cut off.
static struct error *end_of(const struct sandbox_stream *stream, char **ret_text)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    const struct buffer *kept = &stream->kept;
    *ret_text = NULL;
    if (kept->size == 0)
        return NULL;
    bool cut = kept->size < stream->size;
    TRY(secrets_put(&text, kept->data, cut ? secrets_whole(kept->data, kept->size) : kept->size));
    TRY(buffer_append(&text, "", 0));
    size_t skipped = text.size > OUTPUT_KEPT ? text.size - OUTPUT_KEPT : 0;
    // Begin with a whole line: the cut may be in the middle of a line or character.
    const char *line = skipped > 0 ? memchr(text.data + skipped, '\n', OUTPUT_KEPT) : NULL;
    if (line != NULL && line + 1 < text.data + text.size)
        skipped = (size_t)(line + 1 - text.data);
    *ret_text = strndup(text.data + skipped, text.size - skipped);
    return *ret_text == NULL ? error_no_memory() : NULL;
}

// The traces of invocations that behave differently, as far as a message can hold them.
static struct error *keep_traces(const struct outcome_run *run, struct engine_result *result)
{
    size_t room = SLOT_MESSAGE_SIZE / 4;
    for (size_t i = 0; i < result->judgement.deviations.list.count; i++) {
        _cleanup_(buffer_deinit) struct buffer masked = {0}, packed = {0};
        struct deviation *deviation = &result->judgement.deviations.list.items[i];
        if (deviation->count == 0 || deviation->number > run->invocations.count ||
            run->invocations.items[deviation->number - 1].trace == NULL)
            continue;
        const char *trace = run->invocations.items[deviation->number - 1].trace;
        TRY(secrets_put(&masked, trace, strlen(trace)));
        TRY(trace_pack(masked.data, masked.size, &packed));
        if (packed.size > room)
            return NULL;
        room -= packed.size;
        deviation->trace = packed;
        packed = (struct buffer){0};
    }
    return NULL;
}

struct error *slot_judge(const struct slot *slot, struct outcome_run *run,
                         struct engine_result *result)
{
    TRY(shooting_decode(slot->shooting, run, slot->task->reference));
    TRY(judge(slot->task->reference, run, &result->judgement));
    TRY(keep_traces(run, result));
    result->end = run->workload.end;
    result->status = run->workload.status;
    result->seconds = clock_seconds(run->workload.ns);
    for (size_t i = 0; i < run->artifacts.count; i++)
        result->changed |= run->artifacts.items[i].kind != ARTIFACT_STREAM;
    TRY(end_of(&run->workload.err, &result->output));
    bool crashed = result->judgement.verdict == VERDICT_CRASH ||
                   result->judgement.verdict == VERDICT_DELIBERATE;
    if (run->hang_stack != NULL && (!crashed || run->observation.crash_stack == NULL))
        result->stack = TAKE(run->hang_stack);
    else if (run->observation.crash_stack != NULL) {
        result->stack = strdup(run->observation.crash_stack);
        if (result->stack == NULL)
            return error_no_memory();
    }
    result->observation = run->observation;
    run->observation = (struct observation){0};
    return NULL;
}

void slot_note_running(struct slot *slot, const struct slot_job *job)
{
    __atomic_store_n(slot->running, job != NULL ? job->tag + 1 : 0, __ATOMIC_RELEASE);
}

static size_t digits(const char *text)
{
    return strspn(text, "0123456789");
}

// Times and counts go on: "15:30" instead of "15:28" in the one, "15:29" in the other.
static bool same_but_numbers(const char *a, const char *b)
{
    for (;;) {
        size_t size = digits(a), other = digits(b);
        if ((size == 0) != (other == 0))
            return false;
        a += size;
        b += other;
        if (*a != *b || *a == '\0')
            return *a == *b;
        a++;
        b++;
    }
}

// References may have been alike by chance. What a run without the fault does differently, too, is
// not the fault's doing, and what that did cannot be known.
static struct error *compare_with_control(struct slot *slot, const struct slot_job *job,
                                          const struct outcome_run *tried,
                                          struct engine_result *result)
{
    struct judgement *judgement = &result->judgement;
    const struct reference *reference = slot->task->reference;
    _cleanup_(outcome_run_deinit) struct outcome_run run = {0};
    _cleanup_(difference_deinit) struct difference difference = {0}, wrong = {0};
    bool compared =
        judgement->verdict == VERDICT_SILENT || judgement->verdict == VERDICT_WRONG_OUTPUT;
    if (!job->control || !compared || judgement->symptom == SYMPTOM_NONE ||
        judgement->symptom == SYMPTOM_DOWN)
        return NULL;
    TRY(shooting_run(slot->shooting, NULL, job->seed, reference_timeout_ns(reference), &run));
    if (run.workload.end != SANDBOX_EXIT || run.trouble != NULL)
        return NULL;
    TRY(shooting_decode(slot->shooting, &run, reference));
    TRY(reference_compare(reference_of(reference, tried->input), tried, &wrong));
    TRY(reference_compare(reference_of(reference, run.input), &run, &difference));
    // If there is more than that, it may be the fault's doing.
    if (difference.sentence == NULL || wrong.sentence == NULL ||
        !same_but_numbers(difference.sentence, wrong.sentence))
        return NULL;
    char *reason = NULL;
    if (asprintf(&reason, "without the fault, too: %s", difference.sentence) < 0)
        return error_no_memory();
    free(judgement->reason);
    judgement->reason = reason;
    judgement->verdict = VERDICT_INVALID;
    judgement->by_chance = true;
    judgement->severity = SEVERITY_NONE;
    return secrets_mask(&judgement->reason);
}

struct error *slot_shoot(struct slot *slot, const struct slot_job *job,
                         struct engine_result *result)
{
    _cleanup_(outcome_run_deinit) struct outcome_run run = {0};
    slot_note_running(slot, job);
    struct error *error = shooting_run(slot->shooting, job->spec, job->seed,
                                       reference_timeout_ns(slot->task->reference), &run);
    if (error == NULL)
        error = slot_judge(slot, &run, result);
    if (error == NULL)
        error = compare_with_control(slot, job, &run, result);
    slot_note_running(slot, NULL);
    return error;
}

struct error *slot_send(struct slot *slot, const struct slot_job *job, struct engine_result *result,
                        struct error *failure)
{
    _cleanup_error_ struct error *error = failure;
    if (error != NULL) {
        engine_result_deinit(result);
        result->judgement.verdict = VERDICT_INVALID;
        result->judgement.reason = strdup(error_message(error));
        if (result->judgement.reason == NULL)
            return error_no_memory();
    }
    result->job =
        (struct engine_job){.candidate = job->candidate, .seed = job->seed, .tag = job->tag};
    slot->out.size = 0;
    TRY(slot_message_put_result(&slot->out, result));
    return slot_message_send(slot->socket, &slot->out);
}

static struct error *answer(struct slot *slot, size_t size)
{
    _cleanup_(slot_job_deinit) struct slot_job job = {0};
    TRY(slot_message_get_job(slot->in.data, size, &job));
    if (job.spec == NULL) // a withdrawal that came too late
        return NULL;
    if (job.more > 0)
        return slot_answer_lot(slot, &job);
    while (session_fits(slot, job.spec)) {
        bool more;
        TRY(session_run(slot, &job, &more));
        if (!more)
            return NULL;
    }
    _cleanup_(engine_result_deinit) struct engine_result result = {0};
    return slot_send(slot, &job, &result, slot_shoot(slot, &job, &result));
}

static struct error *work(struct slot *slot)
{
    TRY(shooting_new(slot->task->definition, slot->task->injector, &slot->shooting));
    const struct injector_learning *learning = slot->task->injector->learning;
    if (learning != NULL && learning->join != NULL)
        learning->join(shooting_injector(slot->shooting), slot->task->leader);
    for (;;) {
        size_t size;
        TRY(slot_receive(slot, &size));
        if (size == 0)
            return NULL;
        TRY(answer(slot, size));
    }
}

static struct error *detach(const struct slot *slot, pid_t controller)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
        return error_from_errno(errno, "prctl failed");
    if (getppid() != controller)
        _exit(0); // it died before PR_SET_PDEATHSIG
    if (setpgid(0, 0) < 0)
        return error_from_errno(errno, "cannot have a process group");
    static const int usual[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGCHLD, SIGWINCH};
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        signal(usual[i], SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    if (sigprocmask(SIG_SETMASK, &none, NULL) < 0)
        return error_from_errno(errno, "cannot unblock signals");
    unsigned number = (unsigned)slot->socket;
    if ((number > 3 && close_range(3, number - 1, 0) < 0) || close_range(number + 1, ~0u, 0) < 0)
        return error_from_errno(errno, "cannot close what the controller has open");
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0)
        return error_from_errno(errno, "cannot open /dev/null");
    close(nothing);
    return NULL;
}

static void slot_main(struct slot *slot, pid_t controller)
{
    struct error *error = detach(slot, controller);
    if (error == NULL)
        error = work(slot);
    if (error != NULL) {
        slot->out.size = 0;
        _cleanup_error_ struct error *second =
            slot_message_put_refusal(&slot->out, error_message(error));
        if (second == NULL)
            second = slot_message_send(slot->socket, &slot->out);
        error_free(error);
    }
    shooting_free(slot->shooting);
    buffer_deinit(&slot->in);
    buffer_deinit(&slot->out);
}

// The controller may have been started with its standard streams closed. The sockets must not take
// their numbers, which mean something to targets.
static struct error *make_sockets(int *ret_ours, int *ret_theirs)
{
    int sockets[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) < 0)
        return error_from_errno(errno, "cannot make a socket for a job slot");
    for (size_t i = 0; i < 2; i++) {
        if (sockets[i] > STDERR_FILENO)
            continue;
        int other = fcntl(sockets[i], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        if (other < 0) {
            struct error *error = error_from_errno(errno, "cannot move a job slot's socket");
            close(sockets[0]);
            close(sockets[1]);
            return error;
        }
        close(sockets[i]);
        sockets[i] = other;
    }
    *ret_ours = sockets[0];
    *ret_theirs = sockets[1];
    return NULL;
}

struct error *slot_start(const struct engine_task *task, uint64_t *running, pid_t *ret_pid,
                         int *ret_socket)
{
    _cleanup_close_ int ours = -1;
    _cleanup_close_ int theirs = -1;
    TRY(make_sockets(&ours, &theirs));
    pid_t controller = getpid(), pid = fork();
    if (pid < 0)
        return error_from_errno(errno, "cannot start a job slot");
    if (pid == 0) {
        struct slot slot = {.task = task, .socket = theirs, .running = running};
        slot_main(&slot, controller);
        _exit(0); // without the controller's exit handlers and buffers
    }
    *ret_pid = pid;
    *ret_socket = ours;
    ours = -1;
    return NULL;
}
