// SPDX-License-Identifier: GPL-3.0-or-later
// The generator xoshiro256** of Blackman and Vigna, with its state filled by splitmix64 as they
// advise. It is small, fast and fully defined here, so a campaign can be repeated on any machine.
#include "stats/stats.h"

static uint64_t rotate(uint64_t word, unsigned bits)
{
    return word << bits | word >> (64 - bits);
}

static uint64_t split_mix(uint64_t *state)
{
    uint64_t word = *state += 0x9e3779b97f4a7c15;
    word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9;
    word = (word ^ word >> 27) * 0x94d049bb133111eb;
    return word ^ word >> 31;
}

// Seed and stream are mixed separately before they are combined, so neighbouring values have
// nothing in common. Every step is reversible, so two streams of one seed never start alike.
struct stats_random stats_random_start(uint64_t seed, uint64_t stream)
{
    uint64_t state = split_mix(&seed) ^ rotate(split_mix(&stream), 32);
    struct stats_random random;
    for (unsigned i = 0; i < 4; i++)
        random.state[i] = split_mix(&state);
    return random;
}

uint64_t stats_random_next(struct stats_random *random)
{
    uint64_t *state = random->state;
    uint64_t result = rotate(state[1] * 5, 7) * 9;
    uint64_t shifted = state[1] << 17;
    state[2] ^= state[0];
    state[3] ^= state[1];
    state[1] ^= state[2];
    state[0] ^= state[3];
    state[2] ^= shifted;
    state[3] = rotate(state[3], 45);
    return result;
}

// Lemire's method: the high half of a product is uniform, once the few low halves that would favour
// some results are rejected.
uint64_t stats_random_below(struct stats_random *random, uint64_t bound)
{
    if (bound == 0)
        return 0;
    uint64_t unfair = -bound % bound;
    unsigned __int128 product;
    do
        product = (unsigned __int128)stats_random_next(random) * bound;
    while ((uint64_t)product < unfair);
    return (uint64_t)(product >> 64);
}

double stats_random_unit(struct stats_random *random)
{
    return (double)(stats_random_next(random) >> 11) * 0x1p-53;
}
