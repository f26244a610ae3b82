// SPDX-License-Identifier: GPL-3.0-or-later
// Collects reference runs: says why a run cannot serve as a reference, settles the rest, and
// answers questions about status, time, sanitizer reports and crashes.
#include "oracle/reference.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/duration.h"
#include "base/quote.h"
#include "oracle/reference-model.h"

#include <errno.h>
#include <string.h>

static void reference_freep(struct reference **reference)
{
    reference_free_one(*reference);
}

struct error *reference_new(const struct oracle *oracle, struct reference **ret_reference)
{
    _cleanup_(reference_freep) struct reference *reference = calloc(1, sizeof *reference);
    if (reference == NULL)
        return error_no_memory();
    reference->oracle = oracle;
    TRY(lines_filters_new(oracle->filters.items, oracle->filters.count, &reference->filters));
    *ret_reference = TAKE(reference);
    return NULL;
}

void reference_run_deinit(struct reference_run *run)
{
    for (size_t i = 0; i < run->artifacts.count; i++)
        artifact_deinit(&run->artifacts.items[i]);
    ARRAY_DEINIT(&run->artifacts);
    free(run->sanitizer);
    free(run->crash);
    free(run->absent);
    free(run->failure);
    for (size_t i = 0; i < run->invocations.count; i++) {
        free(run->invocations.items[i].text);
        trace_deinit(&run->invocations.items[i].trace);
    }
    ARRAY_DEINIT(&run->invocations);
    buffer_deinit(&run->interface);
}

void reference_clear_one(struct reference *reference)
{
    for (size_t i = 0; i < reference->runs.count; i++)
        reference_run_deinit(&reference->runs.items[i]);
    for (size_t i = 0; i < reference->remarks.count; i++) {
        free((char *)reference->remarks.items[i].about);
        free((char *)reference->remarks.items[i].text);
    }
    reference->runs.count = reference->remarks.count = 0;
}

void reference_free_one(struct reference *reference)
{
    if (reference == NULL)
        return;
    reference_clear_one(reference);
    for (size_t i = 0; i < reference->items.count; i++)
        lines_model_free(reference->items.items[i].lines);
    for (size_t i = 0; i < reference->unsteady.count; i++)
        free(reference->unsteady.items[i]);
    ARRAY_DEINIT(&reference->runs);
    ARRAY_DEINIT(&reference->items);
    ARRAY_DEINIT(&reference->remarks);
    ARRAY_DEINIT(&reference->unsteady);
    ARRAY_DEINIT(&reference->varying);
    ARRAY_DEINIT(&reference->traced_seconds);
    ARRAY_DEINIT(&reference->others);
    lines_filters_free(reference->filters);
    free(reference);
}

struct reference_run *reference_run_add(struct reference *reference)
{
    return ARRAY_ADD(&reference->runs);
}

int reference_by_path(const void *a, const void *b)
{
    return strcmp(((const struct artifact *)a)->path, ((const struct artifact *)b)->path);
}

// Describes the failure of a step that must not fail without a fault.
static struct error *put_step_failure(struct buffer *why, const char *step,
                                      const struct sandbox_result *result)
{
    TRY(buffer_printf(why, "the %s command failed (", step));
    TRY(outcome_put_end(why, result));
    TRY(buffer_printf(why, ")"));
    TRY(quote_put_last_line(why, "; stderr: ", result->err.kept.data, result->err.kept.size));
    if (result->err.kept.size == 0)
        TRY(quote_put_last_line(why, "; stdout: ", result->out.kept.data, result->out.kept.size));
    return NULL;
}

