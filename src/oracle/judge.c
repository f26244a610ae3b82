// SPDX-License-Identifier: GPL-3.0-or-later
// Gives the verdict on a run. The questions are asked in the order of the table in judge(); the
// first one that decides gives the verdict.
#include "oracle/judge-internal.h"

#include "base/cleanup.h"
#include "base/quote.h"
#include "base/secrets.h"
#include "oracle/origin.h"

#include <string.h>

void judgement_deinit(struct judgement *judgement)
{
    free(judgement->reason);
    free(judgement->cause);
    free(judgement->handled);
    free(judgement->library);
    free(judgement->about);
    deviations_deinit(&judgement->deviations);
    propagation_deinit(&judgement->propagation);
    *judgement = (struct judgement){0};
}

static void verdict_draft_deinit(struct verdict_draft *draft)
{
    difference_deinit(&draft->difference);
    deviations_deinit(&draft->deviations);
    propagation_deinit(&draft->propagation);
    buffer_deinit(&draft->reason);
    buffer_deinit(&draft->cause);
    buffer_deinit(&draft->handled);
}

struct error *verdict_draft_put_stderr(struct verdict_draft *draft)
{
    const struct buffer *err = &draft->run->workload.err.kept;
    if (draft->difference.more != NULL)
        return buffer_printf(&draft->reason, "; %s: %s",
                             draft->difference.more_in != NULL ? draft->difference.more_in
                                                               : "stderr",
                             draft->difference.more);
    return quote_put_last_line(&draft->reason, "; stderr: ", err->data, err->size);
}

// What a stream lost is told by what differs: the check that is missing is one for all calls that
// write to it. A program needs one for its output; other streams have theirs where they are used.
static struct error *put_stream(struct verdict_draft *draft, const char *what,
                                const struct injection *injection)
{
    struct frame_text frame;
    if (injection->stream != NULL || injection->standard_stream != 0)
        return origin_put(&draft->cause, injection);
    if (strcmp(what, "stdout") != 0 && origin_frame(injection, &frame)) {
        TRY(buffer_printf(&draft->cause, "a stream in "));
        return origin_put_function(&draft->cause, &frame);
    }
    return buffer_printf(&draft->cause, "a stream of %s",
                         injection->program != NULL ? injection->program : "the program");
}

// A shell that a program starts for a command, inside the C library: nobody sees how it ends.
static bool is_helper(const struct injection *injection)
{
    return injection->program != NULL && injection->parent != NULL && !injection->child &&
           strcmp(injection->program, "sh") == 0;
}

// Whether a process reported the failure to whoever started it, which went on as if nothing had
// happened. That is what is wrong, whatever failed in the process. A process that says nothing may
// have that exit status anyway, as diff and grep do.
static bool is_ignored(const struct verdict_draft *draft, const struct injection *injection)
{
    const struct sandbox_result *workload = &draft->run->workload;
    bool failed = injection->failed || is_helper(injection);
    return failed && injection->process != 1 && workload->end == SANDBOX_EXIT &&
           workload->status == 0 && draft->difference.err_more;
}

// Who ignores the failure of one program that it starts ignores those of the others, too. The
// command is most likely a script.
static struct error *put_ignored(struct verdict_draft *draft, const struct injection *injection)
{
    if (injection->child)
        return buffer_printf(&draft->cause, "result after failures that the command ignores");
    if (injection->parent != NULL)
        return buffer_printf(&draft->cause, "result after failures that %s ignores",
                             injection->parent);
    return buffer_printf(&draft->cause, "result after an ignored failure of %s",
                         injection->program != NULL ? injection->program : "a process");
}

// Whether the program reported the failure in an output and ended with 0 all the same, and
// nothing is lost. Then its exit status is what is wrong, whichever call failed, and whatever it
// said.
static bool is_told(const struct verdict_draft *draft)
{
    const struct difference *difference = &draft->difference;
    return draft->verdict == VERDICT_WRONG_OUTPUT && difference->more != NULL &&
           !difference->in_file && !difference->lost && !difference->damaged &&
           draft->run->workload.end == SANDBOX_EXIT && draft->run->workload.status == 0;
}

