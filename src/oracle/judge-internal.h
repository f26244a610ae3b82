// SPDX-License-Identifier: GPL-3.0-or-later
// A verdict while it is being made, shared by judge*.c and deliberate.c. judge-crash.c asks about
// crashes and hangs, judge.c asks everything else.
#ifndef ORDEAL_ORACLE_JUDGE_INTERNAL_H
#define ORDEAL_ORACLE_JUDGE_INTERNAL_H

#include "base/array.h"
#include "base/frame-text.h"
#include "oracle/judge.h"

struct verdict_draft {
    const struct reference *reference;
    const struct outcome_run *run;
    struct difference difference;
    struct deviations deviations;
    struct propagation propagation;
    enum verdict verdict; // VERDICTS: not decided yet
    struct buffer reason;
    struct buffer cause;   // the grouping key, without the verdict's name
    struct buffer handled; // the same if the program handles the failed call; empty: no other one
    struct frame_part blamed; // the module that the cause names; it belongs to the run
    enum harm harm;
    bool result;     // the cause is about wrong results, whichever verdict they have
    bool ignored;    // as in struct judgement
    bool deliberate; // the death of a process was decided on, but is not the worst that happened
};

// Adds to the reason what the run reported: the first line that the reference does not have, else
// the last line of stderr.
_must_check_ struct error *verdict_draft_put_stderr(struct verdict_draft *draft);
// Appends to the cause `what` and after which faults it happened.
_must_check_ struct error *verdict_draft_put_cause_site(struct verdict_draft *draft,
                                                        const char *what);

// Questions. Each leaves `verdict` as it is if it does not decide. The first one is about a process
// that died while the rest went on until the time was over.
_must_check_ struct error *verdict_draft_ask_late_crash(struct verdict_draft *draft);
_must_check_ struct error *verdict_draft_ask_hang(struct verdict_draft *draft);
_must_check_ struct error *verdict_draft_ask_crash(struct verdict_draft *draft);

// Whether the injector itself sent this signal. Whichever signal it is, to die of it is no defect
// of the target.
bool verdict_draft_was_sent(const struct verdict_draft *draft, int number);
// Whether the process that died decided to, and said why. To be asked after the comparison.
bool verdict_draft_is_deliberate(const struct verdict_draft *draft);

#endif
