// SPDX-License-Identifier: GPL-3.0-or-later
// The sockets that a command inherits from whoever started ordeal, who may use them as well.
#ifndef ORDEAL_TRIAL_INHERITED_SOCKETS_H
#define ORDEAL_TRIAL_INHERITED_SOCKETS_H

#include "wire/view.h"

// Call it before the command starts. Writes into the region which sockets, beside the standard
// streams, it inherits from this process. Does nothing if no rule injects a lost connection. If
// they cannot be listed, it writes a count that is too large.
void inherited_sockets_note(struct wire_region *region);

#endif
