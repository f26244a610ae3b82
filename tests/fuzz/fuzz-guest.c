// SPDX-License-Identifier: GPL-3.0-or-later
// Fuzzes what a guest, or QEMU, may send: the console, the monitor's lines, the gdb stub's packets,
// and the report on a run. The first byte says which.
#include "guest/console.h"
#include "guest/gdb.h"
#include "guest/qmp.h"
#include "guest/report.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take_console(const char *text, size_t size)
{
    struct console console = {.ready = "login: "};
    struct buffer last = {0};
    if (console_take(&console, text, size) != NULL || console_put_last(&console, 30, &last) != NULL)
        abort();
    buffer_deinit(&last);
    console_deinit(&console);
}

// A link that is closed has what came before.
static struct guest_link link_of(const char *text, size_t size)
{
    struct guest_link link = {.socket = -1, .name = "fuzz"};
    if (buffer_append(&link.in, text, size) != NULL)
        abort();
    return link;
}

static void take_report(const char *text, size_t size)
{
    struct guest_report report, again;
    struct buffer written = {0};
    struct error *error = guest_report_read(text, size, &report);
    if (error != NULL) {
        error_free(error);
        return;
    }
    if (guest_report_write(&report, &written) != NULL ||
        guest_report_read(written.data, written.size, &again) != NULL || again.end != report.end)
        abort();
    buffer_deinit(&written);
    guest_report_deinit(&again);
    guest_report_deinit(&report);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const char *text = (const char *)data + 1;
    if (data[0] == 'c')
        take_console(text, size - 1);
    if (data[0] == 'r')
        take_report(text, size - 1);
    if (data[0] == 'q') {
        struct guest_qmp qmp = {.link = link_of(text, size - 1)};
        error_free(guest_qmp_take(&qmp));
        guest_link_close(&qmp.link);
    }
    if (data[0] == 'g') {
        struct guest_gdb gdb = {.link = link_of(text, size - 1)};
        bool stopped;
        error_free(guest_gdb_take_stop(&gdb, &stopped));
        guest_link_close(&gdb.link);
    }
    return 0;
}
