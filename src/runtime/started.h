// SPDX-License-Identifier: GPL-3.0-or-later
// Programs that processes start, until the runtime starts in them.
#ifndef ORDEAL_RUNTIME_STARTED_H
#define ORDEAL_RUNTIME_STARTED_H

#include "wire/region.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct started {
    uint32_t record; // the program's in the journal; WIRE_NONE: it is not told
    enum wire_obstacle obstacle;
};

// A program is about to be started: NULL: its name is not known.
struct started started_begin(const char *path);
void started_by_exec(struct started started); // by this process, now
void started_failed(void);                    // which came back
void started_by_spawn(struct started started, uint32_t pid);
void started_attached(void); // the runtime has started in this process

// The file that the C library executes under a name: absolute, by PATH if it has no slash. False:
// there is none.
bool program_search(const char *name, char *path, size_t room);

#endif