// A stream keeps in mind that it could not be read: one check at its end is enough for all that
// read it. What the program did not open is its input.
static struct error *put_reading(struct verdict_draft *draft, const struct injection *injection)
{
    struct frame_text opened;
    if (injection->read_stream != NULL && frame_text_at(injection->read_stream, 0, &opened)) {
        TRY(buffer_printf(&draft->cause, "result after reading a stream of "));
        return origin_put_function(&draft->cause, &opened);
    }
    return buffer_printf(&draft->cause, "result after reading the input of %s",
                         injection->program != NULL ? injection->program : "the program");
}

// What is wrong with a result is told only of streams, of failures that are ignored, and of losses.
// Others are one missing check, whatever it spoils.
static struct error *put_result_cause(struct verdict_draft *draft, const char *what,
                                      const struct injection *injection)
{
    draft->ignored = is_ignored(draft, injection);
    if (draft->ignored)
        return put_ignored(draft, injection);
    if (is_told(draft) && strcmp(what, "damage") != 0)
        return buffer_printf(&draft->cause, "result after what %s reports and ends with 0",
                             injection->program != NULL ? injection->program : "the program");
    if (origin_is_stream(injection)) {
        // Where a program's output goes is its user's choice; a file of its own is another matter.
        bool output = injection->standard_stream != 0 && !draft->difference.lost;
        TRY(buffer_printf(&draft->cause, "%s after ", output ? "result" : what));
        return put_stream(draft, what, injection);
    }
    struct frame_text frame;
    if (origin_reads_stream(injection->function) && origin_frame(injection, &frame)) {
        draft->blamed = frame.module;
        return put_reading(draft, injection);
    }
    TRY(buffer_printf(&draft->cause, "%s after ",
                      draft->difference.lost || strcmp(what, "damage") == 0 ? what : "result"));
    if (origin_frame(injection, &frame))
        draft->blamed = frame.module;
    return origin_put(&draft->cause, injection);
}

static bool is_result(const struct verdict_draft *draft, const char *what)
{
    if (draft->verdict != VERDICT_SILENT && draft->verdict != VERDICT_WRONG_OUTPUT)
        return false;
    static const char *const results[] = {"data loss", "damage",    "files",
                                          "stdout",    "leftovers", "stderr"};
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        if (strcmp(what, results[i]) == 0)
            return true;
    return false;
}

struct error *verdict_draft_put_cause_site(struct verdict_draft *draft, const char *what)
{
    const struct observation *observation = &draft->run->observation;
    if (observation->injections.count == 0)
        return buffer_printf(&draft->cause, "%s", what);
    const struct injection *first = &observation->injections.items[0];
    draft->result = is_result(draft, what);
    if (draft->result) {
        TRY(put_result_cause(draft, what, first));
    } else {
        TRY(buffer_printf(&draft->cause, "%s after ", what));
        TRY(origin_put(&draft->cause, first));
    }
    const struct injection *second = injection_second(observation);
    if (second == NULL)
        return NULL;
    TRY(buffer_printf(&draft->cause, " and then "));
    return origin_put(&draft->cause, second);
}

static struct error *put_step_failure(struct verdict_draft *draft, const char *step,
                                      const struct sandbox_result *result)
{
    TRY(buffer_printf(&draft->reason, "%s failed: ", step));
    TRY(outcome_put_end(&draft->reason, result));
    const struct buffer *said = result->err.kept.size != 0 ? &result->err.kept : &result->out.kept;
    return quote_put_last_line(&draft->reason, "; it says: ", said->data, said->size);
}

static struct error *put_system(struct verdict_draft *draft, const char *what)
{
    const char *reason = draft->run->observation.system_reason;
    TRY(buffer_printf(&draft->reason, "%s", what));
    return reason != NULL ? quote_put(&draft->reason, reason, strlen(reason), 1000) : NULL;
}

static struct error *ask_valid(struct verdict_draft *draft)
{
    const struct outcome_run *run = draft->run;
    draft->verdict = VERDICT_INVALID;
    if (run->trouble != NULL)
        return quote_put(&draft->reason, run->trouble, strlen(run->trouble), 1000);
    if (run->observation.damage != WIRE_DAMAGE_NONE)
        return buffer_printf(&draft->reason, "region damaged by the target: %s",
                             wire_damage_text(run->observation.damage).meaning);
    bool unfinished = run->observation.system == SYSTEM_UNFINISHED;
    if (run->observation.system == SYSTEM_NOT_RUN ||
        (unfinished && run->workload.end != SANDBOX_TIMEOUT))
        return put_system(draft, "the guest could not be run: ");
    if (run->observation.system == SYSTEM_PRETEST_FAILED)
        return put_system(draft, "the guest's pretest did not pass: ");
    if (run->setup_failed)
        return put_step_failure(draft, "setup", &run->setup);
    if (outcome_failed(&run->pretest))
        return put_step_failure(draft, "pretest", &run->pretest);
    if (outcome_failed(&run->build))
        return put_step_failure(draft, "the build with the fault", &run->build);
    if (run->workload.end == SANDBOX_SKIPPED)
        return buffer_printf(&draft->reason, "the workload was not started");
    draft->verdict = VERDICTS;
    return NULL;
}

