// SPDX-License-Identifier: GPL-3.0-or-later
// The hash, eight bytes at a time.
#include "observe/contents.h"

#define PRIME 0x1fffffffffffffffull // 2^61 - 1
#define BASE  0x0b5ad4eceda1ce2aull // any number below it
#define SCALE 0x17d4a29c3b5f6e81ull // likewise; so that few bytes do not stand there as they are
#define STEP  8

static uint64_t reduce(unsigned __int128 value)
{
    value = (value & PRIME) + (value >> 61);
    uint64_t rest = (uint64_t)(value & PRIME) + (uint64_t)(value >> 61);
    return rest >= PRIME ? rest - PRIME : rest;
}

static uint64_t multiply(uint64_t a, uint64_t b)
{
    return reduce((unsigned __int128)a * b);
}

// SCALE, SCALE * BASE, SCALE * BASE^2 ...
static const uint64_t *weights(void)
{
    static uint64_t list[STEP];
    for (size_t i = STEP; list[0] == 0 && i > 0; i--) {
        uint64_t weight = SCALE;
        for (size_t j = 1; j < i; j++)
            weight = multiply(weight, BASE);
        list[i - 1] = weight;
    }
    return list;
}

// A byte counts as one more than it is, so that zeros at the beginning count, too.
void contents_add(struct contents *contents, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    const uint64_t *weight = weights();
    const uint64_t shift = multiply(multiply(multiply(BASE, BASE), multiply(BASE, BASE)),
                                    multiply(multiply(BASE, BASE), multiply(BASE, BASE)));
    uint64_t hash = contents->hash;
    size_t done = 0;
    for (; size - done >= STEP; done += STEP) {
        unsigned __int128 sum = (unsigned __int128)hash * shift;
        for (size_t i = 0; i < STEP; i++)
            sum += (unsigned __int128)weight[STEP - 1 - i] * (bytes[done + i] + 1u);
        hash = reduce(sum);
    }
    for (; done < size; done++)
        hash =
            reduce((unsigned __int128)hash * BASE + (unsigned __int128)SCALE * (bytes[done] + 1u));
    contents->hash = hash;
    contents->size += size;
}

void contents_append(struct contents *contents, const struct contents *next)
{
    uint64_t power = 1, square = BASE;
    for (uint64_t left = next->size; left != 0; left >>= 1) {
        if ((left & 1) != 0)
            power = multiply(power, square);
        square = multiply(square, square);
    }
    contents->hash = reduce((unsigned __int128)contents->hash * power + next->hash);
    contents->size += next->size;
}