static struct error *put_oracle_failure(struct buffer *why, const struct outcome_run *run)
{
    const struct sandbox_stream *out = &run->oracle.out;
    size_t size = out->kept.size != 0 ? strcspn(out->kept.data, " \t\r\n") : 0;
    enum verdict said = verdict_named(out->kept.data != NULL ? out->kept.data : "", size);
    if (run->oracle.end == SANDBOX_SKIPPED)
        return NULL;
    if (outcome_failed(&run->oracle))
        return put_step_failure(why, "oracle", &run->oracle);
    if (said != VERDICTS && !verdict_facts[said].failure && said != VERDICT_INVALID)
        return NULL;
    TRY(buffer_printf(why, "the oracle command must find nothing wrong, but it printed "));
    return quote_put_word(why, out->kept.data != NULL ? out->kept.data : "",
                          out->kept.size != 0 ? strcspn(out->kept.data, "\n") : 0);
}

static struct error *put_terminal(struct buffer *why, const struct outcome_run *run)
{
    TRY(buffer_printf(why, "the workload waits for somebody to type"));
    if (run->remaining != NULL)
        TRY(buffer_printf(why, " (still running: %s)", run->remaining));
    return buffer_printf(why, ", and trials have no terminal: tell it what to do by its arguments, "
                              "a script or a batch option; 'script -qec COMMAND /dev/null' gives a "
                              "terminal to a program that only wants to see one");
}

static struct error *put_timeout(struct buffer *why, const struct outcome_run *run)
{
    TRY(buffer_printf(why, "the workload or a process it left behind did not end within %.3g s",
                      clock_seconds(run->workload.ns)));
    if (run->remaining != NULL)
        TRY(buffer_printf(why, " (still running: %s)", run->remaining));
    TRY(quote_put_last_line(why, "; stderr: ", run->workload.err.kept.data,
                            run->workload.err.kept.size));
    return buffer_printf(why,
                         "; what the workload starts it must end, too; if it is a server: --ready "
                         "'port 8080' --load CMD; and a longer timeout is a longer wait");
}

static struct error *put_service(struct buffer *why, const struct outcome_run *run)
{
    const struct buffer *err = &run->workload.err.kept;
    TRY(buffer_append(why, run->service, strlen(run->service)));
    if (run->workload.end == SANDBOX_EXIT && !run->down && !run->exited_early)
        return NULL; // the load failed, and its output is quoted already
    return quote_put_last_line(why, "; it says: ", err->data, err->size);
}

// Describes why a run without fault cannot serve as a reference; appends nothing if it can.
static struct error *put_failure(struct buffer *why, const struct outcome_run *run)
{
    if (run->trouble != NULL)
        return buffer_append(why, run->trouble, strlen(run->trouble));
    if (run->setup_failed)
        return put_step_failure(why, "setup", &run->setup);
    if (outcome_failed(&run->pretest))
        return put_step_failure(why, "pretest", &run->pretest);
    if (outcome_failed(&run->build))
        return put_step_failure(why, "build", &run->build);
    if (run->workload.process_count != 0)
        return buffer_printf(why,
                             "the workload had %zu processes at a time and was ended; if that is "
                             "as it should be, say how many there may be: sandbox.limits.processes",
                             run->workload.process_count);
    if (run->service != NULL)
        return put_service(why, run);
    if (run->wants_terminal)
        return put_terminal(why, run);
    if (run->workload.end == SANDBOX_TIMEOUT)
        return put_timeout(why, run);
    if (run->workload.end != SANDBOX_EXIT)
        return put_step_failure(why, "workload's", &run->workload);
    if (outcome_failed(&run->posttest))
        return put_step_failure(why, "posttest", &run->posttest);
    return put_oracle_failure(why, run);
}

static struct error *copy_text(const char *text, char **ret_copy)
{
    if (text != NULL && (*ret_copy = strdup(text)) == NULL)
        return error_no_memory();
    return NULL;
}

static struct error *copy_invocations(const struct outcome_run *run, struct reference_run *kept)
{
    for (size_t i = 0; i < run->invocations.count; i++) {
        const struct outcome_invocation *invocation = &run->invocations.items[i];
        struct reference_invocation *copy = ARRAY_ADD(&kept->invocations);
        if (copy == NULL)
            return error_no_memory();
        *copy = (struct reference_invocation){.seconds = clock_seconds(invocation->ns),
                                              .status = invocation->status};
        TRY(copy_text(invocation->trace, &copy->text));
    }
    return NULL;
}

