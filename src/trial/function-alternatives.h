// SPDX-License-Identifier: GPL-3.0-or-later
// Functions that do the same work under different names. A rule for one does not cover the others,
// and how a program was compiled decides which of them it calls.
#ifndef ORDEAL_TRIAL_FUNCTION_ALTERNATIVES_H
#define ORDEAL_TRIAL_FUNCTION_ALTERNATIVES_H

#include <stdbool.h>

// Whether `other` is another name of `function` (open64, __open_2), or does its work in another way
// (openat, copy_file_range for read). False if both are the same name.
bool function_alternatives(const char *function, const char *other);

#endif
