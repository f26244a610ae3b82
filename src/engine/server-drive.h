// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a server once, inside the sandbox: starts it, waits until it is ready, drives it, stops it.
// The driver is a process of its own there and sees the same network, files and processes as the
// server and the load.
#ifndef ORDEAL_ENGINE_SERVER_DRIVE_H
#define ORDEAL_ENGINE_SERVER_DRIVE_H

// For sandbox_step.inside; `shared` is the descriptor of server_state_open(). The load's stdout
// becomes stdout; its stderr and everything that the server prints go to stderr. When it returns,
// all processes that it started are gone. Returns 0, or 127 if it could not read its orders. Other
// errors are in server_state.trouble.
int server_drive(int shared);

#endif
