// SPDX-License-Identifier: GPL-3.0-or-later
// Decides about one run: compares it with the reference and gives the verdict.
#ifndef ORDEAL_ORACLE_JUDGE_H
#define ORDEAL_ORACLE_JUDGE_H

#include "base/error.h"
#include "oracle/reference.h"
#include "store/severity.h"

struct judgement {
    enum verdict verdict;
    struct deviations deviations;
    struct propagation propagation;
    char *reason; // one sentence
    char *cause;  // key for grouping: verdict, what broke and where, without addresses or numbers
                  // that vary from run to run
    // The cause if the program looks at the result of the failed call: then the call is no part of
    // it, because the same code handles the failures of others. NULL: it makes no difference.
    char *handled;
    char *library; // file name of the system library that is to blame, or NULL
    enum severity severity;
    enum symptom symptom;
    char *about;  // the file that this is about, or NULL
    bool ignored; // the process with the fault reported it; whoever started that made nothing of it
    bool by_chance; // a run without the fault differs likewise; the verdict is `invalid` then
};
// The strings are the caller's, to be freed by judgement_deinit(). An error means that memory ran
// out.
_must_check_ struct error *judge(const struct reference *reference, const struct outcome_run *run,
                                 struct judgement *ret_judgement);
void judgement_deinit(struct judgement *judgement);

#endif
