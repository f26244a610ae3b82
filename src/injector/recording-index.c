// SPDX-License-Identifier: GPL-3.0-or-later
// Tells whether all runs of one recording made a call of another one.
#include "injector/recording.h"

#include "base/cleanup.h"
#include "base/hash.h"

static uint64_t key_of(const struct recorded_call *call, const struct recorded_site *site)
{
    uint64_t hash = hash_mix(call->process, hash_text(call->function));
    hash = hash_mix(hash_mix(hash, hash_text(call->library)), hash_text(call->program));
    return hash_mix(hash_mix(hash, hash_text(site->module)), site->offset);
}

struct error *recording_index(const struct recording *recording, struct map *index)
{
    for (size_t i = 0; i < recording->calls.count; i++) {
        const struct recorded_call *call = &recording->calls.items[i];
        uint64_t key = key_of(call, &recording->sites.items[call->site]);
        if (call->in_all_runs && !map_has(index, key))
            TRY(map_put(index, key, (uint32_t)i));
    }
    return NULL;
}

bool recording_has_call(const struct recording *recording, const struct map *index,
                        const struct recorded_call *call, const struct recorded_site *site)
{
    uint32_t found = map_find(index, key_of(call, site));
    return found != MAP_NONE && recording->calls.items[found].from <= call->first &&
           call->first <= recording->calls.items[found].last;
}
