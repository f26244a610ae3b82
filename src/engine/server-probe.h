// SPDX-License-Identifier: GPL-3.0-or-later
// Whether a server is ready, seen from a process in the server's own namespaces. Nothing is sent to
// the server: another connection would change what it does.
#ifndef ORDEAL_ENGINE_SERVER_PROBE_H
#define ORDEAL_ENGINE_SERVER_PROBE_H

#include "definition/server-words.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct probe {
    struct ready ready;
    uint64_t start_ns;
    bool was_there; // the file existed before the start
    struct stat before;
};
// To be called just before the start. *ret_taken: another server has the port or socket already.
// Keeps a copy of *ready, whose text must outlive the probe.
void probe_begin(struct probe *probe, const struct ready *ready, bool *ret_taken);
// Whether the server is ready, by its port, socket, file or delay; false for other kinds.
bool probe_holds(const struct probe *probe);

#endif
