// SPDX-License-Identifier: GPL-3.0-or-later
// What `ordeal cc` must know about the compiler's arguments. It passes them on unchanged.
#ifndef ORDEAL_CLI_FAULTS_CC_ARGUMENTS_H
#define ORDEAL_CLI_FAULTS_CC_ARGUMENTS_H

#include "base/arena.h"
#include "base/array.h"

#include <stdbool.h>

struct cc_arguments {
    bool debug;     // debug information is wanted
    bool lto;       // the optimiser will see other modules, too
    bool cfi;       // calls are checked against tables of functions
    bool sections;  // each function has a section of its own
    bool coverage;  // so it has because a sanitizer's coverage puts it into a group
    bool names;     // LLVM's names of values are wanted
    bool together;  // the code generator compiles all functions before it emits the first
    bool scattered; // the blocks of one function may get into several sections
};
// `arguments` is as cc_list_expand() makes it.
void cc_arguments_scan(char *const *arguments, struct cc_arguments *ret_found);

// The arguments with those of response files in their place; ends with NULL. A response file that
// cannot be read is left out: the compiler will report it. The arena owns the texts.
struct cc_list {
    ARRAY(char *) items;
    struct arena arena;
};
_must_check_ struct error *cc_list_expand(char *const *arguments, struct cc_list *ret_list);
void cc_list_deinit(struct cc_list *list);

#endif
