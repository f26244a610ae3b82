// SPDX-License-Identifier: GPL-3.0-or-later
// The questions about crashes and hangs: whether a process died or did not end, and where. See
// judge-internal.h.
#include "oracle/judge-internal.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/quote.h"
#include "oracle/origin.h"

#include <signal.h>
#include <string.h>

#define KEY_FRAMES  3  // innermost frames that tell where a process waits or crashed
#define REPETITIONS 50 // faults in a row at one place: the program loops over it

// The innermost frames outside the C library: "f (x) < main (x)". Where a loop was met in the C
// library is chance. The caller of the library is what counts.
static struct error *put_frames(struct buffer *buffer, const char *key, size_t most,
                                struct error *(*put)(struct buffer *text,
                                                     const struct frame_text *frame))
{
    struct frame_text frame;
    for (size_t i = origin_first_outside(key), first = i;
         i < first + most && frame_text_at(key, i, &frame); i++) {
        if (i != first)
            TRY(buffer_append(buffer, " < ", 3));
        TRY(put(buffer, &frame));
    }
    return NULL;
}

// For people: with the name of the program.
static struct error *put_whole(struct buffer *text, const struct frame_text *frame)
{
    return quote_put(text, frame->whole.text, frame->whole.size, 300);
}

static bool same_site(const struct injection *a, const struct injection *b)
{
    bool modules = a->module != NULL && b->module != NULL && strcmp(a->module, b->module) == 0;
    return modules && a->offset == b->offset && a->process == b->process && a->thread == b->thread;
}

// The call that a program repeats for ever because it fails every time, or NULL. Which function of
// such a loop the timeout hits is chance. The call is not.
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

bool verdict_draft_was_sent(const struct verdict_draft *draft, int number)
{
    const struct observation *observation = &draft->run->observation;
    for (size_t i = 0; i < observation->injections.count; i++)
        if (number != 0 && observation->injections.items[i].signal == number)
            return true;
    return false;
}

