// SPDX-License-Identifier: GPL-3.0-or-later
// Prints durations as options take them, for suggestions and for commands that the user can copy.
#ifndef ORDEAL_BASE_DURATION_H
#define ORDEAL_BASE_DURATION_H

#include "base/array.h"
#include "base/error.h"

#include <stdint.h>

// Appends the next round time that is not shorter: "200ms", "5s", "10m".
_must_check_ struct error *duration_put_enough(struct buffer *text, uint64_t ns);
// Appends a time that is not longer: whole seconds without a unit, "3"; otherwise "400ms", or
// "50us" for less than a millisecond.
_must_check_ struct error *duration_put_patience(struct buffer *text, uint64_t ns);

#endif
