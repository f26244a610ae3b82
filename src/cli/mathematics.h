// SPDX-License-Identifier: GPL-3.0-or-later
// The C library's mathematical functions, loaded when the first of them is called: `ordeal run`
// needs none, and a shared library more costs every start a tenth of what /bin/true takes.
// Statistics and the store, which call them by name, do not notice.
#ifndef ORDEAL_CLI_MATHEMATICS_H
#define ORDEAL_CLI_MATHEMATICS_H

#include "base/error.h"

// Loads them now. A command that will need them calls this first: later there is nobody to return
// an error to, and the process would end.
_must_check_ struct error *mathematics_need(void);

#endif