static struct error *ask_activated(struct verdict_draft *draft)
{
    if (draft->run->observation.activations != 0)
        return reference_find_deviations(draft->reference, draft->run, &draft->deviations);
    draft->verdict = VERDICT_NOT_ACTIVATED;
    TRY(buffer_printf(&draft->reason, "the fault was never hit; "));
    TRY(outcome_put_end(&draft->reason, &draft->run->workload));
    const char *note = draft->run->observation.note;
    if (note == NULL)
        return NULL;
    TRY(buffer_printf(&draft->reason, "; "));
    return quote_put(&draft->reason, note, strlen(note), 400);
}

// A whole system has oracles of its own: its console and its posttest.
static struct error *ask_system(struct verdict_draft *draft)
{
    static const struct {
        enum verdict verdict;
        const char *what;
    } ends[] = {
        [SYSTEM_UNFINISHED] = {VERDICT_HANG, "system hang"},
        [SYSTEM_CRASHED] = {VERDICT_CRASH, "system crash"},
        [SYSTEM_HANGS] = {VERDICT_HANG, "system hang"},
        [SYSTEM_BROKEN] = {VERDICT_UNSTABLE, "posttest"},
    };
    const struct observation *observation = &draft->run->observation;
    struct frame_text frame;
    if (observation->system < SYSTEM_UNFINISHED)
        return NULL;
    draft->verdict = ends[observation->system].verdict;
    TRY(put_system(draft, ""));
    if (observation->system_cause != NULL)
        return quote_put(&draft->cause, observation->system_cause,
                         strlen(observation->system_cause), 300);
    if (observation->crash_key != NULL && frame_text_at(observation->crash_key, 0, &frame)) {
        TRY(buffer_printf(&draft->cause, "in "));
        TRY(quote_put(&draft->cause, frame.whole.text, frame.whole.size, 300));
        return NULL;
    }
    return verdict_draft_put_cause_site(draft, ends[observation->system].what);
}

// When another oracle decided, drop the file diff: it is not what the finding is about.
static void forget_symptom(struct verdict_draft *draft)
{
    free(TAKE(draft->difference.about));
    draft->difference.symptom = SYMPTOM_NONE;
}

// A server that exits while it should serve has crashed, whatever its exit status. One that never
// comes up may have reported why.
static struct error *ask_service(struct verdict_draft *draft)
{
    const struct outcome_run *run = draft->run;
    if (!run->down && !run->exited_early)
        return NULL;
    bool told = draft->difference.err_more ||
                (run->workload.end == SANDBOX_EXIT && run->workload.status != 0);
    draft->verdict = run->exited_early ? VERDICT_CRASH : told ? VERDICT_GRACEFUL : VERDICT_SILENT;
    if (run->down) {
        forget_symptom(draft);
        draft->difference.symptom = SYMPTOM_DOWN;
    }
    TRY(buffer_printf(&draft->reason, "%s", run->service));
    TRY(verdict_draft_put_stderr(draft));
    return verdict_draft_put_cause_site(draft,
                                        run->exited_early ? "server ended" : "server not up");
}

static struct error *refuse_oracle(struct verdict_draft *draft)
{
    const struct buffer *out = &draft->run->oracle.out.kept;
    draft->verdict = VERDICT_INVALID;
    if (outcome_failed(&draft->run->oracle))
        return put_step_failure(draft, "the oracle command", &draft->run->oracle);
    if (out->size == 0)
        return buffer_printf(&draft->reason, "the oracle command printed no verdict");
    TRY(buffer_printf(&draft->reason, "the oracle command printed "));
    TRY(quote_put_word(&draft->reason, out->data, strcspn(out->data, "\n")));
    TRY(buffer_printf(&draft->reason, ", which does not begin with a verdict ("));
    for (int i = 0; i < VERDICTS; i++)
        TRY(buffer_printf(&draft->reason, "%s%s", i != 0 ? ", " : "", verdict_facts[i].name));
    return buffer_printf(&draft->reason, ")");
}

