// SPDX-License-Identifier: GPL-3.0-or-later
// One copy of a process of the load, and what it and the voter send each other. A fault may make a
// copy do anything: it has no descriptors but its link and its file, and may only make the system
// calls that it needs.
#ifndef ORDEAL_STRESS_COPY_H
#define ORDEAL_STRESS_COPY_H

#include "stress/work.h"

#include <stdint.h>

// Where the descriptors of a copy are. Nothing else is open in it, but /dev/null below them.
#define COPY_LINK 3
#define COPY_FILE 4

enum copy_order {
    COPY_RUN,   // a function
    COPY_CLONE, // become two: the new one uses the descriptors that come with the order
};

// What comes with it.
struct copy_descriptors {
    int link, file;
};

struct copy_command {
    enum copy_order order;
    enum stress_area area;
    uint64_t units, turn; // of work; the number of the function
    unsigned intensity;   // percent of the units that are done; the others are slept
    uint64_t unit_ns;     // how long those sleep
    uint64_t limit_ns;    // then the copy is killed, whatever became of the voter
};

struct copy_answer {
    enum copy_order order; // that was carried out
    uint64_t sum;
};

// Takes orders until the link is closed.
_Noreturn void copy_live(struct stress_work *work);

#endif
