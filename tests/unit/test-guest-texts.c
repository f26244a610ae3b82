// SPDX-License-Identifier: GPL-3.0-or-later
// What guests and QEMU say: consoles of real kernels, events of the monitor, packets of the stub,
// systems' files with mistakes, reports that are written and read.
#include "base/array.h"
#include "guest/console.h"
#include "guest/gdb.h"
#include "guest/qmp.h"
#include "guest/report.h"
#include "guest/system.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static struct console console_of(const char *text)
{
    struct console console = {.ready = "login: "};
    assert_null(console_take(&console, text, strlen(text)));
    return console;
}

static void oopses_have_stacks(void **state)
{
    struct console console =
        console_of("[    1.5] BUG: kernel NULL pointer dereference, address: 0000000000000050\r\n"
                   "[    1.5] #PF: supervisor read access in kernel mode\r\n"
                   "[    1.5] RIP: 0010:do_syscall_64+0x36/0x52\r\n"
                   "[    1.5] Code: 00 11\r\n"
                   "[    1.5] Call Trace:\r\n"
                   "[    1.5]  <TASK>\r\n"
                   "[    1.5]  entry_SYSCALL_64_after_hwframe+0x64/0xce\r\n"
                   "[    1.5]  ? maybe+0x1/0x2\r\n");
    assert_int_equal(console.trouble, CONSOLE_OOPS);
    assert_string_equal(console.what,
                        "BUG: kernel NULL pointer dereference, address: 0000000000000050");
    assert_string_equal(console.stack.data,
                        "do_syscall_64+0x36/0x52\nentry_SYSCALL_64_after_hwframe+0x64/0xce\n");
    assert_false(console.is_ready);
    console_deinit(&console);
}

static void a_panic_is_worse_than_an_oops(void **state)
{
    struct console console = console_of("Oops: 0000 [#1]\n"
                                        "Kernel panic - not syncing: Fatal exception\n");
    assert_int_equal(console.trouble, CONSOLE_PANIC);
    assert_string_equal(console.what, "Oops: 0000 [#1]");
    console_deinit(&console);
}

static void a_prompt_needs_no_newline(void **state)
{
    struct console console = console_of("Debian\nguest login: ");
    assert_true(console.is_ready);
    assert_int_equal(console.trouble, CONSOLE_WELL);
    console_deinit(&console);
}

static void floods_keep_the_end(void **state)
{
    struct console console = {0};
    struct buffer text = {0};
    for (int i = 0; i < 1000; i++) {
        char line[2000];
        memset(line, 'x', sizeof line);
        int size = snprintf(line, sizeof line, "line %d", i);
        line[size] = 'x';
        line[sizeof line - 1] = '\n';
        assert_null(console_take(&console, line, sizeof line));
    }
    assert_null(console_take(&console, "\x1b[31mred\x1b[0m\a rest", 18));
    assert_null(console_put_last(&console, 2, &text));
    assert_int_equal(strncmp(text.data, "line 998x", 9), 0);
    buffer_deinit(&text);
    assert_null(console_put_last(&console, 60, &text));
    assert_non_null(strstr(text.data, "\nred rest\n"));
    buffer_deinit(&text);
    console_deinit(&console);
}

static void events_come_between_answers(void **state)
{
    static const char text[] =
        "{\"QMP\": {\"version\": {}}}\r\n"
        "{\"event\": \"SHUTDOWN\", \"data\": {\"guest\": true, \"reason\": \"guest-reset\"}}\r\n"
        "{\"event\": \"MIGRATION\", \"data\": {\"status\": \"completed\"}}\r\n"
        "not json at all\n[1, 2]\n"
        "{\"return\": {}}\r\n"
        "{\"error\": {\"class\": \"GenericError\", \"desc\": \"no such thing\"}}\r\n"
        "{\"event\": \"GUEST_PANICKED\", \"da";
    struct guest_qmp qmp = {.link = {.socket = -1, .name = "test"}};
    assert_null(buffer_append(&qmp.link.in, text, sizeof text - 1));
    assert_null(guest_qmp_take(&qmp));
    assert_int_equal(qmp.answers, 2);
    assert_string_equal(qmp.answer_error, "no such thing");
    assert_true(qmp.events.shutdown && qmp.events.by_guest);
    assert_string_equal(qmp.events.reason, "guest-reset");
    assert_string_equal(qmp.events.migration, "completed");
    assert_false(qmp.events.panicked); // its line is not complete
    guest_link_close(&qmp.link);
}

