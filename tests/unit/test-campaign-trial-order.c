// SPDX-License-Identifier: GPL-3.0-or-later
// Results come out in the order in which their trials began, whichever ends first.
#include "campaign/trial-order.h"

#include "trial-help.h"

#include <stdlib.h>

struct kept {
    uint64_t numbers[4000];
    size_t count;
};

static struct error *note(void *data, struct trial_job *job, const struct candidate *candidate,
                          struct engine_result *result)
{
    struct kept *kept = data;
    (void)candidate;
    (void)result;
    kept->numbers[kept->count++] = job->number;
    return NULL;
}

static void begin(struct trial_order *order, uint64_t turns[], size_t count)
{
    for (size_t i = 0; i < count; i++)
        must(trial_order_begin(order, &turns[i]));
}

static void end(struct trial_order *order, uint64_t turn, bool hold, struct kept *kept)
{
    struct trial_job job = {.number = turn};
    struct engine_result result = {0};
    must(trial_order_end(order, turn, hold, &job, &result, note, kept));
}

static void later_trials_wait(void **state)
{
    (void)state;
    struct trial_order order = {0};
    struct kept kept = {0};
    uint64_t turns[5];
    begin(&order, turns, 5);
    end(&order, turns[2], true, &kept);
    end(&order, turns[1], true, &kept);
    assert_int_equal(kept.count, 0);
    assert_int_equal(order.held, 2);
    end(&order, turns[0], false, &kept); // shows nothing, or was withdrawn
    assert_int_equal(kept.count, 2);
    assert_int_equal(kept.numbers[0], turns[1]);
    assert_int_equal(kept.numbers[1], turns[2]);
    end(&order, turns[4], true, &kept);
    assert_int_equal(kept.count, 2);
    must(trial_order_flush(&order, note, &kept)); // trial 4 never ends
    assert_int_equal(kept.count, 3);
    assert_int_equal(order.held, 0);
    trial_order_deinit(&order);
}

static void many_trials_keep_their_order(void **state)
{
    (void)state;
    struct trial_order order = {0};
    struct kept kept = {0};
    uint64_t turns[3000];
    for (size_t at = 0; at < 3000; at += 10) {
        begin(&order, turns + at, 10);
        for (size_t i = 10; i-- > 0;)
            end(&order, turns[at + i], i % 2 == 0, &kept);
    }
    assert_int_equal(kept.count, 1500);
    for (size_t i = 0; i < kept.count; i++)
        assert_int_equal(kept.numbers[i], turns[i * 2]);
    trial_order_deinit(&order);
}

// Its worker died, and it is run again at the end.
static void one_lost_trial_does_not_hold_all(void **state)
{
    (void)state;
    struct trial_order order = {0};
    struct kept kept = {0};
    uint64_t turns[1500];
    begin(&order, turns, 1500);
    for (size_t i = 1; i < 1500; i++)
        end(&order, turns[i], true, &kept);
    assert_true(kept.count >= 400);
    end(&order, turns[0], true, &kept);
    assert_int_equal(kept.count, 1500);
    trial_order_deinit(&order);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(later_trials_wait),
        cmocka_unit_test(many_trials_keep_their_order),
        cmocka_unit_test(one_lost_trial_does_not_hold_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
