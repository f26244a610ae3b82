// SPDX-License-Identifier: GPL-3.0-or-later
// The C library's mathematical functions, loaded on the first call. `ordeal run` needs none of
// them, and one more shared library makes every start slower by a tenth of what /bin/true takes.
// The statistics and the store call these functions by name and do not notice.
#ifndef ORDEAL_CLI_MATHEMATICS_H
#define ORDEAL_CLI_MATHEMATICS_H

#include "base/error.h"

// Loads the functions now. A command that needs them calls this first: later there is nobody to
// return an error to, and the process would have to end.
_must_check_ struct error *mathematics_load(void);

#endif
