// SPDX-License-Identifier: GPL-3.0-or-later
// Allocations fail while reports of campaigns are written, one after the other: no report crashes,
// none leaks (the sanitizer build looks), and one that is cut short is an error.
#include "failing-memory.h"

#include "campaign-help.h"

#include "report/campaign/campaign.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#define TRIED 250

static char directory[] = "/tmp/ordeal-report-XXXXXX";
static char path[64];

// One report with allocation `at` failing; its size, or 0 if it became an error.
static size_t write_with(const struct report_format *format, struct store *store, bool compare,
                         unsigned long at)
{
    const struct report_options options = {.all = true};
    const struct report_subject subject = {.store = store, .name = "x.db"};
    struct report_sink sink = {0};
    asked = 0;
    fail_at = at;
    armed = true;
    struct error *error = compare ? format->compare(&subject, &subject, &options, &sink)
                                  : format->write(&subject, &options, &sink);
    armed = false;
    size_t size = error == NULL ? sink.text.size : 0;
    error_free(error);
    report_sink_deinit(&sink);
    return size;
}

static void try_format(const struct report_format *format, struct store *store, bool compare)
{
    size_t whole = write_with(format, store, compare, 0);
    assert_int_not_equal(whole, 0);
    unsigned long total = asked, step = total / TRIED + 1;
    for (int i = 0; i < 2; i++) {
        persistent = i == 1;
        for (unsigned long at = 1; at <= total; at += step) {
            size_t size = write_with(format, store, compare, at);
            // SQLite and the C library can do without some of what they ask for, once.
            if (size != 0 && size != whole)
                fail_msg("%s: %zu bytes instead of %zu without allocation %lu", format->name, size,
                         whole, at);
        }
    }
    persistent = false;
    assert_int_equal(write_with(format, store, compare, 0), whole);
}

static void allocations_fail(void **state)
{
    static const struct report_format *const formats[] = {&report_text,
#define FORMAT(symbol, kind, help) &report_##symbol,
                                                          REPORT_FORMATS(FORMAT)
#undef FORMAT
    };
    struct store *store;
    must_work(store_open(path, STORE_READ, &store));
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        try_format(formats[i], store, false);
        if (formats[i]->compare != NULL)
            try_format(formats[i], store, true);
    }
    store_close(store);
}

static int set_up(void **state)
{
    if (mkdtemp(directory) == NULL)
        return 1;
    snprintf(path, sizeof path, "%s/x.db", directory);
    return make_store("nasty", path, NULL);
}

static int tear_down(void **state)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf /tmp/ordeal-report-%s", strrchr(directory, '-') + 1);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(allocations_fail)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
