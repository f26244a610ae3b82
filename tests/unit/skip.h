// SPDX-License-Identifier: GPL-3.0-or-later
// What cannot be tried on this machine: scripts/unit reads these lines. Included behind cmocka.h.
#ifndef ORDEAL_TESTS_SKIP_H
#define ORDEAL_TESTS_SKIP_H

#define skip_because(...)                                                                          \
    do {                                                                                           \
        print_message("skipped: " __VA_ARGS__);                                                    \
        print_message("\n");                                                                       \
        skip();                                                                                    \
    } while (0)

// The rest of the test goes on.
#define skip_in_part(...)                                                                          \
    do {                                                                                           \
        print_message("skipped in part: " __VA_ARGS__);                                            \
        print_message("\n");                                                                       \
    } while (0)

#endif
