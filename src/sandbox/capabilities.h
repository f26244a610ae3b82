// SPDX-License-Identifier: GPL-3.0-or-later
#ifndef ORDEAL_SANDBOX_CAPABILITIES_H
#define ORDEAL_SANDBOX_CAPABILITIES_H

#include "base/error.h"

// Programs that this process executes get no other capabilities than harmless ones.
_must_check_ struct error *capabilities_bound(void);
// Gives up all others now.
_must_check_ struct error *capabilities_drop(void);

#endif
