// SPDX-License-Identifier: GPL-3.0-or-later
// How bad a finding is: what happened, and to what.
#ifndef ORDEAL_STORE_SEVERITY_H
#define ORDEAL_STORE_SEVERITY_H

#include "store/enum-names.h"
#include "store/verdict.h"

// Worst first, after the value for none.
enum severity {
    SEVERITY_NONE,   // no failure
    SEVERITY_LOSS,   // the user's data is lost: destroyed, or in a file that cannot be read
    SEVERITY_HIGH,   // a crash, a hang, or files that are silently wrong
    SEVERITY_MEDIUM, // wrong output, or something left broken
    SEVERITIES
};
extern const struct enum_names severity_names; // as the store writes them

// What the trial did to files.
enum harm {
    HARM_NONE,
    HARM_FILES, // files differ from what the reference leaves
    HARM_LOSS,  // a file that existed before is lost, or success is claimed for a damaged one
};
enum severity severity_of(enum verdict verdict, enum harm harm);
// For people: "critical (data loss)", "high", "medium"; NULL for none.
const char *severity_name(enum severity severity);

#endif
