// SPDX-License-Identifier: GPL-3.0-or-later
// Where virtual clocks start. Also for code inside traced processes, so it calls nothing.
#ifndef ORDEAL_OBSERVE_INSIDE_VIRTUAL_CLOCK_H
#define ORDEAL_OBSERVE_INSIDE_VIRTUAL_CLOCK_H

#include <stdint.h>
#include <time.h>

#define VIRTUAL_TICK_NS 1000u
#define VIRTUAL_START_S                                                                            \
    2000000000u // of clocks that tell the date: 18 May 2033, later than any file
#define VIRTUAL_UP_S        100000u // of clocks that only advance
#define VIRTUAL_MOST_CLOCKS 12      // numbers of clocks are smaller

static inline __attribute__((always_inline)) uint64_t virtual_clock_start_s(int64_t clock)
{
    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE ||
        clock == CLOCK_REALTIME_ALARM || clock == CLOCK_TAI)
        return VIRTUAL_START_S;
    if (clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID || clock < 0)
        return 0;
    return VIRTUAL_UP_S;
}

#endif