static struct error *ask_oracle(struct verdict_draft *draft)
{
    const struct sandbox_result *oracle = &draft->run->oracle;
    if (oracle->end == SANDBOX_SKIPPED)
        return NULL;
    const char *text = oracle->out.kept.data != NULL ? oracle->out.kept.data : "";
    text += strspn(text, " \t\r\n");
    size_t size = strcspn(text, " \t\r\n:");
    enum verdict said = verdict_named(text, size);
    if (outcome_failed(oracle) || said == VERDICTS)
        return refuse_oracle(draft);
    draft->verdict = said;
    if (said == VERDICT_UNSTABLE)
        forget_symptom(draft);
    text += size;
    text += strspn(text, " \t:");
    size_t length = strcspn(text, "\n");
    if (length == 0)
        TRY(buffer_printf(&draft->reason, "the oracle command says so"));
    else
        TRY(quote_put(&draft->reason, text, length, 400));
    return verdict_draft_put_cause_site(draft, "oracle");
}

static struct error *say_status(struct verdict_draft *draft)
{
    const struct sandbox_result *result = &draft->run->workload;
    TRY(outcome_put_end(&draft->reason, result));
    if (result->end == SANDBOX_EXIT)
        TRY(buffer_printf(&draft->reason, " instead of %d", reference_status(draft->reference)));
    else
        TRY(buffer_printf(&draft->reason,
                          draft->deliberate ? ", as it decided" : ", which was sent to it"));
    return verdict_draft_put_stderr(draft);
}

static struct error *ask_posttest(struct verdict_draft *draft)
{
    if (!outcome_failed(&draft->run->posttest))
        return NULL;
    draft->verdict = VERDICT_UNSTABLE;
    forget_symptom(draft);
    TRY(put_step_failure(draft, "posttest", &draft->run->posttest));
    TRY(buffer_printf(&draft->reason, "; the workload: "));
    TRY(outcome_put_end(&draft->reason, &draft->run->workload));
    return verdict_draft_put_cause_site(draft, "posttest");
}

// Another exit status than the reference's reports an error. Unless it is 0: that claims success.
static struct error *ask_status(struct verdict_draft *draft)
{
    const struct sandbox_result *result = &draft->run->workload;
    if (!draft->difference.status)
        return NULL;
    bool claims = result->end == SANDBOX_EXIT && result->status == 0;
    bool destroyed = draft->difference.lost || draft->difference.spoilt;
    draft->verdict = claims && draft->difference.err_more ? VERDICT_WRONG_OUTPUT
                     : claims                             ? VERDICT_SILENT
                     : destroyed                          ? VERDICT_WRONG_OUTPUT
                                                          : VERDICT_GRACEFUL;
    if (destroyed) {
        // Reporting the failure does not bring the data back.
        TRY(buffer_printf(&draft->reason, "%s; ", draft->difference.sentence));
        TRY(say_status(draft));
        draft->harm = draft->difference.lost ? HARM_LOSS : HARM_FILES;
        return verdict_draft_put_cause_site(draft, draft->difference.lost ? "data loss" : "files");
    }
    TRY(say_status(draft));
    return verdict_draft_put_cause_site(draft, "exit status");
}

// Whether the one fault is that of one of these functions, up to NULL.
static bool is_failure_of(const struct verdict_draft *draft, const char *const *functions)
{
    const struct observation *observation = &draft->run->observation;
    if (observation->injections.count == 0 || injection_second(observation) != NULL)
        return false;
    const char *function = observation->injections.items[0].function;
    for (; function != NULL && *functions != NULL; functions++)
        if (strcmp(function, *functions) == 0)
            return true;
    return false;
}

// What is not removed is still there, whatever the program does.
static const char *const removals[] = {"unlink", "unlinkat", "remove", "rmdir", NULL};
static const char *const modes[] = {"chmod", "fchmod", "fchmodat", "lchmod", NULL};

// Where modes cannot be set, nobody does better than to leave the new file to its owner alone.
static bool is_harmless_mode(const struct verdict_draft *draft)
{
    return draft->difference.stricter && is_failure_of(draft, modes);
}

