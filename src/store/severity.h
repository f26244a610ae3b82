// SPDX-License-Identifier: GPL-3.0-or-later
// How bad a finding is: what happened, and to what.
#ifndef ORDEAL_STORE_SEVERITY_H
#define ORDEAL_STORE_SEVERITY_H

#include "store/enum-names.h"
#include "store/verdict.h"

// Worst first, but for what is none.
enum severity {
    SEVERITY_NONE,   // no failure
    SEVERITY_LOSS,   // files that were there before are destroyed
    SEVERITY_HIGH,   // a crash, a hang, or files that are wrong and nobody knows
    SEVERITY_MEDIUM, // wrong output, or something left broken
    SEVERITIES
};
extern const struct enum_names severity_names; // of the store

// What a verdict is about, as far as files are concerned.
enum harm {
    HARM_NONE,
    HARM_FILES, // they are not as the reference leaves them
    HARM_LOSS,  // one that was there before is lost
};
enum severity severity_of(enum verdict verdict, enum harm harm);
// For people: "critical (data loss)", "high", "medium"; NULL for none.
const char *severity_name(enum severity severity);

#endif
