// SPDX-License-Identifier: GPL-3.0-or-later
// What this room needs that may be missing: the decoder is a library that is loaded at first use.
#ifndef ORDEAL_ISA_NEED_H
#define ORDEAL_ISA_NEED_H

#include "base/error.h"

// An error if instructions cannot be decoded: none would be found. To be called before a piece of
// work that depends on them.
_must_check_ struct error *isa_need(void);

#endif
