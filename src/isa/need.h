// SPDX-License-Identifier: GPL-3.0-or-later
// Whether instructions can be decoded: Zydis is loaded at first use and may be missing.
#ifndef ORDEAL_ISA_NEED_H
#define ORDEAL_ISA_NEED_H

#include "base/error.h"

// An error if Zydis cannot be loaded. Call it before work that depends on instructions: without
// Zydis no instruction would be found, and no error reported.
_must_check_ struct error *isa_need(void);

#endif
