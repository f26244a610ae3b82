// SPDX-License-Identifier: GPL-3.0-or-later
// See judge.h. The questions are asked in the order of the table at the end; the first that has an
// answer gives the verdict.
#include "campaign/judge.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "campaign/quote.h"

#include <ctype.h>
#include <signal.h>
#include <string.h>

#define KEY_FRAMES  3  // by which crashes and hangs are told apart
#define REPETITIONS 50 // of a fault at one place: a loop over it

void judgement_deinit(struct judgement *judgement)
{
    free(judgement->reason);
    free(judgement->cause);
    *judgement = (struct judgement){0};
}

// A verdict in the making.
struct hearing {
    const struct reference *reference;
    const struct outcome_run *run;
    struct difference difference;
    enum verdict verdict; // VERDICTS: not yet
    struct buffer reason;
    struct buffer cause; // what comes after the verdict's name
};

static void hearing_deinit(struct hearing *hearing)
{
    difference_deinit(&hearing->difference);
    buffer_deinit(&hearing->reason);
    buffer_deinit(&hearing->cause);
}

// Where exactly within the C library a loop was met, or abort() ended, is chance or the same for
// all; who called it is neither. `frame` is "function (module)".
static bool begins_libc(const char *name)
{
    static const char *const names[] = {"libc.so", "ld-linux", "libpthread.so", "[vdso"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static bool is_libc(const char *frame, size_t size)
{
    const char *module = memrchr(frame, '(', size);
    return module != NULL ? begins_libc(module + 1) : begins_libc(frame);
}

static bool is_of_libc(const char *module)
{
    return module != NULL && begins_libc(file_base_name(module));
}

// The innermost frames outside the C library: "f (x) < main (x)". All of a key are of the C library
// if a stack could not be followed: then those.
static struct error *put_frames(struct buffer *buffer, const char *key)
{
    const char *at = key;
    while (*at != '\0' && is_libc(at, strcspn(at, "\n"))) {
        at += strcspn(at, "\n");
        at += *at == '\n';
    }
    if (*at == '\0')
        at = key;
    for (int i = 0; i < KEY_FRAMES && *at != '\0'; i++) {
        size_t size = strcspn(at, "\n");
        if (i != 0)
            TRY(buffer_append(buffer, " < ", 3));
        TRY(quote_put(buffer, at, size, 300));
        at += size + (at[size] == '\n');
    }
    return NULL;
}

static struct error *put_stderr(struct hearing *hearing)
{
    const struct buffer *err = &hearing->run->workload.err.kept;
    if (hearing->difference.more != NULL)
        return buffer_printf(&hearing->reason, "; stderr: %s", hearing->difference.more);
    return quote_put_last_line(&hearing->reason, "; stderr: ", err->data, err->size);
}

// "read in f at a.c:12" or what is known of that: the same for all faults in one place.
static struct error *put_site(struct buffer *buffer, const struct injection *injection)
{
    TRY(buffer_printf(buffer, "%s",
                      injection->function != NULL ? injection->function
                      : injection->fault != NULL  ? injection->fault
                                                  : "fault"));
    if (injection->symbol != NULL)
        TRY(buffer_printf(buffer, " in %s", injection->symbol));
    if (injection->file != NULL)
        return buffer_printf(buffer, " at %s:%u", injection->file, injection->line);
    if (injection->module != NULL && injection->symbol != NULL)
        return buffer_printf(buffer, " of %s", injection->module);
    if (injection->module != NULL)
        return buffer_printf(buffer, " at %s+0x%llx", injection->module,
                             (unsigned long long)injection->offset);
    return NULL;
}

static struct error *put_cause_site(struct hearing *hearing, const char *what)
{
    const struct observation *observation = &hearing->run->observation;
    TRY(buffer_printf(&hearing->cause, "%s", what));
    if (observation->injections.count == 0)
        return NULL;
    TRY(buffer_printf(&hearing->cause, " after "));
    TRY(put_site(&hearing->cause, &observation->injections.items[0]));
    const struct injection *second = injection_second(observation);
    if (second == NULL)
        return NULL;
    TRY(buffer_printf(&hearing->cause, " and then "));
    return put_site(&hearing->cause, second);
}

static struct error *put_step_failure(struct hearing *hearing, const char *step,
                                      const struct sandbox_result *result)
{
    TRY(buffer_printf(&hearing->reason, "%s failed: ", step));
    TRY(outcome_put_end(&hearing->reason, result));
    const struct buffer *said = result->err.kept.size != 0 ? &result->err.kept : &result->out.kept;
    return quote_put_last_line(&hearing->reason, "; it says: ", said->data, said->size);
}

static struct error *ask_valid(struct hearing *hearing)
{
    const struct outcome_run *run = hearing->run;
    hearing->verdict = VERDICT_INVALID;
    if (run->trouble != NULL)
        return quote_put(&hearing->reason, run->trouble, strlen(run->trouble), 1000);
    if (run->setup_failed)
        return put_step_failure(hearing, "setup", &run->setup);
    if (outcome_failed(&run->pretest))
        return put_step_failure(hearing, "pretest", &run->pretest);
    if (run->workload.end == SANDBOX_SKIPPED)
        return buffer_printf(&hearing->reason, "the workload was not started");
    hearing->verdict = VERDICTS;
    return NULL;
}

static struct error *ask_activated(struct hearing *hearing)
{
    if (hearing->run->observation.activations != 0)
        return NULL;
    hearing->verdict = VERDICT_NOT_ACTIVATED;
    TRY(buffer_printf(&hearing->reason, "the fault was never hit; "));
    TRY(outcome_put_end(&hearing->reason, &hearing->run->workload));
    const char *note = hearing->run->observation.note;
    if (note == NULL)
        return NULL;
    TRY(buffer_printf(&hearing->reason, "; "));
    return quote_put(&hearing->reason, note, strlen(note), 400);
}

static bool same_site(const struct injection *a, const struct injection *b)
{
    bool modules = a->module != NULL && b->module != NULL && strcmp(a->module, b->module) == 0;
    return modules && a->offset == b->offset && a->process == b->process && a->thread == b->thread;
}

// The call that a program repeats for ever because it fails for ever, or NULL. Which function such
// a loop was in when its time was up is chance, the call is not.
static const struct injection *repeated_injection(const struct observation *observation)
{
    size_t count = observation->injections.count;
    if (count < REPETITIONS)
        return NULL;
    const struct injection *last = &observation->injections.items[count - 1];
    for (size_t i = count - REPETITIONS; i < count - 1; i++)
        if (!same_site(&observation->injections.items[i], last))
            return NULL;
    return last;
}

// Whether the injector itself sent this signal. Death by it is what the sender asked for, whichever
// signal it is: no defect of the target shows in it.
static bool was_sent(const struct hearing *hearing, const char *name)
{
    const struct observation *observation = &hearing->run->observation;
    static const char nameless[] = "signal "; // and its number
    if (strncmp(name, nameless, strlen(nameless)) == 0)
        name += strlen(nameless);
    size_t size = strcspn(name, " ");
    for (size_t i = 0; i < observation->injections.count; i++) {
        const char *fault = observation->injections.items[i].fault;
        if (fault != NULL && strncmp(fault, name, size) == 0 &&
            !isalnum((unsigned char)fault[size]))
            return true;
    }
    return false;
}

// A signal that shells report of a child by an exit status above 128: of those that mean a defect.
static int shell_signal(const struct hearing *hearing)
{
    static const int signals[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    const struct sandbox_result *result = &hearing->run->workload;
    if (result->end != SANDBOX_EXIT || result->status == reference_status(hearing->reference))
        return 0;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (result->status == 128 + signals[i])
            return signals[i];
    return 0;
}

static struct error *ask_complaint(struct hearing *hearing)
{
    size_t size;
    const char *line = reference_new_complaint(hearing->reference, hearing->run->sanitizer, &size);
    if (line == NULL)
        return NULL;
    hearing->verdict = VERDICT_CRASH;
    TRY(quote_put(&hearing->reason, line, size, 400));
    return quote_put(&hearing->cause, line, size, 400);
}

static const char *skip_line(const char *text)
{
    text += strcspn(text, "\n");
    return text + (*text == '\n');
}

// Whether a frame "FUNCTION (MODULE)" is in this function.
static bool is_in(const char *frame, const char *symbol)
{
    size_t size = strcspn(frame, " \n");
    return symbol != NULL && strlen(symbol) == size && memcmp(symbol, frame, size) == 0;
}

static bool is_on_stack(const char *key, const char *symbol)
{
    for (; *key != '\0'; key = skip_line(key))
        if (is_in(key, symbol))
            return true;
    return false;
}

static bool is_named(const char *frame)
{
    return strncmp(frame + strcspn(frame, " +\n"), "+0x", 3) != 0;
}

// " at FILE:LINE" of the frame of that number.
static struct error *put_line(struct buffer *cause, const char *stack, size_t number)
{
    for (; stack != NULL && number > 0; number--)
        stack = skip_line(stack);
    const char *end = stack != NULL ? stack + strcspn(stack, "\n") : NULL;
    const char *line = stack != NULL ? strstr(stack, " at ") : NULL;
    if (line == NULL || line >= end)
        return NULL;
    const char *module = memrchr(line, '(', (size_t)(end - line));
    return buffer_append(cause, line, (size_t)((module != NULL ? module - 1 : end) - line));
}

// Where it crashed: the line. By which way it came there says little, unless there are no names.
// Where the call that failed was made by a function on the stack, its result was passed on to where
// it crashed, and another call is another cause; what handles failures of many calls and crashes in
// that is one.
static struct error *put_crash_place(struct hearing *hearing)
{
    const struct observation *observation = &hearing->run->observation;
    const struct injection *injection =
        observation->injections.count != 0 ? &observation->injections.items[0] : NULL;
    const char *key = observation->crash_key, *frame = key;
    size_t number = 0;
    // A library that does not survive its own failure: whoever called it.
    bool own = injection != NULL && injection->symbol != NULL && is_libc(key, strcspn(key, "\n")) &&
               is_of_libc(injection->module) && is_on_stack(key, injection->symbol);
    for (; !own && *frame != '\0' && is_libc(frame, strcspn(frame, "\n")); number++)
        frame = skip_line(frame);
    if (*frame == '\0') {
        frame = key;
        number = 0;
    }
    const char *caller = skip_line(frame);
    TRY(quote_put(&hearing->cause, frame, strcspn(frame, "\n"), 300));
    TRY(put_line(&hearing->cause, observation->crash_stack, number));
    if (!is_named(frame) && *caller != '\0') {
        TRY(buffer_printf(&hearing->cause, " < "));
        TRY(quote_put(&hearing->cause, caller, strcspn(caller, "\n"), 300));
    }
    if (injection == NULL || !is_on_stack(key, injection->symbol))
        return NULL;
    TRY(buffer_printf(&hearing->cause, " after "));
    return put_site(&hearing->cause, injection);
}

// "SIGSEGV at 0x0 in cp", without what varies.
static struct error *put_crash_cause(struct hearing *hearing)
{
    const struct observation *observation = &hearing->run->observation;
    const char *crash = observation->crash;
    TRY(buffer_append(&hearing->cause, crash, strcspn(crash, " ")));
    if (observation->crash_key == NULL)
        return put_cause_site(hearing, "");
    TRY(buffer_printf(&hearing->cause, " in "));
    return put_crash_place(hearing);
}

static struct error *ask_crash_record(struct hearing *hearing)
{
    const struct observation *observation = &hearing->run->observation;
    if (observation->crash == NULL || was_sent(hearing, observation->crash))
        return NULL;
    const char *key = observation->crash_key != NULL ? observation->crash_key : observation->crash;
    bool command_died = hearing->run->workload.end == SANDBOX_SIGNAL;
    if (!command_died && reference_has_crash(hearing->reference, key))
        return NULL;
    hearing->verdict = VERDICT_CRASH;
    TRY(quote_put(&hearing->reason, observation->crash, strlen(observation->crash), 400));
    if (observation->crash_key != NULL) {
        TRY(buffer_printf(&hearing->reason, ", in "));
        TRY(put_frames(&hearing->reason, observation->crash_key));
    }
    if (!observation->crash_in_command)
        TRY(buffer_printf(&hearing->reason, " (a process that the workload started)"));
    TRY(put_crash_cause(hearing));
    return put_stderr(hearing);
}

static struct error *ask_crash(struct hearing *hearing)
{
    const struct sandbox_result *result = &hearing->run->workload;
    TRY(ask_complaint(hearing));
    if (hearing->verdict == VERDICTS)
        TRY(ask_crash_record(hearing));
    if (hearing->verdict != VERDICTS)
        return NULL;
    int number = result->end == SANDBOX_SIGNAL    ? result->status
                 : result->end == SANDBOX_TIMEOUT ? result->died
                                                  : shell_signal(hearing);
    if (number == 0 || was_sent(hearing, outcome_signal_name(number)))
        return NULL;
    hearing->verdict = VERDICT_CRASH;
    if (result->end == SANDBOX_TIMEOUT)
        TRY(buffer_printf(&hearing->reason, "killed by %s", outcome_signal_name(number)));
    else
        TRY(outcome_put_end(&hearing->reason, result));
    if (result->end == SANDBOX_EXIT)
        TRY(buffer_printf(&hearing->reason, ", by which shells report that a process died of %s",
                          outcome_signal_name(number)));
    TRY(put_stderr(hearing));
    return put_cause_site(hearing, outcome_signal_name(number));
}

// How long it really took includes looking at its stack.
static double allowed_seconds(const struct hearing *hearing)
{
    uint64_t allowed = reference_timeout_ns(hearing->reference);
    return (double)(allowed != 0 ? allowed : hearing->run->workload.ns) / 1e9;
}

// Something died, and what remained waited for it, or for nothing.
static struct error *ask_late_crash(struct hearing *hearing)
{
    const struct outcome_run *run = hearing->run;
    if (run->workload.end != SANDBOX_TIMEOUT)
        return NULL;
    TRY(ask_crash(hearing));
    if (hearing->verdict == VERDICTS)
        return NULL;
    if (run->service != NULL)
        return buffer_printf(&hearing->reason, "; and %s", run->service);
    TRY(buffer_printf(&hearing->reason, "; and not done after %.3g s", allowed_seconds(hearing)));
    if (run->remaining != NULL)
        TRY(buffer_printf(&hearing->reason, ": there still ran %s", run->remaining));
    return NULL;
}

// Whoever runs into the limit on processor time never ended by itself either.
static struct error *ask_hang(struct hearing *hearing)
{
    const struct outcome_run *run = hearing->run;
    bool limit = run->workload.end == SANDBOX_SIGNAL && run->workload.status == SIGXCPU;
    if (run->workload.end != SANDBOX_TIMEOUT && !limit)
        return NULL;
    hearing->verdict = VERDICT_HANG;
    if (limit)
        TRY(buffer_printf(&hearing->reason, "used up its processor time (SIGXCPU)"));
    else if (run->service != NULL)
        TRY(buffer_printf(&hearing->reason, "%s", run->service));
    else
        TRY(buffer_printf(&hearing->reason, "not done after %.3g s", allowed_seconds(hearing)));
    if (run->hang_key != NULL) {
        TRY(buffer_printf(&hearing->reason, ", in "));
        TRY(put_frames(&hearing->reason, run->hang_key));
    }
    const struct injection *repeated = repeated_injection(&run->observation);
    if (repeated != NULL) {
        TRY(buffer_printf(&hearing->reason, "; "));
        TRY(put_site(&hearing->reason, repeated));
        TRY(buffer_printf(&hearing->reason, " fails again and again"));
        TRY(buffer_printf(&hearing->cause, "repeating "));
        return put_site(&hearing->cause, repeated);
    }
    if (run->hang_key == NULL)
        return put_cause_site(hearing, "somewhere");
    TRY(buffer_printf(&hearing->cause, "in "));
    return put_frames(&hearing->cause, run->hang_key);
}

// A server that ends while it is to serve is one that died, whatever its exit status; one that does
// not even come up may say so.
static struct error *ask_service(struct hearing *hearing)
{
    const struct outcome_run *run = hearing->run;
    if (!run->down && !run->deserted)
        return NULL;
    bool told = hearing->difference.err_more ||
                (run->workload.end == SANDBOX_EXIT && run->workload.status != 0);
    hearing->verdict = run->deserted ? VERDICT_CRASH : told ? VERDICT_GRACEFUL : VERDICT_SILENT;
    TRY(buffer_printf(&hearing->reason, "%s", run->service));
    TRY(put_stderr(hearing));
    return put_cause_site(hearing, run->deserted ? "server ended" : "server not up");
}

static struct error *refuse_oracle(struct hearing *hearing)
{
    const struct buffer *out = &hearing->run->oracle.out.kept;
    hearing->verdict = VERDICT_INVALID;
    if (outcome_failed(&hearing->run->oracle))
        return put_step_failure(hearing, "the oracle command", &hearing->run->oracle);
    if (out->size == 0)
        return buffer_printf(&hearing->reason, "the oracle command printed no verdict");
    TRY(buffer_printf(&hearing->reason, "the oracle command printed "));
    TRY(quote_put_word(&hearing->reason, out->data, strcspn(out->data, "\n")));
    TRY(buffer_printf(&hearing->reason, ", which does not begin with a verdict ("));
    for (int i = 0; i < VERDICTS; i++)
        TRY(buffer_printf(&hearing->reason, "%s%s", i != 0 ? ", " : "", verdict_facts[i].name));
    return buffer_printf(&hearing->reason, ")");
}

static struct error *ask_oracle(struct hearing *hearing)
{
    const struct sandbox_result *oracle = &hearing->run->oracle;
    if (oracle->end == SANDBOX_SKIPPED)
        return NULL;
    const char *text = oracle->out.kept.data != NULL ? oracle->out.kept.data : "";
    text += strspn(text, " \t\r\n");
    size_t size = strcspn(text, " \t\r\n:");
    enum verdict said = verdict_named(text, size);
    if (outcome_failed(oracle) || said == VERDICTS)
        return refuse_oracle(hearing);
    hearing->verdict = said;
    text += size;
    text += strspn(text, " \t:");
    size_t length = strcspn(text, "\n");
    if (length == 0)
        TRY(buffer_printf(&hearing->reason, "the oracle command says so"));
    else
        TRY(quote_put(&hearing->reason, text, length, 400));
    return put_cause_site(hearing, "oracle");
}

static struct error *say_status(struct hearing *hearing)
{
    const struct sandbox_result *result = &hearing->run->workload;
    TRY(outcome_put_end(&hearing->reason, result));
    if (result->end == SANDBOX_EXIT)
        TRY(buffer_printf(&hearing->reason, " instead of %d",
                          reference_status(hearing->reference)));
    else
        TRY(buffer_printf(&hearing->reason, ", which was sent to it"));
    return put_stderr(hearing);
}

static struct error *ask_posttest(struct hearing *hearing)
{
    if (!outcome_failed(&hearing->run->posttest))
        return NULL;
    hearing->verdict = VERDICT_UNSTABLE;
    TRY(put_step_failure(hearing, "posttest", &hearing->run->posttest));
    TRY(buffer_printf(&hearing->reason, "; the workload: "));
    TRY(outcome_put_end(&hearing->reason, &hearing->run->workload));
    return put_cause_site(hearing, "posttest");
}

// An exit status that differs is an error reported; 0 instead of something else is none.
static struct error *ask_status(struct hearing *hearing)
{
    const struct sandbox_result *result = &hearing->run->workload;
    if (!hearing->difference.status)
        return NULL;
    bool claims = result->end == SANDBOX_EXIT && result->status == 0;
    if (!claims && hearing->difference.lost) {
        // To say that it failed does not bring back what it has destroyed.
        hearing->verdict = VERDICT_UNSTABLE;
        TRY(buffer_printf(&hearing->reason, "%s; ", hearing->difference.sentence));
        TRY(say_status(hearing));
        return put_cause_site(hearing, "data loss");
    }
    hearing->verdict = !claims                        ? VERDICT_GRACEFUL
                       : hearing->difference.err_more ? VERDICT_WRONG_OUTPUT
                                                      : VERDICT_SILENT;
    TRY(say_status(hearing));
    return put_cause_site(hearing, "exit status");
}

static struct error *ask_output(struct hearing *hearing)
{
    const struct difference *difference = &hearing->difference;
    bool less = difference->err && !difference->err_more; // stderr lacks something
    if (!difference->out && !difference->files && !less)
        return NULL;
    hearing->verdict = difference->err_more ? VERDICT_WRONG_OUTPUT : VERDICT_SILENT;
    TRY(buffer_printf(&hearing->reason, "%s", difference->sentence));
    TRY(buffer_printf(&hearing->reason, "; exit status %d as ever",
                      reference_status(hearing->reference)));
    if (difference->err_more && difference->more != NULL)
        TRY(buffer_printf(&hearing->reason, "; stderr: %s", difference->more));
    if (!difference->err_more)
        TRY(buffer_printf(&hearing->reason, ", nothing reported"));
    return put_cause_site(hearing, difference->lost    ? "data loss"
                                   : difference->files ? "files"
                                   : difference->out   ? "stdout"
                                                       : "stderr");
}

static struct error *ask_stderr(struct hearing *hearing)
{
    hearing->verdict = hearing->difference.err_more ? VERDICT_GRACEFUL : VERDICT_PASS;
    if (hearing->verdict == VERDICT_PASS)
        return buffer_printf(&hearing->reason, "as the reference");
    TRY(buffer_printf(&hearing->reason, "everything as the reference, but it is reported"));
    TRY(put_stderr(hearing));
    return put_cause_site(hearing, "stderr");
}

static struct error *compare(struct hearing *hearing)
{
    return reference_compare(hearing->reference, hearing->run, &hearing->difference);
}

struct error *judge(const struct reference *reference, const struct outcome_run *run,
                    struct judgement *ret_judgement)
{
    static struct error *(*const questions[])(struct hearing *) = {
        ask_valid,   ask_activated, ask_late_crash, ask_hang,   compare,    ask_crash,
        ask_service, ask_oracle,    ask_posttest,   ask_status, ask_output, ask_stderr,
    };
    _cleanup_(hearing_deinit) struct hearing hearing = {
        .reference = reference, .run = run, .verdict = VERDICTS};
    for (size_t i = 0; hearing.verdict == VERDICTS; i++)
        TRY(questions[i](&hearing));
    _cleanup_(buffer_deinit) struct buffer cause = {0};
    TRY(buffer_printf(&cause, "%s", verdict_facts[hearing.verdict].name));
    if (hearing.cause.size != 0) {
        TRY(buffer_append(&cause, " ", 1));
        TRY(quote_put(&cause, hearing.cause.data, hearing.cause.size, 1000));
    }
    *ret_judgement = (struct judgement){
        .verdict = hearing.verdict, .reason = TAKE(hearing.reason.data), .cause = TAKE(cause.data)};
    return NULL;
}
