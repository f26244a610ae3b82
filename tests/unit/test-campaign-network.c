// SPDX-License-Identifier: GPL-3.0-or-later
// Tests which sockets count as reachable through localhost.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "campaign/preparation-network.h"

#define HEAD    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n"
#define LISTENS " 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1\n"
#define TALKS   " 0100007F:9C40 01 00000000:00000000 00:00000000 00000000     0        0 1 1\n"

static bool listened(const char *text)
{
    FILE *table = fmemopen((void *)text, strlen(text), "r");
    assert_non_null(table);
    bool found = network_is_listened(table);
    fclose(table);
    return found;
}

static void addresses(void **state)
{
    assert_false(listened(HEAD));
    assert_true(listened(HEAD "   0: 0100007F:0CEA" LISTENS));
    assert_true(listened(HEAD "   0: 3500007F:0035" LISTENS)); // 127.0.0.53
    assert_true(listened(HEAD "   0: 00000000:0016" LISTENS));
    assert_false(listened(HEAD "   0: 0100007F:0016" TALKS));
    assert_false(listened(HEAD "   0: 0502A8C0:0016" LISTENS)); // 192.168.2.5
    assert_true(listened(HEAD "   0: 0502A8C0:0016" LISTENS "   1: 00000000:0016" LISTENS));
    assert_true(listened(HEAD "   0: 00000000000000000000000000000000:0016" LISTENS));
    assert_true(listened(HEAD "   0: 00000000000000000000000001000000:0016" LISTENS));
    assert_true(listened(HEAD "   0: 0000000000000000FFFF00000100007F:0016" LISTENS));
    assert_false(listened(HEAD "   0: 0000000000000000FFFF00000502A8C0:0016" LISTENS));
    assert_false(listened(HEAD "   0: 000080FE000000000000000001000000:0016" LISTENS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
