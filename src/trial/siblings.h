// SPDX-License-Identifier: GPL-3.0-or-later
// Functions that do the same under different names: a rule for one does not cover the others, and
// which of them a program calls depends on how it was compiled.
#ifndef ORDEAL_TRIAL_SIBLINGS_H
#define ORDEAL_TRIAL_SIBLINGS_H

#include <stdbool.h>

// Whether `other` is another spelling of `function` (open64, __open_2), or does its work in another
// way (openat, copy_file_range for read). Never true of the same name.
bool siblings(const char *function, const char *other);

#endif
