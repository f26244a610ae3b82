// SPDX-License-Identifier: GPL-3.0-or-later
// Sites of small pieces of code, tests/golden/callsite/*.s, beside what they are known to be:
// NAME.txt. A change of behaviour is a difference there; ORDEAL_REBASE=1 writes them anew.
#include "callsite-help.h"

#include "golden-help.h"

static const char *const checks[] = {"no check", "checked before", "checked after",
                                     "checked on some ways"};
static const char *const places[] = {"", " by errno", " in callers", " in what is called with it"};

// Addresses count from the function's start, so that linkers may put it anywhere.
static struct error *show_site(const struct looking *looking, const struct site *site,
                               struct buffer *text)
{
    const struct flow_function *function = &looking->image->functions.items[site->function];
    const struct site_callee *callee = &looking->sites.callees.items[site->callee];
    TRY(buffer_printf(text, "%.*s+%llx: %s %s", (int)function->name_size, function->name,
                      (unsigned long long)(site->address - function->start), callee->name,
                      site_class_name(site->class)));
    for (size_t i = 0; i < callee->count; i++)
        if (site->class == SITE_PARTLY && (site->unchecked >> i & 1) != 0)
            TRY(buffer_printf(text, " %lld", (long long)callee->codes[i]));
    TRY(buffer_printf(text, "; %s%s", checks[site->check], places[site->place]));
    if (site->check_address != 0)
        TRY(buffer_printf(text, " at +%llx",
                          (unsigned long long)(site->check_address - function->start)));
    TRY(buffer_printf(text, "; %s", site_use_name(site->use)));
    if (site->use_address != 0)
        TRY(buffer_printf(text, " at +%llx",
                          (unsigned long long)(site->use_address - function->start)));
    if (site->use == SITE_PASSED && flow_callee_is_import(site->passed_to))
        TRY(buffer_printf(text, " to %s as %u",
                          looking->image->imports.items[flow_callee_import(site->passed_to)].name,
                          site->argument));
    return buffer_printf(text, "%s%s\n", site->reason != NULL ? "; " : "",
                         site->reason != NULL ? site->reason : "");
}

static void check(const char *source, const char *directory)
{
    char golden[512], library[512], command[1200];
    snprintf(golden, sizeof golden, "%.*s.txt", (int)(strlen(source) - 2), source);
    snprintf(library, sizeof library, "%s/lib.so", directory);
    snprintf(command, sizeof command, "gcc -nostdlib -shared -o %s %s", library, source);
    assert_int_equal(system(command), 0);
    struct looking looking;
    struct buffer shown = {0};
    look(library, &looking);
    for (size_t i = 0; i < looking.sites.items.count; i++)
        assert_null(show_site(&looking, &looking.sites.items.items[i], &shown));
    looked(&looking);
    unlink(library);
    golden_compare(golden, &shown);
    buffer_deinit(&shown);
}

static void test_golden(void **state)
{
    golden_each("callsite", 1, check);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_golden)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
