// SPDX-License-Identifier: GPL-3.0-or-later
// The tests of a mutation score: one command, or a file with one for each test.
#ifndef ORDEAL_CLI_MUTATE_TEST_LIST_H
#define ORDEAL_CLI_MUTATE_TEST_LIST_H

#include "base/array.h"
#include "base/error.h"

struct test_list {
    ARRAY(char **) items; // commands, each ends with NULL
};
void test_list_deinit(struct test_list *list);
// Adds a copy of a command.
_must_check_ struct error *test_list_add(struct test_list *list, char *const *command);
// Adds the lines of a file, as commands of a shell. Empty lines and those that begin with # are
// left out.
_must_check_ struct error *test_list_read(const char *path, struct test_list *list);

#endif