static struct error *copy_artifact(struct reference_run *kept, const struct artifact *artifact)
{
    struct artifact *copy = ARRAY_ADD(&kept->artifacts);
    if (copy == NULL)
        return error_no_memory();
    copy->kind = artifact->kind;
    copy->size = artifact->size;
    copy->hash = artifact->hash;
    copy->mode = artifact->mode;
    copy->format = artifact->format;
    copy->decoding = artifact->decoding;
    copy->decoding.said = NULL;
    if ((copy->path = strdup(artifact->path)) == NULL) {
        kept->artifacts.count--;
        return error_no_memory();
    }
    if (artifact->content.size == 0)
        return NULL;
    return buffer_append(&copy->content, artifact->content.data, artifact->content.size);
}

struct error *reference_remark_add(struct reference *reference, enum remark_kind kind,
                                   const char *path, struct buffer *sentence)
{
    _cleanup_(buffer_deinit) struct buffer about = {0};
    if (path != NULL)
        TRY(reference_put_path(&about, path));
    struct store_remark *remark = ARRAY_ADD(&reference->remarks);
    if (remark == NULL)
        return error_no_memory();
    *remark = (struct store_remark){
        .kind = kind, .about = TAKE(about.data), .text = TAKE(sentence->data)};
    *sentence = (struct buffer){0};
    return NULL;
}

// Makes the injector's note a remark, once.
static struct error *pass_note_on(struct reference *reference, const char *note)
{
    _cleanup_(buffer_deinit) struct buffer sentence = {0};
    if (note == NULL)
        return NULL;
    TRY(quote_put(&sentence, note, strlen(note), 400));
    for (size_t i = 0; sentence.data != NULL && i < reference->remarks.count; i++)
        if (strcmp(reference->remarks.items[i].text, sentence.data) == 0)
            return NULL;
    return sentence.data != NULL ? reference_remark_add(reference, REMARK_NOTE, NULL, &sentence)
                                 : NULL;
}

struct error *reference_add_one(struct reference *reference, const struct outcome_run *run)
{
    struct reference_run *kept = reference_run_add(reference);
    if (kept == NULL)
        return error_no_memory();
    kept->end = run->workload.end;
    kept->status = run->workload.status;
    kept->seconds = clock_seconds(run->workload.ns);
    _cleanup_(buffer_deinit) struct buffer why = {0};
    TRY(put_failure(&why, run));
    if (why.size != 0)
        kept->failure = TAKE(why.data);
    for (size_t i = 0; i < run->artifacts.count; i++)
        TRY(copy_artifact(kept, &run->artifacts.items[i]));
    if (kept->artifacts.count != 0)
        qsort(kept->artifacts.items, kept->artifacts.count, sizeof *kept->artifacts.items,
              reference_by_path);
    TRY(copy_text(run->sanitizer, &kept->sanitizer));
    TRY(copy_text(run->absent.data, &kept->absent));
    TRY(copy_invocations(run, kept));
    if (run->interface.size != 0)
        TRY(buffer_append(&kept->interface, run->interface.data, run->interface.size));
    TRY(pass_note_on(reference, run->observation.note));
    return copy_text(run->observation.crash_key != NULL ? run->observation.crash_key
                                                        : run->observation.crash,
                     &kept->crash);
}

static struct error *check_ends(const struct reference *reference)
{
    const struct reference_run *runs = reference->runs.items;
    bool same = true;
    for (size_t i = 0; i < reference->runs.count; i++)
        same &= runs[i].status == runs[0].status;
    if (same)
        return NULL;
    _cleanup_(buffer_deinit) struct buffer list = {0};
    for (size_t i = 0; i < reference->runs.count && i < 16; i++)
        TRY(buffer_printf(&list, "%s%d", i != 0 ? ", " : "", runs[i].status));
    return error_new("the workload does not end the same way every time: exit status %s in its "
                     "reference runs, without any fault; a trial's exit status would say nothing",
                     list.data);
}

