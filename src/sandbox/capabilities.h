// SPDX-License-Identifier: GPL-3.0-or-later
// Takes the capabilities from processes in a sandbox that reach outside of it. An error says which
// call failed.
#ifndef ORDEAL_SANDBOX_CAPABILITIES_H
#define ORDEAL_SANDBOX_CAPABILITIES_H

#include "base/error.h"

// Programs that this process executes will get harmless capabilities only.
_must_check_ struct error *capabilities_bound(void);
// Gives up all other capabilities of this process now.
_must_check_ struct error *capabilities_drop(void);

#endif
