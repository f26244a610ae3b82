// SPDX-License-Identifier: GPL-3.0-or-later
// A pseudo-terminal for a command in a sandbox, shown on the user's terminal. Job control works as
// usual in there, and the sandbox gets no access to the user's terminal.
#ifndef ORDEAL_CAMPAIGN_TERMINAL_RELAY_H
#define ORDEAL_CAMPAIGN_TERMINAL_RELAY_H

#include "base/error.h"

// Between open and close, a thread passes on input from stdin, which must be a terminal, output to
// stdout, and changes of the terminal's size.
struct relay;
_must_check_ struct error *relay_open(struct relay **ret_relay);
void relay_close(struct relay *relay);         // restores the user's terminal
int relay_terminal(const struct relay *relay); // the command's end; stays the relay's

#endif
