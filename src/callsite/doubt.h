// SPDX-License-Identifier: GPL-3.0-or-later
// Which functions of other libraries the calls of a program take for functions that fail.
#ifndef ORDEAL_CALLSITE_DOUBT_H
#define ORDEAL_CALLSITE_DOUBT_H

#include "callsite/site.h"

// Functions of the C library are known well enough.
bool doubt_is_of_c_library(const struct site_callee *callee);

// Makes unchecked calls unknown if it is doubtful that the function called fails, or has a result.
_must_check_ struct error *doubt_guesses(struct sites *sites);

#endif