// Whether the fault is that there is no memory. That says nothing about a file: a list that calls
// it missing is wrong then.
static bool lacks_memory(const struct verdict_draft *draft)
{
    const struct observation *observation = &draft->run->observation;
    const char *fault =
        observation->injections.count != 0 ? observation->injections.items[0].fault : NULL;
    const char *error = fault != NULL ? strrchr(fault, '/') : NULL;
    return error != NULL && strcmp(error, "/ENOMEM") == 0;
}

// Whether the fault is that a stream has no buffer. What it writes is the same then, but comes
// earlier than what other processes write.
static bool lacks_buffer(const struct verdict_draft *draft)
{
    const struct observation *observation = &draft->run->observation;
    struct frame_text frame;
    return observation->injections.count != 0 && injection_second(observation) == NULL &&
           observation->injections.items[0].stack != NULL &&
           frame_text_at(observation->injections.items[0].stack, 0, &frame) &&
           frame_part_is(frame.function, "_IO_file_doallocate");
}

// The verdict on harmless differences.
static struct error *say_harmless(struct verdict_draft *draft, const char *what)
{
    draft->verdict = draft->difference.err_more ? VERDICT_GRACEFUL : VERDICT_PASS;
    return buffer_printf(&draft->reason, "as the reference, but for %s", what);
}

static struct error *ask_output(struct verdict_draft *draft)
{
    const struct difference *difference = &draft->difference;
    bool less = difference->err && !difference->err_more; // stderr lacks something
    bool kept = difference->left && is_failure_of(draft, removals);
    // Whoever is told that a file has another mode than it should can set it.
    if (difference->modes && (difference->err_more || is_harmless_mode(draft))) {
        draft->verdict = difference->err_more ? VERDICT_GRACEFUL : VERDICT_PASS;
        TRY(buffer_printf(&draft->reason, "%s", difference->sentence));
        TRY(verdict_draft_put_stderr(draft));
        return verdict_draft_put_cause_site(draft, "mode");
    }
    if (kept && !difference->out && !difference->files && !less)
        return say_harmless(draft, "what could not be removed");
    if (difference->reordered && !difference->left && !difference->files && !less &&
        lacks_buffer(draft))
        return say_harmless(draft, "the order of lines, since a stream has no buffer");
    if (!difference->out && !difference->files && !difference->left && !less)
        return NULL;
    // A server's answer with an HTTP status is to its client what an exit status is to others. A
    // list that says of an entry what is wrong with it is right.
    bool refused = ((difference->refused && draft->run->serves) ||
                    (difference->instead && !lacks_memory(draft))) &&
                   !difference->files && (!difference->left || kept) && !less;
    draft->verdict = refused                ? VERDICT_GRACEFUL
                     : difference->err_more ? VERDICT_WRONG_OUTPUT
                                            : VERDICT_SILENT;
    TRY(buffer_printf(&draft->reason, "%s", difference->sentence));
    TRY(buffer_printf(&draft->reason, "; exit status %d as without the fault",
                      reference_status(draft->reference)));
    if (difference->err_more && difference->more != NULL)
        TRY(verdict_draft_put_stderr(draft));
    if (!difference->err_more)
        TRY(buffer_printf(&draft->reason, ", nothing reported"));
    // A damaged file is a loss, too, if success is claimed: what it was made from will not be kept.
    bool loss = difference->lost || difference->damaged;
    draft->harm = loss ? HARM_LOSS : difference->files ? HARM_FILES : HARM_NONE;
    return verdict_draft_put_cause_site(draft, difference->lost      ? "data loss"
                                               : difference->damaged ? "damage"
                                               : difference->files   ? "files"
                                               : difference->out     ? "stdout"
                                               : difference->left    ? "leftovers"
                                                                     : "stderr");
}

// All outputs are as the reference's, but it did something else to the world.
static struct error *ask_behaviour(struct verdict_draft *draft)
{
    const struct deviation *deviation = deviations_first(&draft->deviations);
    if (deviation == NULL)
        return NULL;
    draft->verdict = draft->difference.err_more ? VERDICT_WRONG_OUTPUT : VERDICT_SILENT;
    draft->difference.symptom = SYMPTOM_BEHAVIOUR;
    TRY(buffer_printf(&draft->reason, "%s; exit status %d as without the fault",
                      deviation->sentence != NULL ? deviation->sentence : "it behaves differently",
                      reference_status(draft->reference)));
    if (draft->difference.err_more)
        TRY(verdict_draft_put_stderr(draft));
    else
        TRY(buffer_printf(&draft->reason, ", nothing reported"));
    return verdict_draft_put_cause_site(draft, "behaviour");
}

