// SPDX-License-Identifier: GPL-3.0-or-later
// A queue of the trials that have begun. What stands at its head and has ended is settled.
#include "campaign/trial-order.h"

#include <string.h>

struct trial_turn {
    bool ended, held;
    struct trial_job job;
    struct engine_result result;
};

static void drop(struct trial_turn *turn)
{
    if (turn->held) {
        trial_job_deinit(&turn->job);
        engine_result_deinit(&turn->result);
    }
    turn->held = false;
}

void trial_order_deinit(struct trial_order *order)
{
    for (size_t i = order->settled; i < order->turns.count; i++)
        drop(&order->turns.items[i]);
    ARRAY_DEINIT(&order->turns);
    *order = (struct trial_order){0};
}

// Gives up the room of what is settled, now and then.
static void forget_settled(struct trial_order *order)
{
    size_t left = order->turns.count - order->settled;
    if (order->settled < 64 || order->settled < left)
        return;
    memmove(order->turns.items, order->turns.items + order->settled,
            left * sizeof *order->turns.items);
    order->first += order->settled;
    order->turns.count = left;
    order->settled = 0;
}

struct error *trial_order_begin(struct trial_order *order, uint64_t *ret_turn)
{
    struct trial_turn *turn = ARRAY_ADD(&order->turns);
    if (turn == NULL)
        return error_no_memory();
    *turn = (struct trial_turn){0};
    *ret_turn = order->first + order->turns.count;
    return NULL;
}

// A trial whose worker died is run again after all others. It does not keep back everything.
#define HELD_MOST 1000

static struct error *settle(struct trial_order *order, bool all, schedule_keep keep, void *data)
{
    struct error *error = NULL;
    while (error == NULL && order->settled < order->turns.count) {
        struct trial_turn *turn = &order->turns.items[order->settled];
        if (!turn->ended && !all && order->held < HELD_MOST)
            break;
        if (turn->held) {
            error = keep(data, &turn->job, NULL, &turn->result);
            order->held--;
        }
        drop(turn);
        order->settled++;
    }
    forget_settled(order);
    return error;
}

struct error *trial_order_end(struct trial_order *order, uint64_t turn, bool hold,
                              struct trial_job *job, struct engine_result *result,
                              schedule_keep keep, void *data)
{
    if (turn <= order->first + order->settled) // the others did not wait for it
        return hold ? keep(data, job, NULL, result) : NULL;
    struct trial_turn *entry = &order->turns.items[turn - order->first - 1];
    entry->ended = true;
    if (hold) {
        entry->held = true;
        entry->job = *job;
        entry->result = *result;
        *job = (struct trial_job){0};
        *result = (struct engine_result){0};
        order->held++;
    }
    return settle(order, false, keep, data);
}

struct error *trial_order_flush(struct trial_order *order, schedule_keep keep, void *data)
{
    return settle(order, true, keep, data);
}
