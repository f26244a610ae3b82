// SPDX-License-Identifier: GPL-3.0-or-later
// How severe Linux takes a machine-check error to be: the rules of its own table for Intel
// processors (Linux 6.1), so that what a kernel really does can be compared.
#ifndef ORDEAL_MCE_SEVERITY_H
#define ORDEAL_MCE_SEVERITY_H

#include "mce/error.h"

enum mce_severity {
    MCE_SEVERITY_NO,
    MCE_SEVERITY_UCNA,
    MCE_SEVERITY_KEEP,
    MCE_SEVERITY_SOME,
    MCE_SEVERITY_AO,
    MCE_SEVERITY_UC,
    MCE_SEVERITY_AR,
    MCE_SEVERITY_PANIC,
    MCE_SEVERITIES
};
extern const char *const mce_severity_names[MCE_SEVERITIES]; // "NO", "UCNA", …

// What the processor was executing when the exception came; or there was none, and the kernel found
// the error when it looked.
enum mce_place { MCE_IN_USER = 1, MCE_IN_KERNEL = 2, MCE_POLLED = 4 };

// `recovery`: the processor supports recovery by software. *ret_rule: what the kernel calls the
// first rule that applies; it prints that when it panics.
enum mce_severity mce_severity(const struct mce_error *error, enum mce_place place, bool recovery,
                               const char **ret_rule);

#endif
