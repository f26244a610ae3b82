// SPDX-License-Identifier: GPL-3.0-or-later
// Every allocation of reading, writing, checking and choosing fails once: an error, nothing leaked,
// nothing broken. Filters are left out: regcomp() of the C library frees twice when it runs out of
// memory.
#include "failing-memory.h"
#include "trial-help.h"

#include "campaign/selection.h"
#include "definition/definition.h"

static const char text[] =
    "command: [cat, \"\\U0010FFFF\"]\n"
    "environment: {A: b, LC_ALL: C}\n"
    "setup: make\n"
    "injector: {library: {faults: ['read=-1/EIO', '*alloc=NULL'], at: site}}\n"
    "selection: {sample: 5, per: type}\n"
    "oracle: {ignore: [x, y], command: z}\n";

static struct error *read_and_write(void)
{
    _cleanup_(definition_deinit) struct definition definition = {0};
    _cleanup_(buffer_deinit) struct buffer written = {0};
    TRY(definition_new(&definition));
    TRY(definition_parse(&definition, "x", text, sizeof text - 1));
    TRY(definition_set(&definition, "injector.faults", "write=-1/EIO"));
    TRY(definition_set(&definition, "input", "file"));
    TRY(definition_write(&definition, &written));
    return definition_check(&definition);
}

// An error message needs memory, too.
static struct error *refuse(void)
{
    _cleanup_(definition_deinit) struct definition definition = {0};
    TRY(definition_new(&definition));
    struct error *error = definition_parse(&definition, "x", "oracle: {comand: 1}\n", 20);
    if (error == error_no_memory())
        return error;
    assert_non_null(error);
    error_free(error);
    return NULL;
}

static struct error *choose(void)
{
    struct candidate candidates[40];
    _cleanup_free_ bool *chosen = NULL;
    for (size_t i = 0; i < 40; i++)
        candidates[i] = (struct candidate){.type = (char *)(i % 2 == 0 ? "a" : "b"),
                                           .weight = 1 + (double)(i % 3)};
    const struct selection selection = {
        .kind = SELECT_SAMPLE, .sample = 5, .per = (char *)"type", .repeat = 1};
    return selection_choose(&selection, 1, candidates, 40, &chosen);
}

// Some failures may be handled. Each must end well or with an error.
static void fail_each(struct error *(*work)(void))
{
    must(work()); // what is made once and kept does not count
    unsigned long allocations = 0;
    unsigned errors = 0;
    for (int stays = 0; stays < 2; stays++)
        for (fail_at = 1;; fail_at++) {
            asked = 0;
            living = 0;
            persistent = stays;
            armed = true;
            struct error *error = work();
            errors += error != NULL;
            error_free(error);
            armed = false;
            allocations = asked;
            if (living > 0)
                fail_msg("%ld leaked when allocation %lu failed", living, fail_at);
            if (asked < fail_at)
                break;
        }
    assert_true(allocations > 3 && errors > 3);
}

static void reading_survives(void **state)
{
    fail_each(read_and_write);
}

static void refusing_survives(void **state)
{
    fail_each(refuse);
}

static void choosing_survives(void **state)
{
    fail_each(choose);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reading_survives),
        cmocka_unit_test(refusing_survives),
        cmocka_unit_test(choosing_survives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
