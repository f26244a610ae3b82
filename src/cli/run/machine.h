// SPDX-License-Identifier: GPL-3.0-or-later
// What Ordeal needs from the machine it runs on. Every check tries the very thing.
#ifndef ORDEAL_CLI_RUN_MACHINE_H
#define ORDEAL_CLI_RUN_MACHINE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct machine_check {
    const char *id;     // for machines: "overlay"
    const char *what;   // "private view of the file system"
    const char *use;    // what needs it: "every trial"
    const char *remedy; // how to get it
    bool required;      // without it neither `ordeal run` nor `ordeal test` works
    // The error says why it cannot be had.
    struct error *(*check)(void);
};
extern const struct machine_check machine_checks[];
extern const size_t machine_check_count;

#endif