const struct artifact *reference_run_find(const struct reference_run *run, const char *path)
{
    struct artifact key = {.path = (char *)path};
    if (run->artifacts.count == 0)
        return NULL;
    return bsearch(&key, run->artifacts.items, run->artifacts.count, sizeof key, reference_by_path);
}

// Whether stderr has the error of an overlay that cannot change files of owners outside its user
// namespace.
static bool is_about_owners(const struct artifact *err)
{
    const char *sign = strerror(EOVERFLOW);
    return err != NULL && err->content.size != 0 &&
           memmem(err->content.data, err->content.size, sign, strlen(sign)) != NULL;
}

// Whether stderr says what interactive programs say that find no terminal.
static bool is_about_terminal(const struct artifact *err)
{
    static const char *const signs[] = {"a terminal",       "a tty",
                                        "/dev/tty",         "tty get",
                                        "opening terminal", "TERM environment",
                                        "tcgetattr",        "Inappropriate ioctl for device"};
    for (size_t i = 0; err != NULL && i < sizeof signs / sizeof *signs; i++)
        if (err->content.size != 0 &&
            memmem(err->content.data, err->content.size, signs[i], strlen(signs[i])) != NULL)
            return true;
    return false;
}

// A workload with a mistyped path would otherwise be tested for ever, and pass.
struct error *reference_check_status(const struct reference *reference)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    int status = reference_status(reference);
    // Each of several inputs has its own status, as long as that is always the same.
    if (status == (int)reference->oracle->status || reference->others.count != 0)
        return NULL;
    TRY(buffer_printf(&text, "the workload %s without any fault: exit status %d",
                      status != 0 ? "fails" : "succeeds", status));
    if (reference->oracle->status != 0)
        TRY(buffer_printf(&text, " instead of %u", reference->oracle->status));
    const struct artifact *err = reference_run_find(&reference->runs.items[0], "<stderr>");
    if (err != NULL)
        TRY(quote_put_last_line(&text, "; stderr: ", err->content.data, err->content.size));
    if (is_about_owners(err))
        return error_new(
            "%s; without root, an overlay cannot change files and directories of "
            "other users and groups; --sandbox copy can change those in its copy of the "
            "working directory, but absolute paths then lead to the real files",
            text.data);
    if (is_about_terminal(err))
        return error_new(
            "%s; it seems to need a terminal, and trials have none: a workload runs by "
            "itself, 'script -qec COMMAND /dev/null' gives it one",
            text.data);
    return error_new("%s; if it is meant to end so: --expect-status %d (oracle.status)", text.data,
                     status);
}

static struct error *warn_of_one(struct reference *reference)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    if (reference->runs.count != 1)
        return NULL;
    TRY(buffer_printf(&text, "with one reference run it cannot be seen whether the workload does "
                             "the same every time"));
    return reference_remark_add(reference, REMARK_NOTE, NULL, &text);
}

struct error *reference_settle_one(struct reference *reference)
{
    if (reference->runs.count == 0)
        return error_new("there is no reference run");
    for (size_t i = 0; i < reference->runs.count; i++)
        if (reference->runs.items[i].failure != NULL)
            return error_new("reference run %zu of %u, without any fault: %s", i + 1,
                             reference->oracle->references > reference->runs.count
                                 ? reference->oracle->references
                                 : (unsigned)reference->runs.count,
                             reference->runs.items[i].failure);
    TRY(check_ends(reference));
    reference->seconds = (struct stats_moments){0};
    for (size_t i = 0; i < reference->runs.count; i++)
        stats_add(&reference->seconds, reference->runs.items[i].seconds);
    TRY(warn_of_one(reference));
    TRY(reference_learn_behaviour(reference));
    TRY(reference_learn_interface(reference));
    return reference_learn(reference);
}

