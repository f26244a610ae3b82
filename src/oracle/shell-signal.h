// SPDX-License-Identifier: GPL-3.0-or-later
// Finds deaths of processes that only their parents saw, in the messages of shells and make.
#ifndef ORDEAL_ORACLE_SHELL_SIGNAL_H
#define ORDEAL_ORACLE_SHELL_SIGNAL_H

#include <stddef.h>

// The signal of the first line of `text` (a standard error) that reports a death by a signal that
// means a defect; 0 if there is none.
//   Segmentation fault (core dumped)                  dash; make has something before it
//   x.sh: line 3: 1234 Segmentation fault      ./a    bash
int shell_signal_find(const char *text, size_t size);

#endif
