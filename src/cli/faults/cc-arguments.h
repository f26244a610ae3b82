// SPDX-License-Identifier: GPL-3.0-or-later
// What ordeal cc must know of the compiler's arguments, which it hands over as they are.
#ifndef ORDEAL_CLI_FAULTS_CC_ARGUMENTS_H
#define ORDEAL_CLI_FAULTS_CC_ARGUMENTS_H

#include <stdbool.h>

struct cc_arguments {
    bool debug; // debug information is wanted
    bool lto;   // the optimiser will see other modules, too
};
// Also looks into response files; one that cannot be read is the compiler's to complain about.
void cc_arguments_look(char *const *arguments, struct cc_arguments *ret_found);

#endif
