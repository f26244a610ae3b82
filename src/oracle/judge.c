// SPDX-License-Identifier: GPL-3.0-or-later
// See judge.h. The questions are asked in the order of the table at the end; the first that has an
// answer gives the verdict.
#include "oracle/judge-internal.h"

#include "base/cleanup.h"
#include "base/quote.h"

#include <string.h>

void judgement_deinit(struct judgement *judgement)
{
    free(judgement->reason);
    free(judgement->cause);
    free(judgement->about);
    *judgement = (struct judgement){0};
}

static void hearing_deinit(struct hearing *hearing)
{
    difference_deinit(&hearing->difference);
    buffer_deinit(&hearing->reason);
    buffer_deinit(&hearing->cause);
}

struct error *hearing_put_stderr(struct hearing *hearing)
{
    const struct buffer *err = &hearing->run->workload.err.kept;
    if (hearing->difference.more != NULL)
        return buffer_printf(&hearing->reason, "; %s: %s",
                             hearing->difference.more_in != NULL ? hearing->difference.more_in
                                                                 : "stderr",
                             hearing->difference.more);
    return quote_put_last_line(&hearing->reason, "; stderr: ", err->data, err->size);
}

struct error *hearing_put_site(struct buffer *buffer, const struct injection *injection)
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

struct error *hearing_put_cause_site(struct hearing *hearing, const char *what)
{
    const struct observation *observation = &hearing->run->observation;
    TRY(buffer_printf(&hearing->cause, "%s", what));
    if (observation->injections.count == 0)
        return NULL;
    TRY(buffer_printf(&hearing->cause, " after "));
    TRY(hearing_put_site(&hearing->cause, &observation->injections.items[0]));
    const struct injection *second = injection_second(observation);
    if (second == NULL)
        return NULL;
    TRY(buffer_printf(&hearing->cause, " and then "));
    return hearing_put_site(&hearing->cause, second);
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

// Of what is known by other means, how files and outputs differ is not what is to be told.
static void forget_symptom(struct hearing *hearing)
{
    free(TAKE(hearing->difference.about));
    hearing->difference.symptom = SYMPTOM_NONE;
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
    if (run->down) {
        forget_symptom(hearing);
        hearing->difference.symptom = SYMPTOM_DOWN;
    }
    TRY(buffer_printf(&hearing->reason, "%s", run->service));
    TRY(hearing_put_stderr(hearing));
    return hearing_put_cause_site(hearing, run->deserted ? "server ended" : "server not up");
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
    if (said == VERDICT_UNSTABLE)
        forget_symptom(hearing);
    text += size;
    text += strspn(text, " \t:");
    size_t length = strcspn(text, "\n");
    if (length == 0)
        TRY(buffer_printf(&hearing->reason, "the oracle command says so"));
    else
        TRY(quote_put(&hearing->reason, text, length, 400));
    return hearing_put_cause_site(hearing, "oracle");
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
    return hearing_put_stderr(hearing);
}

static struct error *ask_posttest(struct hearing *hearing)
{
    if (!outcome_failed(&hearing->run->posttest))
        return NULL;
    hearing->verdict = VERDICT_UNSTABLE;
    forget_symptom(hearing);
    TRY(put_step_failure(hearing, "posttest", &hearing->run->posttest));
    TRY(buffer_printf(&hearing->reason, "; the workload: "));
    TRY(outcome_put_end(&hearing->reason, &hearing->run->workload));
    return hearing_put_cause_site(hearing, "posttest");
}

// An exit status that differs is an error reported; 0 instead of something else is none.
static struct error *ask_status(struct hearing *hearing)
{
    const struct sandbox_result *result = &hearing->run->workload;
    if (!hearing->difference.status)
        return NULL;
    bool claims = result->end == SANDBOX_EXIT && result->status == 0;
    bool destroyed = hearing->difference.lost || hearing->difference.spoilt;
    hearing->verdict = claims && hearing->difference.err_more ? VERDICT_WRONG_OUTPUT
                       : claims                               ? VERDICT_SILENT
                       : destroyed                            ? VERDICT_UNSTABLE
                                                              : VERDICT_GRACEFUL;
    if (destroyed) {
        // To say that it failed does not bring back what it has destroyed.
        TRY(buffer_printf(&hearing->reason, "%s; ", hearing->difference.sentence));
        TRY(say_status(hearing));
        hearing->harm = hearing->difference.lost ? HARM_LOSS : HARM_FILES;
        return hearing_put_cause_site(hearing, hearing->difference.lost ? "data loss" : "files");
    }
    TRY(say_status(hearing));
    return hearing_put_cause_site(hearing, "exit status");
}

static struct error *ask_output(struct hearing *hearing)
{
    const struct difference *difference = &hearing->difference;
    bool less = difference->err && !difference->err_more; // stderr lacks something
    if (!difference->out && !difference->files && !difference->left && !less)
        return NULL;
    hearing->verdict = difference->err_more ? VERDICT_WRONG_OUTPUT : VERDICT_SILENT;
    TRY(buffer_printf(&hearing->reason, "%s", difference->sentence));
    TRY(buffer_printf(&hearing->reason, "; exit status %d as ever",
                      reference_status(hearing->reference)));
    if (difference->err_more && difference->more != NULL)
        TRY(hearing_put_stderr(hearing));
    if (!difference->err_more)
        TRY(buffer_printf(&hearing->reason, ", nothing reported"));
    hearing->harm = difference->lost ? HARM_LOSS : difference->files ? HARM_FILES : HARM_NONE;
    return hearing_put_cause_site(hearing, difference->lost    ? "data loss"
                                           : difference->files ? "files"
                                           : difference->out   ? "stdout"
                                           : difference->left  ? "leftovers"
                                                               : "stderr");
}

static struct error *ask_stderr(struct hearing *hearing)
{
    hearing->verdict = hearing->difference.err_more ? VERDICT_GRACEFUL : VERDICT_PASS;
    if (hearing->verdict == VERDICT_PASS)
        return buffer_printf(&hearing->reason, "as the reference");
    TRY(buffer_printf(&hearing->reason, "everything as the reference, but it is reported"));
    TRY(hearing_put_stderr(hearing));
    return hearing_put_cause_site(hearing, "stderr");
}

static struct error *compare(struct hearing *hearing)
{
    return reference_compare(hearing->reference, hearing->run, &hearing->difference);
}

struct error *judge(const struct reference *reference, const struct outcome_run *run,
                    struct judgement *ret_judgement)
{
    static struct error *(*const questions[])(struct hearing *) = {
        ask_valid,        ask_activated, hearing_ask_late_crash,
        hearing_ask_hang, compare,       hearing_ask_crash,
        ask_service,      ask_oracle,    ask_posttest,
        ask_status,       ask_output,    ask_stderr,
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
    *ret_judgement = (struct judgement){.verdict = hearing.verdict,
                                        .severity = severity_of(hearing.verdict, hearing.harm),
                                        .reason = TAKE(hearing.reason.data),
                                        .cause = TAKE(cause.data),
                                        .symptom = hearing.difference.symptom,
                                        .about = TAKE(hearing.difference.about)};
    return NULL;
}
