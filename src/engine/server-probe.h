// SPDX-License-Identifier: GPL-3.0-or-later
// Whether a server is ready, asked by a process in the server's own namespaces. Nothing is sent to
// it: a connection more or less would change what it does.
#ifndef ORDEAL_ENGINE_SERVER_PROBE_H
#define ORDEAL_ENGINE_SERVER_PROBE_H

#include "definition/server-words.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct probe {
    struct ready ready;
    uint64_t start_ns;
    bool was_there; // the file
    struct stat before;
};
// Just before the start. *ret_taken: somebody else is there already.
void probe_begin(struct probe *probe, const struct ready *ready, bool *ret_taken);
// Of ports, sockets, files and delays.
bool probe_holds(const struct probe *probe);

#endif
