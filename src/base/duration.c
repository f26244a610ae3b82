// SPDX-License-Identifier: GPL-3.0-or-later
// See duration.h.
#include "base/duration.h"

#define US_NS     1000u
#define MS_NS     1000000u
#define SECOND_NS 1000000000u
#define MINUTE_NS (60ull * SECOND_NS)

#define COARSE_NS (10ull * SECOND_NS) // milliseconds say nothing from here on

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
    } units[] = {{"ms", MS_NS, 500}, {"s", SECOND_NS, 50}, {"m", MINUTE_NS, UINT64_MAX}};
    size_t i = 0;
    while (ns / units[i].ns >= units[i].most)
        i++;
    uint64_t number = ns / units[i].ns + (ns % units[i].ns != 0);
    return buffer_printf(text, "%llu%s", (unsigned long long)round_up(number), units[i].name);
}

struct error *duration_put_patience(struct buffer *text, uint64_t ns)
{
    if (ns >= COARSE_NS || (ns >= SECOND_NS && ns % SECOND_NS < MS_NS))
        return buffer_printf(text, "%llu", (unsigned long long)(ns / SECOND_NS));
    if (ns >= MS_NS)
        return buffer_printf(text, "%llums", (unsigned long long)(ns / MS_NS));
    return buffer_printf(text, "%lluus", (unsigned long long)(ns >= US_NS ? ns / US_NS : 1));
}
