// SPDX-License-Identifier: GPL-3.0-or-later
// Which sockets a command is given.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trial/inherited-sockets.h"

static struct {
    struct wire_region region;
    struct wire_plan plan;
    struct wire_rule rule;
} all;

static bool is_noted(int descriptor)
{
    struct stat facts;
    assert_int_equal(fstat(descriptor, &facts), 0);
    for (uint32_t i = 0; i < all.region.inherited_socket_count && i < WIRE_INHERITED_SOCKETS; i++)
        if (all.region.inherited_sockets[i] == facts.st_ino)
            return true;
    return false;
}

static void one_under_many_numbers(void **state)
{
    int pair[2], more[WIRE_INHERITED_SOCKETS + 1];
    all.region.plan = (size_t)((char *)&all.plan - (char *)&all.region);
    all.plan.rules.offset = (uint32_t)((char *)&all.rule - (char *)&all.plan);
    all.plan.rules.count = 1;
    all.rule.error = ECONNRESET;
    inherited_sockets_note(&all.region);
    uint32_t before = all.region.inherited_socket_count; // of whoever runs the tests
    assert_true(before + 2 <= WIRE_INHERITED_SOCKETS);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    for (int i = 0; i < WIRE_INHERITED_SOCKETS + 1; i++)
        more[i] = dup(pair[0]);
    inherited_sockets_note(&all.region);
    assert_int_equal(all.region.inherited_socket_count, before + 2);
    assert_true(is_noted(pair[0]));
    assert_true(is_noted(pair[1]));
    for (int i = 0; i < WIRE_INHERITED_SOCKETS + 1; i++)
        close(more[i]);
    close(pair[0]);
    close(pair[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_under_many_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
