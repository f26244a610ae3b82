// SPDX-License-Identifier: GPL-3.0-or-later
// Deaths of processes that only their parents saw, as shells and make report them.
#ifndef ORDEAL_ORACLE_SHELL_SIGNAL_H
#define ORDEAL_ORACLE_SHELL_SIGNAL_H

#include <stddef.h>

// The signal of the first line of `text` (a standard error) that says that a process died of one
// that means a defect, or 0.
//   Segmentation fault (core dumped)                  dash; make has something before it
//   x.sh: line 3: 1234 Segmentation fault      ./a    bash
int shell_signal_find(const char *text, size_t size);

#endif
