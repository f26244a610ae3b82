// SPDX-License-Identifier: GPL-3.0-or-later
// Takes the capabilities from processes in a sandbox that reach outside of it. An error says which
// call failed.
#ifndef ORDEAL_SANDBOX_CAPABILITIES_H
#define ORDEAL_SANDBOX_CAPABILITIES_H

#include "base/error.h"

#include <stdbool.h>

// Programs that this process executes will get harmless capabilities only. What is harmless depends
// on whether the network is a private one.
_must_check_ struct error *capabilities_bound(bool private_network);
// Gives up all other capabilities of this process now.
_must_check_ struct error *capabilities_drop(bool private_network);

#endif
