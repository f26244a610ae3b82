// SPDX-License-Identifier: GPL-3.0-or-later
// How bad a finding is: what happened, and to what.
#ifndef ORDEAL_STORE_SEVERITY_H
#define ORDEAL_STORE_SEVERITY_H

#include "store/verdict.h"

// Worst first.
enum severity {
    SEVERITY_LOSS,   // files that were there before are destroyed
    SEVERITY_HIGH,   // a crash, a hang, or files that are wrong and nobody knows
    SEVERITY_MEDIUM, // wrong output, or something left broken
    SEVERITY_NONE,   // no failure
};
// By its verdict and cause (store_finding).
enum severity finding_severity(enum verdict verdict, const char *cause);
// "critical (data loss)", "high", "medium"; NULL for none.
const char *severity_word(enum severity severity);

#endif
