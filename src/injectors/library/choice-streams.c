// SPDX-License-Identifier: GPL-3.0-or-later
// Chooses faults of buffered streams. A printf() into a buffer with room cannot fail, so its calls
// get no faults of their own: what fails is the write below the stream, at the moments at which the
// reference runs made it. A stream is known by where it was opened.
#include "injectors/library/choosing.h"

#include "base/cleanup.h"
#include "wire/region.h"

#include <string.h>

#define STANDARD_ERROR 2u // the descriptor

static bool is_standard(const struct recorded_site *site)
{
    return site->module[0] == '\0' && site->offset <= STANDARD_ERROR;
}

static uint64_t key_of(const struct recorded_call *call)
{
    return hash_mix(call->stream, hash_text(call->program));
}

// A message that cannot be shown is not the program's fault. A pipe or a terminal is never full.
static bool can_fail(const struct choosing *choosing, const struct recorded_call *call,
                     const struct recorded_site *site)
{
    if (choosing->options->paranoid)
        return true;
    if (is_standard(site) && site->offset == STANDARD_ERROR)
        return false;
    return (call->kinds >> WIRE_FD_FILE & 1) != 0;
}

// Nobody opens a standard stream: it belongs to the program.
static bool is_wanted(const struct choosing *choosing, const struct recorded_call *call,
                      const struct recorded_site *site)
{
    const struct choice_options *options = choosing->options;
    return is_standard(site) ? choice_is_wanted_function(options, call->function) &&
                                   choice_is_wanted_module(options, call->program)
                             : choice_is_wanted(options, call, site);
}

static struct error *put(struct choosing *choosing, const struct recorded_call *call,
                         uint64_t occurrence, bool lasting, uint8_t round, enum stage stage,
                         const char *action)
{
    struct chosen chosen = {.recording = choosing->recording,
                            .call = (uint32_t)(call - choosing->recording->calls.items),
                            .stage = (uint8_t)stage,
                            .class = STAGE_UNCHECKED,
                            .round = round,
                            .need = REALISM_STREAM,
                            .lasting = lasting,
                            .occurrence = occurrence,
                            .outside_project = choosing_is_outside(choosing, call)};
    strcpy(chosen.action, action);
    struct chosen *added = ARRAY_ADD(&choosing->items);
    if (added == NULL)
        return error_no_memory();
    *added = chosen;
    return NULL;
}

#define FULL   "0/ENOSPC"
#define BROKEN "0/EIO"

// The disk is full from the first write on; it is full at the last one, which fclose() or exit()
// makes; one write fails and later ones do not, so that a piece is missing in the middle. A disk
// that is broken is another error, which some programs treat in another way.
struct error *choosing_put_stream_write(struct choosing *choosing, const struct recorded_call *call)
{
    const struct recorded_site *site = &choosing->recording->sites.items[call->site];
    bool fresh, first;
    if (choosing->recording != &choosing->plan->recording || !call->in_all_runs ||
        !is_wanted(choosing, call, site) || !can_fail(choosing, call, site))
        return NULL;
    TRY(map_add(&choosing->streams, hash_mix(key_of(call), call->stack), &fresh));
    if (!fresh)
        return NULL;
    TRY(map_add(&choosing->streams, key_of(call), &first));
    if (!first) // opened at the same place by way of other functions
        return put(choosing, call, call->first, call->latest != call->first, 0, STAGE_STACK, FULL);
    if (call->latest == call->first) {
        TRY(map_add(&choosing->short_streams, key_of(call), NULL));
        TRY(put(choosing, call, call->first, false, 0, STAGE_UNCHECKED, FULL));
        return put(choosing, call, call->first, false, 3, STAGE_UNCHECKED, BROKEN);
    }
    TRY(put(choosing, call, call->first, true, 0, STAGE_UNCHECKED, FULL));
    if (call->latest != 0)
        TRY(put(choosing, call, call->latest, false, 1, STAGE_UNCHECKED, FULL));
    TRY(put(choosing, call, call->first, false, 2, STAGE_UNCHECKED, FULL));
    return put(choosing, call, call->first, false, 3, STAGE_UNCHECKED, BROKEN);
}

bool choosing_calls_fail(const struct choosing *choosing)
{
    return choosing->options->paranoid ||
           !choice_is_wanted_function(choosing->options, REALISM_STREAM_WRITE);
}

// With more output, the buffer of a stream that is written only when it is closed would have been
// written before, by whichever call filled it. One call stands for all.
struct error *choosing_is_first_of_stream(struct choosing *choosing,
                                          const struct recorded_call *call, bool *ret_first)
{
    *ret_first = false;
    if (call->stream == 0 || !map_has(&choosing->short_streams, key_of(call)))
        return NULL;
    return map_add(&choosing->streams, ~key_of(call), ret_first);
}