// The signal in an exit status above 128, with which shells report that a child was killed. Only
// signals that mean a defect; else 0.
static int signal_of_exit_status(const struct verdict_draft *draft)
{
    static const int signals[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    const struct sandbox_result *result = &draft->run->workload;
    if (result->end != SANDBOX_EXIT || result->status == reference_status(draft->reference))
        return 0;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (result->status == 128 + signals[i])
            return signals[i];
    return 0;
}

static struct error *ask_sanitizer_report(struct verdict_draft *draft)
{
    size_t size;
    const char *line =
        reference_new_sanitizer_report(draft->reference, draft->run->sanitizer, &size);
    if (line == NULL)
        return NULL;
    draft->verdict = VERDICT_CRASH;
    TRY(quote_put(&draft->reason, line, size, 400));
    return quote_put(&draft->cause, line, size, 400);
}

// Whether a frame is in this function. Of a C++ name only the first word is compared.
static bool is_in(const struct frame_text *frame, const char *symbol)
{
    struct frame_part word = frame->function;
    if (symbol == NULL || word.text == NULL)
        return false;
    const char *blank = memchr(word.text, ' ', word.size);
    if (blank != NULL)
        word.size = (size_t)(blank - word.text);
    return frame_part_is(word, symbol);
}

// For an injection without a stack.
static bool is_on_stack(const char *stack, const char *symbol)
{
    struct frame_text frame;
    while (frame_text_next(&stack, &frame))
        if (is_in(&frame, symbol))
            return true;
    return false;
}

// Adds the call whose failure was passed on to the crash: another call is another cause. If the
// program looks at the result of the failed call, it does not matter which call it was: the crash
// is in code that handles failures. Nor if there is no such call.
static struct error *put_crash_origin(struct verdict_draft *draft, const char *stack, size_t place)
{
    const struct injection *injection = &draft->run->observation.injections.items[0];
    struct frame_text frame;
    bool direct = true, known = injection->stack != NULL;
    if (known ? !origin_of_crash(injection, stack, place, &frame, &direct)
              : !is_on_stack(stack, injection->symbol))
        return NULL;
    if (direct)
        TRY(buffer_append(&draft->handled, draft->cause.data, draft->cause.size));
    if (known)
        draft->blamed = frame.module;
    TRY(buffer_printf(&draft->cause, " after "));
    return known ? origin_put_frame(&draft->cause, injection, &frame)
                 : origin_put(&draft->cause, injection);
}

// The module to blame for a crash in this frame. The C++ library only says that nobody caught an
// exception: whoever it was thrown in has not.
static struct frame_part module_to_blame(const char *key, size_t number)
{
    struct frame_text frame;
    struct frame_part first = {0};
    for (; frame_text_at(key, number, &frame); number++) {
        first = first.text == NULL ? frame.module : first;
        if (!frame_part_is_libstdcxx(frame.module) && !frame_part_is_libc(frame.module))
            return frame.module;
        if (!frame_part_is_libstdcxx(first))
            break;
    }
    return first;
}

// Writes the line where it crashed, whoever called. If the C library did not survive a failure
// inside one of its own calls, that is its bug, whoever called it. A process that ends itself does
// so in code that handles failures.
static struct error *put_crash_place(struct verdict_draft *draft)
{
    const struct observation *observation = &draft->run->observation;
    const struct injection *injection =
        observation->injections.count != 0 ? &observation->injections.items[0] : NULL;
    const char *key = observation->crash_key,
               *stack = observation->crash_stack != NULL ? observation->crash_stack : key;
    struct frame_text frame, placed;
    bool own = injection != NULL && origin_is_own_crash(injection, stack);
    if (own && frame_text_at(key, 0, &frame))
        draft->blamed = frame.module;
    if (own && origin_is_heap_check(key) && frame_text_at(injection->stack, 0, &frame) &&
        frame.function.text != NULL)
        return buffer_printf(&draft->cause, "a damaged heap after %.*s (%.*s)",
                             (int)frame.function.size, frame.function.text, (int)frame.module.size,
                             frame.module.text);
    size_t number = own ? origin_crash_frame(key) : origin_first_outside(key);
    if (!frame_text_at(key, number, &frame))
        return NULL;
    // A stack that ends in the C library was not followed to whoever called it.
    if (own || number != 0 || !frame_part_is_libc(frame.module))
        draft->blamed = module_to_blame(key, number);
    TRY(origin_put_code(&draft->cause, &frame));
    if (frame_text_at(observation->crash_stack, number, &placed) && placed.place.text != NULL)
        TRY(buffer_printf(&draft->cause, " at %.*s", (int)placed.place.size, placed.place.text));
    if (own || injection == NULL || observation->crash_by_itself)
        return NULL;
    return put_crash_origin(draft, stack, number);
}

// "SIGSEGV in f (cp) at a.c:12": without addresses and what else varies.
static struct error *put_crash_cause(struct verdict_draft *draft)
{
    const struct observation *observation = &draft->run->observation;
    TRY(buffer_printf(&draft->cause, "%s", outcome_signal_name(observation->crash_signal)));
    if (observation->crash_key == NULL)
        return verdict_draft_put_cause_site(draft, "");
    TRY(buffer_printf(&draft->cause, " in "));
    return put_crash_place(draft);
}

// Whether nothing worse came of a death that was decided on: no data destroyed, no wrong results of
// a workload that claims success, and nothing that a posttest or an oracle command looks at.
static bool is_all_that_happened(const struct verdict_draft *draft)
{
    const struct difference *difference = &draft->difference;
    bool changed = difference->out || difference->files || difference->left;
    return !difference->lost && !difference->spoilt && (difference->status || !changed) &&
           !outcome_failed(&draft->run->posttest) && draft->run->oracle.end == SANDBOX_SKIPPED;
}

static struct error *ask_crash_record(struct verdict_draft *draft)
{
    const struct observation *observation = &draft->run->observation;
    if (observation->crash == NULL || verdict_draft_was_sent(draft, observation->crash_signal))
        return NULL;
    const char *key = observation->crash_key != NULL ? observation->crash_key : observation->crash;
    bool command_died = draft->run->workload.end == SANDBOX_SIGNAL;
    if (!command_died && reference_has_crash(draft->reference, key))
        return NULL;
    // A server must go on serving, whatever it says. It may decide not to begin.
    bool deliberate = (draft->run->service == NULL || draft->run->before_ready) &&
                      verdict_draft_is_deliberate(draft);
    draft->deliberate = deliberate && !is_all_that_happened(draft);
    if (draft->deliberate)
        return NULL;
    draft->verdict = deliberate ? VERDICT_DELIBERATE : VERDICT_CRASH;
    TRY(quote_put(&draft->reason, observation->crash, strlen(observation->crash), 400));
    if (observation->crash_key != NULL) {
        TRY(buffer_printf(&draft->reason, ", in "));
        TRY(put_frames(&draft->reason, observation->crash_key, KEY_FRAMES, put_whole));
    }
    if (!observation->crash_in_command)
        TRY(buffer_printf(&draft->reason, " (a process that the workload started)"));
    TRY(put_crash_cause(draft));
    return verdict_draft_put_stderr(draft);
}

struct error *verdict_draft_ask_crash(struct verdict_draft *draft)
{
    const struct sandbox_result *result = &draft->run->workload;
    TRY(ask_sanitizer_report(draft));
    if (draft->verdict == VERDICTS)
        TRY(ask_crash_record(draft));
    if (draft->verdict != VERDICTS)
        return NULL;
    int number = result->end == SANDBOX_SIGNAL    ? result->status
                 : result->end == SANDBOX_TIMEOUT ? result->died
                                                  : signal_of_exit_status(draft);
    if (number == 0 || draft->deliberate || verdict_draft_was_sent(draft, number))
        return NULL;
    draft->verdict = VERDICT_CRASH;
    if (result->end == SANDBOX_TIMEOUT)
        TRY(buffer_printf(&draft->reason, "killed by %s", outcome_signal_name(number)));
    else
        TRY(outcome_put_end(&draft->reason, result));
    if (result->end == SANDBOX_EXIT)
        TRY(buffer_printf(&draft->reason, ", by which shells report that a process died of %s",
                          outcome_signal_name(number)));
    TRY(verdict_draft_put_stderr(draft));
    return verdict_draft_put_cause_site(draft, outcome_signal_name(number));
}

// The time that was allowed. The measured time includes looking at the stack.
static double allowed_seconds(const struct verdict_draft *draft)
{
    uint64_t allowed = reference_timeout_ns(draft->reference);
    return clock_seconds(allowed != 0 ? allowed : draft->run->workload.ns);
}

struct error *verdict_draft_ask_late_crash(struct verdict_draft *draft)
{
    const struct outcome_run *run = draft->run;
    if (run->workload.end != SANDBOX_TIMEOUT)
        return NULL;
    TRY(verdict_draft_ask_crash(draft));
    if (draft->verdict == VERDICTS)
        return NULL;
    if (run->service != NULL)
        return buffer_printf(&draft->reason, "; and %s", run->service);
    if (run->workload.process_count != 0) {
        TRY(buffer_printf(&draft->reason, "; and "));
        return outcome_put_end(&draft->reason, &run->workload);
    }
    TRY(buffer_printf(&draft->reason, "; and not done after %.3g s", allowed_seconds(draft)));
    if (run->remaining != NULL)
        TRY(buffer_printf(&draft->reason, ": there still ran %s", run->remaining));
    return NULL;
}

// A run that used up its processor time would not have ended by itself either: a hang.
struct error *verdict_draft_ask_hang(struct verdict_draft *draft)
{
    const struct outcome_run *run = draft->run;
    bool limit = run->workload.end == SANDBOX_SIGNAL && run->workload.status == SIGXCPU;
    if ((run->workload.end != SANDBOX_TIMEOUT && !limit) || run->down)
        return NULL;
    draft->verdict = VERDICT_HANG;
    if (limit)
        TRY(buffer_printf(&draft->reason, "used up its processor time (SIGXCPU)"));
    else if (run->workload.process_count != 0)
        TRY(outcome_put_end(&draft->reason, &run->workload));
    else if (run->service != NULL)
        TRY(buffer_printf(&draft->reason, "%s", run->service));
    else
        TRY(buffer_printf(&draft->reason, "not done after %.3g s", allowed_seconds(draft)));
    if (run->hang_key != NULL) {
        TRY(buffer_printf(&draft->reason, ", in "));
        TRY(put_frames(&draft->reason, run->hang_key, KEY_FRAMES, put_whole));
    }
    const struct injection *repeated = repeated_injection(&run->observation);
    if (repeated != NULL) {
        TRY(buffer_printf(&draft->reason, "; "));
        TRY(origin_put(&draft->reason, repeated));
        TRY(buffer_printf(&draft->reason, " fails again and again"));
        TRY(buffer_printf(&draft->cause, "repeating "));
        return origin_put(&draft->cause, repeated);
    }
    if (run->hang_key == NULL)
        return verdict_draft_put_cause_site(draft, "somewhere");
    struct frame_text frame;
    if (frame_text_at(run->hang_key, origin_first_outside(run->hang_key), &frame))
        draft->blamed = frame.module;
    TRY(buffer_printf(&draft->cause, "in "));
    // A loop is one, whoever called the function that it is in. Who waits is told by its callers.
    return put_frames(&draft->cause, run->hang_key, run->hang_busy ? 1 : KEY_FRAMES,
                      origin_put_code);
}