size_t reference_remark_count(const struct reference *reference)
{
    return reference->remarks.count;
}

struct store_remark reference_remark(const struct reference *reference, size_t index)
{
    return reference->remarks.items[index];
}

const struct stats_moments *reference_seconds(const struct reference *reference)
{
    return &reference->seconds;
}

int reference_status(const struct reference *reference)
{
    return reference->runs.count != 0 ? reference->runs.items[0].status : 0;
}

uint64_t reference_timeout_one_ns(const struct reference *reference)
{
    double ns = reference->seconds.mean * (double)NS_PER_S * reference->oracle->timeout_factor;
    double most_ns = 30.0 * 24 * 3600 * (double)NS_PER_S;
    uint64_t scaled_ns = (uint64_t)(ns < most_ns ? ns : most_ns);
    uint64_t floor_ns = reference->oracle->timeout_floor_ns;
    return scaled_ns > floor_ns ? scaled_ns : floor_ns;
}

#define SUGGESTED_TIMES 10 // times the slowest run: the timeout to suggest
#define RISKY_TIMES     2  // times the slowest run: with less, a busy machine makes hangs

static uint64_t slowest_of(const struct reference *reference)
{
    double most = 0;
    for (size_t i = 0; i < reference->runs.count; i++)
        if (reference->runs.items[i].seconds > most)
            most = reference->runs.items[i].seconds;
    return (uint64_t)(most * (double)NS_PER_S);
}

// Without this check every trial could be a hang, whatever its fault.
struct error *reference_check_timeout_one(struct reference *reference)
{
    uint64_t slowest_ns = slowest_of(reference), allowed_ns = reference_timeout_one_ns(reference);
    _cleanup_(buffer_deinit) struct buffer enough = {0}, text = {0};
    if (allowed_ns >= RISKY_TIMES * slowest_ns)
        return NULL;
    TRY(duration_put_enough(&enough, SUGGESTED_TIMES * slowest_ns));
    if (allowed_ns <= slowest_ns)
        return error_new("trials may take %.3g s, but the workload takes up to %.3g s without any "
                         "fault: everything would be a hang; try --timeout %s (oracle.timeout)",
                         clock_seconds(allowed_ns), clock_seconds(slowest_ns), enough.data);
    TRY(buffer_printf(&text,
                      "trials may take %.3g s, and the workload takes up to %.3g s without any "
                      "fault: on a busy machine what is only slow is a hang; better --timeout %s "
                      "(oracle.timeout)",
                      clock_seconds(allowed_ns), clock_seconds(slowest_ns), enough.data));
    return reference_remark_add(reference, REMARK_NOTE, NULL, &text);
}

// Whether the list has this line.
static bool has_line(const char *list, const char *line, size_t size)
{
    while (list != NULL && *list != '\0') {
        size_t length = strcspn(list, "\n");
        if (length == size && memcmp(list, line, size) == 0)
            return true;
        list += length + (list[length] == '\n');
    }
    return false;
}

const char *reference_new_sanitizer_report(const struct reference *reference, const char *reports,
                                           size_t *ret_size)
{
    while (reports != NULL && *reports != '\0') {
        size_t size = strcspn(reports, "\n");
        bool known = size == 0;
        for (size_t i = 0; i < reference->runs.count; i++)
            known |= has_line(reference->runs.items[i].sanitizer, reports, size);
        if (!known) {
            *ret_size = size;
            return reports;
        }
        reports += size + (reports[size] == '\n');
    }
    return NULL;
}

bool reference_has_crash(const struct reference *reference, const char *key)
{
    for (size_t i = 0; i < reference->runs.count; i++)
        if (reference->runs.items[i].crash != NULL &&
            strcmp(reference->runs.items[i].crash, key) == 0)
            return true;
    return false;
}
