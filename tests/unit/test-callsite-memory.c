// SPDX-License-Identifier: GPL-3.0-or-later
// Every allocation of looking for call sites fails once: an error, nothing leaked, nothing said
// that was not worked out.
#include "failing-memory.h"

#include "callsite-help.h"
#include "isa/need.h"
#include "skip.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void test_memory(void **state)
{
    char directory[] = "/tmp/ordeal-unit.XXXXXX", library[512], command[1200];
    if (getenv("ORDEAL_SOURCE_ROOT") == NULL)
        skip_because("ORDEAL_SOURCE_ROOT is not set; scripts/unit sets it");
    assert_non_null(mkdtemp(directory));
    snprintf(library, sizeof library, "%s/lib.so", directory);
    snprintf(command, sizeof command,
             "gcc -nostdlib -shared -o %s %s/tests/golden/callsite/snippets.s", library,
             getenv("ORDEAL_SOURCE_ROOT"));
    assert_int_equal(system(command), 0);
    struct looking looking;
    look(library, &looking);
    const struct sites_context world = {.failures = failures, .data = looking.image};
    struct error *error = NULL;
    unsigned long failed = 0;
    do {
        struct sites sites = {0};
        asked = 0;
        fail_at = ++failed;
        living = 0;
        armed = true;
        error = sites_find(looking.image, &world, &sites);
        armed = false;
        assert_true(error == NULL || error == error_no_memory());
        for (size_t i = 0; error == NULL && i < looking.sites.items.count; i++)
            assert_int_equal(sites.items.items[i].class, looking.sites.items.items[i].class);
        armed = true;
        sites_deinit(&sites);
        armed = false;
        assert_int_equal(living, 0);
    } while (asked >= fail_at);
    assert_null(error);
    assert_true(failed > 10);
    looked(&looking);
    unlink(library);
    rmdir(directory);
}

int main(void)
{
    error_free(isa_need()); // a library that is loaded stays
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
