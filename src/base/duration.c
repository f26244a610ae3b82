// SPDX-License-Identifier: GPL-3.0-or-later
// Prints durations in the form that options take: "200ms", "5s", "10m".
#include "base/duration.h"

#include "base/clock.h"

#define COARSE_NS (10 * NS_PER_S) // from here on, whole seconds are precise enough

// 1, 2, 3, 5, 10, 20, ...
static uint64_t round_up(uint64_t number)
{
    static const unsigned steps[] = {1, 2, 3, 5};
    for (uint64_t scale = 1;; scale *= 10)
        for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
            if (steps[i] * scale >= number || scale > UINT64_MAX / 100)
                return steps[i] * scale;
}

struct error *duration_put_enough(struct buffer *text, uint64_t ns)
{
    static const struct {
        const char *name;
        uint64_t ns, most;
    } units[] = {{"ms", NS_PER_MS, 500}, {"s", NS_PER_S, 50}, {"m", 60 * NS_PER_S, UINT64_MAX}};
    size_t i = 0;
    while (ns / units[i].ns >= units[i].most)
        i++;
    uint64_t number = ns / units[i].ns + (ns % units[i].ns != 0);
    return buffer_printf(text, "%llu%s", (unsigned long long)round_up(number), units[i].name);
}

struct error *duration_put_patience(struct buffer *text, uint64_t ns)
{
    if (ns >= COARSE_NS || (ns >= NS_PER_S && ns % NS_PER_S < NS_PER_MS))
        return buffer_printf(text, "%llu", (unsigned long long)(ns / NS_PER_S));
    if (ns >= NS_PER_MS)
        return buffer_printf(text, "%llums", (unsigned long long)(ns / NS_PER_MS));
    return buffer_printf(text, "%lluus",
                         (unsigned long long)(ns >= NS_PER_US ? ns / NS_PER_US : 1));
}
