// SPDX-License-Identifier: GPL-3.0-or-later
// Times as options take them, for what is suggested and for commands to be copied.
#ifndef ORDEAL_BASE_DURATION_H
#define ORDEAL_BASE_DURATION_H

#include "base/array.h"
#include "base/error.h"

#include <stdint.h>

// The next round time that is not below: "200ms", "5s", "10m".
_must_check_ struct error *duration_put_enough(struct buffer *text, uint64_t ns);
// Not above: whole seconds bare, "3"; otherwise "400ms", or "50us" of less than a millisecond.
_must_check_ struct error *duration_put_patience(struct buffer *text, uint64_t ns);

#endif