static void stops_are_found_among_packets(void **state)
{
    static const char text[] = "++$OK#9a+$T05thread:01;#07$T0";
    struct guest_gdb gdb = {.link = {.socket = -1, .name = "test"}};
    bool stopped;
    assert_null(buffer_append(&gdb.link.in, text, sizeof text - 1));
    assert_null(guest_gdb_take_stop(&gdb, &stopped));
    assert_true(stopped);
    assert_string_equal(gdb.thread, "01");
    assert_int_equal(gdb.link.in.size, 3); // what is not complete
    guest_link_close(&gdb.link);
}

static void reports_survive_a_file(void **state)
{
    char reason[] = "a \"quoted\" reason", console[] = "one\ntwo\n", stack[] = "f+0x1/0x2\n";
    struct guest_report report = {.end = GUEST_CRASHED,
                                  .crash = GUEST_TRIPLE_FAULT,
                                  .phase = GUEST_WORKLOAD,
                                  .reason = reason,
                                  .console = console,
                                  .stack = stack,
                                  .activations = 7,
                                  .more = true,
                                  .activated_in = GUEST_PRETEST,
                                  .activated_ns = 12345,
                                  .status = -1,
                                  .phase_ns = {1, 2, 3},
                                  .accelerator = "kvm",
                                  .snapshot = true};
    struct guest_report again;
    struct buffer text = {0};
    assert_null(guest_report_write(&report, &text));
    assert_null(guest_report_read(text.data, text.size, &again));
    assert_int_equal(again.end, GUEST_CRASHED);
    assert_int_equal(again.crash, GUEST_TRIPLE_FAULT);
    assert_int_equal(again.phase, GUEST_WORKLOAD);
    assert_string_equal(again.reason, reason);
    assert_string_equal(again.console, console);
    assert_string_equal(again.stack, stack);
    assert_int_equal(again.activations, 7);
    assert_true(again.more);
    assert_int_equal(again.activated_in, GUEST_PRETEST);
    assert_int_equal(again.activated_ns, 12345);
    assert_int_equal(again.status, -1);
    assert_int_equal(again.phase_ns[GUEST_WORKLOAD], 3);
    assert_string_equal(again.accelerator, "kvm");
    assert_true(again.snapshot);
    guest_report_deinit(&again);
    // A part of it is no report.
    struct error *error = guest_report_read(text.data, text.size / 2, &again);
    assert_non_null(error);
    error_free(error);
    buffer_deinit(&text);
}

// Writes a system's file and expects this part of the error, or NULL for none.
static void read_system(const char *text, const char *wanted)
{
    char directory[] = "/tmp/test-guest-XXXXXX", path[64];
    struct guest_system system;
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/system.yaml", directory);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    struct error *error = guest_system_read(directory, &system);
    if (wanted == NULL)
        assert_null(error);
    else if (error == NULL || strstr(error_message(error), wanted) == NULL)
        fail_msg("expected '%s', got '%s'", wanted, error != NULL ? error_message(error) : "none");
    error_free(error);
    guest_system_deinit(&system);
    unlink(path);
    rmdir(directory);
}

static void mistakes_in_systems_are_shown(void **state)
{
    read_system("kernel: k\npretest: p\nworkload: w\n", NULL);
    read_system("kernel: k\npretest: p\nworkload: w\nport: 22\noptions: [-device, pvpanic]\n",
                NULL);
    read_system("", "'kernel: FILE' is expected here");
    read_system("- a\n", "'kernel: FILE' is expected here");
    read_system("kernel: k\npretest: p\n", "has no 'workload'");
    read_system("kernal: k\n", "did you mean 'kernel'?");
    read_system("kernel: [k]\n", "'kernel' takes one value");
    read_system("kernel: ''\n", "'kernel' needs a value");
    read_system("memory: lots\n", "'memory' takes a number from 4 to");
    read_system("memory: 99999999999999999999\n", "'memory' takes a number from 4 to");
    read_system("port: 0\n", "'port' takes a number from 1 to 65535");
    read_system("boot-seconds: -1\n", "'boot-seconds' takes a number of seconds");
    read_system("boot-seconds: nan\n", "'boot-seconds' takes a number of seconds");
    read_system("options: text\n", "'options' takes a list");
    read_system("options: [[a]]\n", "an option of QEMU is expected here");
    read_system("link: cable\n", "'link' can only be 'serial'");
    read_system("kernel: k\npretest: p\nworkload: w\nport: 22\nlink: serial\n", "has both");
    read_system("kernel: k\nkernel: k\n", "system.yaml:2:1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(oopses_have_stacks),
        cmocka_unit_test(a_panic_is_worse_than_an_oops),
        cmocka_unit_test(a_prompt_needs_no_newline),
        cmocka_unit_test(floods_keep_the_end),
        cmocka_unit_test(events_come_between_answers),
        cmocka_unit_test(stops_are_found_among_packets),
        cmocka_unit_test(reports_survive_a_file),
        cmocka_unit_test(mistakes_in_systems_are_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
