// SPDX-License-Identifier: GPL-3.0-or-later
// Upsets drawn uniformly over the processor time of the runs, and the bits of general registers and
// condition flags: whatever the program executes then, its libraries too, in any number of threads.
// Nothing tells whether one is ever read, so all that are injected count.
#include "injectors/state/internal.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "injector/inputs.h"
#include "stats/stats.h"

#include <inttypes.h>
#include <string.h>

static uint64_t total_ns(const struct upsets *self)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < self->inputs; i++)
        total += self->used_ns[i];
    return total;
}

static struct error *add_moment(const struct upsets *self, struct state_fault *fault, unsigned bit,
                                candidate_add *add, void *add_data)
{
    _cleanup_(buffer_deinit) struct buffer spec = {0}, type = {0}, change = {0};
    struct candidate candidate = {.weight = 1, .position = fault->moment_ns};
    fault->place = STATE_AT_MOMENT;
    fault->count = 1;
    bool general = bit < UPSET_GENERAL_BITS;
    fault->reg = general ? state_register_general(bit / 64) : state_register_flags();
    bit = general ? bit % 64 : upset_flags[bit - UPSET_GENERAL_BITS];
    fault->bits[bit / 8] = (unsigned char)(1u << bit % 8);
    TRY(state_fault_format(fault, &spec));
    TRY(state_fault_format_target(fault, &type));
    TRY(state_fault_format_change(fault, &change));
    candidate.spec = TAKE(spec.data);
    candidate.type = TAKE(type.data);
    candidate.component = TAKE(change.data);
    candidate.series = strdup("moment");
    candidate.module = strdup(self->program.path);
    struct error *error = candidate.series != NULL && candidate.module != NULL
                              ? add(add_data, &candidate)
                              : error_no_memory();
    candidate_deinit(&candidate);
    return error;
}

struct error *upsets_draw_moments(struct upsets *self, candidate_add *add, void *add_data)
{
    struct stats_random random = stats_random_start(self->setup.seed, UPSET_STREAM);
    uint64_t total = total_ns(self);
    if (total == 0)
        return error_new("the reference runs use no processor time");
    for (uint64_t i = 0; i < self->moments; i++) {
        struct state_fault fault = {0};
        uint64_t moment = stats_random_below(&random, total), input = 0;
        for (; moment >= self->used_ns[input]; input++)
            moment -= self->used_ns[input];
        fault.moment_ns = moment + 1;
        fault.input = inputs_count(self->setup.inputs) != 0 ? (unsigned)input + 1 : 0;
        TRY(add_moment(self, &fault, (unsigned)stats_random_below(&random, UPSET_BITS), add,
                       add_data));
    }
    return NULL;
}

struct error *upsets_remark_moments(const struct upsets *self, remark_add *add, void *add_data)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(buffer_printf(&text,
                      "%" PRIu64 " upsets were drawn over %.6f s of processor time and %d bits; "
                      "each is tried",
                      self->moments, clock_seconds(total_ns(self)), UPSET_BITS));
    return add(add_data, &(struct store_remark){.kind = REMARK_NOTE, .text = text.data});
}
