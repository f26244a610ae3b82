// SPDX-License-Identifier: GPL-3.0-or-later
// The clock that deadlines and durations are measured with: nanoseconds, never set back.
#ifndef ORDEAL_BASE_CLOCK_H
#define ORDEAL_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