static struct error *ask_stderr(struct verdict_draft *draft)
{
    draft->verdict = draft->difference.err_more ? VERDICT_GRACEFUL : VERDICT_PASS;
    if (draft->verdict == VERDICT_PASS)
        return buffer_printf(&draft->reason, "as the reference");
    TRY(buffer_printf(&draft->reason, "everything as the reference, but it is reported"));
    TRY(verdict_draft_put_stderr(draft));
    return verdict_draft_put_cause_site(draft, "stderr");
}

static struct error *compare(struct verdict_draft *draft)
{
    return reference_compare(draft->reference, draft->run, &draft->difference);
}

static bool is_system_library(const struct observation *observation, struct frame_part module)
{
    const char *at = observation->system_libraries;
    for (size_t size; at != NULL && *at != '\0'; at += size + (at[size] != '\0')) {
        size = strcspn(at, "\n");
        if (module.text != NULL && size == module.size && memcmp(at, module.text, size) == 0)
            return true;
    }
    return false;
}

// "crash SIGSEGV in f (x) at a.c:12". Wrong results are one missing check, whether something else
// was reported in one trial and not in another.
static struct error *put_cause(const struct verdict_draft *draft, const struct buffer *what,
                               char **ret_cause)
{
    _cleanup_(buffer_deinit) struct buffer cause = {0};
    enum verdict verdict = draft->result ? VERDICT_SILENT : draft->verdict;
    TRY(buffer_printf(&cause, "%s", verdict_facts[verdict].name));
    if (what->size != 0) {
        TRY(buffer_append(&cause, " ", 1));
        TRY(quote_put(&cause, what->data, what->size, 1000));
    }
    *ret_cause = TAKE(cause.data);
    return NULL;
}

// A crash that takes the user's data with it is worse than one that does not.
static struct error *add_loss(struct verdict_draft *draft)
{
    if (draft->verdict != VERDICT_CRASH || !draft->difference.lost)
        return NULL;
    draft->harm = HARM_LOSS;
    return buffer_printf(&draft->reason, "; %s", draft->difference.sentence);
}

struct error *judge(const struct reference *reference, const struct outcome_run *run,
                    struct judgement *ret_judgement)
{
    static struct error *(*const questions[])(struct verdict_draft *) = {
        ask_valid,
        ask_activated,
        ask_system,
        verdict_draft_ask_late_crash,
        verdict_draft_ask_hang,
        compare,
        verdict_draft_ask_crash,
        ask_service,
        ask_oracle,
        ask_posttest,
        ask_status,
        ask_output,
        ask_behaviour,
        ask_stderr,
    };
    _cleanup_(verdict_draft_deinit) struct verdict_draft draft = {
        .reference = reference_of(reference, run->input), .run = run, .verdict = VERDICTS};
    for (size_t i = 0; draft.verdict == VERDICTS; i++)
        TRY(questions[i](&draft));
    TRY(add_loss(&draft));
    TRY(reference_find_propagation(draft.reference, run, &draft.propagation));
    _cleanup_free_ char *cause = NULL, *handled = NULL, *library = NULL;
    TRY(put_cause(&draft, &draft.cause, &cause));
    if (draft.handled.size != 0)
        TRY(put_cause(&draft, &draft.handled, &handled));
    if (is_system_library(&run->observation, draft.blamed)) {
        library = strndup(draft.blamed.text, draft.blamed.size);
        if (library == NULL)
            return error_no_memory();
    }
    // Names of files, and what a server or the engine said, were not quoted.
    TRY(secrets_mask(&draft.reason.data));
    TRY(secrets_mask(&draft.difference.about));
    for (size_t i = 0; i < draft.deviations.list.count; i++)
        TRY(secrets_mask(&draft.deviations.list.items[i].sentence));
    *ret_judgement = (struct judgement){.verdict = draft.verdict,
                                        .severity = severity_of(draft.verdict, draft.harm),
                                        .reason = TAKE(draft.reason.data),
                                        .cause = TAKE(cause),
                                        .handled = TAKE(handled),
                                        .library = TAKE(library),
                                        .symptom = draft.difference.symptom,
                                        .deviations = draft.deviations,
                                        .propagation = draft.propagation,
                                        .about = TAKE(draft.difference.about),
                                        .ignored = draft.ignored};
    draft.deviations = (struct deviations){0};
    draft.propagation = (struct propagation){0};
    return NULL;
}
