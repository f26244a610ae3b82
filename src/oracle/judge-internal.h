// SPDX-License-Identifier: GPL-3.0-or-later
// A verdict in the making, for judge*.c: judge.c asks the questions, judge-crash.c those about
// crashes and hangs.
#ifndef ORDEAL_ORACLE_JUDGE_INTERNAL_H
#define ORDEAL_ORACLE_JUDGE_INTERNAL_H

#include "base/array.h"
#include "oracle/judge.h"

struct verdict_draft {
    const struct reference *reference;
    const struct outcome_run *run;
    struct difference difference;
    enum verdict verdict; // VERDICTS: not yet
    struct buffer reason;
    struct buffer cause; // what comes after the verdict's name
    enum harm harm;
};

// Adds what stderr says to the reason.
_must_check_ struct error *verdict_draft_put_stderr(struct verdict_draft *draft);
// "read in f at a.c:12" or what is known of that: the same for all faults in one place.
_must_check_ struct error *verdict_draft_put_site(struct buffer *buffer,
                                                  const struct injection *injection);
// `what`, and after which faults, as the cause.
_must_check_ struct error *verdict_draft_put_cause_site(struct verdict_draft *draft,
                                                        const char *what);

// Something died, and what remained waited for it, or for nothing.
_must_check_ struct error *verdict_draft_ask_late_crash(struct verdict_draft *draft);
_must_check_ struct error *verdict_draft_ask_hang(struct verdict_draft *draft);
_must_check_ struct error *verdict_draft_ask_crash(struct verdict_draft *draft);

#endif
