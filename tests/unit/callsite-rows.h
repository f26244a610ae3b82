// SPDX-License-Identifier: GPL-3.0-or-later
// What tests share that compile a source in many ways and know the sites of its functions.
#ifndef ORDEAL_TESTS_CALLSITE_ROWS_H
#define ORDEAL_TESTS_CALLSITE_ROWS_H

#include "callsite-help.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct row {
    const char *function, *callee;
    enum site_class class;
    int use;   // enum site_use, or -1 if compilers differ
    int check; // enum site_check, or -1
};
#define CHECKED(function, callee)                                                                  \
    {                                                                                              \
        function, callee, SITE_CHECKED, -1, SITE_CHECK_BEFORE                                      \
    }

static bool is_named(const struct looking *looking, uint32_t function, const char *name)
{
    const struct flow_function *item = &looking->image->functions.items[function];
    return item->name != NULL && item->name_size == strlen(name) &&
           memcmp(item->name, name, item->name_size) == 0;
}

static const struct site *find(const struct looking *looking, const char *function,
                               const char *callee)
{
    for (size_t i = 0; i < looking->sites.items.count; i++) {
        const struct site *site = &looking->sites.items.items[i];
        if (is_named(looking, site->function, function) &&
            strcmp(looking->sites.callees.items[site->callee].name, callee) == 0)
            return site;
    }
    return NULL;
}

static unsigned check_row(const struct looking *looking, const char *compiler,
                          const struct row *row)
{
    const struct site *site = find(looking, row->function, row->callee);
    if (site == NULL) {
        print_message("%s: no site in %s\n", compiler, row->function);
        return 1;
    }
    if (site->class == row->class && (row->use < 0 || site->use == row->use) &&
        (row->check < 0 || site->check == row->check))
        return 0;
    print_message("%s: %s of %s at %llx is %s, %s, check %u; not %s, use %d, check %d\n", compiler,
                  row->callee, row->function, (unsigned long long)site->address,
                  site_class_name(site->class), site_use_name(site->use), site->check,
                  site_class_name(row->class), row->use, row->check);
    return 1;
}

static void compile_and_look(const char *source, const char *compiler, const char *directory,
                             struct looking *ret_looking)
{
    char command[1024], path[512];
    snprintf(path, sizeof path, "%s/idioms", directory);
    snprintf(command, sizeof command,
             "%s -w -fno-delete-null-pointer-checks -o %s %s/tests/unit/%s", compiler, path,
             getenv("ORDEAL_SOURCE_ROOT"), source);
    assert_int_equal(system(command), 0);
    look(path, ret_looking);
    unlink(path);
}

// Calls `check` with every compiler and its options; it returns the number of wrong rows.
static void check_with_compilers(unsigned (*check)(const char *compiler, const char *directory))
{
    static const char *const compilers[] = {"gcc -O0",
                                            "gcc -O1",
                                            "gcc -O2",
                                            "gcc -O3",
                                            "gcc -Os",
                                            "clang -O0",
                                            "clang -O1",
                                            "clang -O2",
                                            "clang -O3",
                                            "clang -Os",
                                            "gcc -O2 -no-pie",
                                            "gcc -O0 -no-pie -fno-pie",
                                            "clang -O2 -no-pie -fno-pie",
                                            "gcc -O2 -fno-plt",
                                            "clang -O1 -fno-plt",
                                            "gcc -O2 -fstack-protector-all",
                                            "clang -O2 -fstack-protector-all"};
    char directory[] = "/tmp/ordeal-unit.XXXXXX";
    unsigned wrong = 0;
    assert_non_null(mkdtemp(directory));
    for (size_t i = 0; i < sizeof compilers / sizeof *compilers; i++)
        wrong += check(compilers[i], directory);
    rmdir(directory);
    assert_int_equal(wrong, 0);
}

#endif
