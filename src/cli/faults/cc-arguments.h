// SPDX-License-Identifier: GPL-3.0-or-later
// What `ordeal cc` must know about the compiler's arguments. It passes them on unchanged.
#ifndef ORDEAL_CLI_FAULTS_CC_ARGUMENTS_H
#define ORDEAL_CLI_FAULTS_CC_ARGUMENTS_H

#include <stdbool.h>

struct cc_arguments {
    bool debug; // debug information is wanted
    bool lto;   // the optimiser will see other modules, too
    bool cfi;   // calls are checked against tables of functions
    bool scattered; // the blocks of one function may get into several sections
};
// Also reads response files. If one cannot be read, the compiler will report it.
void cc_arguments_scan(char *const *arguments, struct cc_arguments *ret_found);

#endif
