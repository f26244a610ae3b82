// SPDX-License-Identifier: GPL-3.0-or-later
// Leads one life of a server: start it, wait until it is ready, drive it, stop it. Runs inside the
// sandbox, as a process of its own: what the server and the load see is the same network, the same
// files and the same processes that it sees.
#ifndef ORDEAL_ENGINE_SERVER_DRIVE_H
#define ORDEAL_ENGINE_SERVER_DRIVE_H

// `shared` as of server_state_open(). For sandbox_step.inside. The load's stdout becomes its own;
// its stderr, and all that the server prints, goes to stderr. When it returns, all that was started
// is gone.
int server_drive(int shared);

#endif
