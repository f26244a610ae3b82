// SPDX-License-Identifier: GPL-3.0-or-later
// Sockets that a command is given by whoever started ordeal, and that are not its alone.
#ifndef ORDEAL_TRIAL_GIVEN_H
#define ORDEAL_TRIAL_GIVEN_H

#include "wire/view.h"

// Before the command starts: writes into the region which sockets above the standard streams it
// inherits from this process, if a rule may have connections lost.
void given_note(struct wire_region *region);

#endif
