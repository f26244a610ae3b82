// SPDX-License-Identifier: GPL-3.0-or-later
// Times are nanoseconds in a uint64_t, and their names end in _ns. A point in time is read from
// CLOCK_MONOTONIC, which is never set back. Seconds in a double are for statistics and for people.
#ifndef ORDEAL_BASE_CLOCK_H
#define ORDEAL_BASE_CLOCK_H

#include <limits.h>
#include <stdint.h>
#include <time.h>

#define NS_PER_US 1000ull
#define NS_PER_MS (1000 * NS_PER_US)
#define NS_PER_S  (1000 * NS_PER_MS)

static inline uint64_t clock_of(const struct timespec *time)
{
    return (uint64_t)time->tv_sec * NS_PER_S + (uint64_t)time->tv_nsec;
}

static inline struct timespec clock_timespec(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S)};
}

static inline uint64_t clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return clock_of(&now);
}

// Sleeps that long, or less if a signal arrives.
static inline void clock_sleep(uint64_t ns)
{
    const struct timespec time = clock_timespec(ns);
    nanosleep(&time, NULL);
}

// Milliseconds for poll(), rounded up. More than about 24 days become 24 days.
static inline int clock_poll_ms(uint64_t ns)
{
    uint64_t ms = ns / NS_PER_MS + (ns % NS_PER_MS != 0);
    return ms < INT_MAX ? (int)ms : INT_MAX;
}

static inline double clock_seconds(uint64_t ns)
{
    return (double)ns / (double)NS_PER_S;
}

#endif
