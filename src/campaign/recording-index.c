// SPDX-License-Identifier: GPL-3.0-or-later
// See recording.h: whether the runs of one recording made the calls of another one.
#include "campaign/recording.h"

#include "base/cleanup.h"
#include "base/hash.h"

#include <string.h>

#define ANY_PROCESS UINT32_MAX

static uint64_t mix(uint64_t hash, const char *text)
{
    return (hash ^ hash_bytes(text, strlen(text))) * 0x9e3779b97f4a7c15ull;
}

static uint64_t key_of(const struct recorded_call *call, const struct recorded_site *site,
                       uint32_t process)
{
    uint64_t hash = mix(mix(mix(process, call->function), call->library), call->program);
    return (mix(hash, site->module) ^ site->offset) * 0x9e3779b97f4a7c15ull;
}

static struct error *put(struct map *index, uint64_t key, size_t call)
{
    return map_find(index, key) == MAP_NONE ? map_put(index, key, (uint32_t)call) : NULL;
}

// A process may go by its number in one recording, and by its program in the other.
struct error *recording_index(const struct recording *recording, struct map *index)
{
    for (size_t i = 0; i < recording->calls.count; i++) {
        const struct recorded_call *call = &recording->calls.items[i];
        const struct recorded_site *site = &recording->sites.items[call->site];
        if (!call->everywhere)
            continue;
        TRY(put(index, key_of(call, site, call->process), i));
        if (call->process != 0)
            TRY(put(index, key_of(call, site, ANY_PROCESS), i));
    }
    return NULL;
}

bool recording_had(const struct recording *recording, const struct map *index,
                   const struct recorded_call *call, const struct recorded_site *site)
{
    uint32_t found = map_find(index, key_of(call, site, call->process));
    if (found == MAP_NONE)
        found = map_find(index, key_of(call, site, call->process != 0 ? 0 : ANY_PROCESS));
    return found != MAP_NONE && recording->calls.items[found].from <= call->first &&
           call->first <= recording->calls.items[found].last;
}
