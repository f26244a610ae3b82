// SPDX-License-Identifier: GPL-3.0-or-later
// A terminal of its own for a command in a sandbox, shown on the user's: job control works in there
// as ever, and the sandbox gets no hold of the user's terminal.
#ifndef ORDEAL_CAMPAIGN_TERMINAL_RELAY_H
#define ORDEAL_CAMPAIGN_TERMINAL_RELAY_H

#include "base/error.h"

// From open to close a thread passes on what is typed on stdin, which must be a terminal, and what
// the command prints, to stdout; and the size of the terminal.
struct relay;
_must_check_ struct error *relay_open(struct relay **ret_relay);
void relay_close(struct relay *relay);         // gives the user's terminal its ways back
int relay_terminal(const struct relay *relay); // for the command

#endif
