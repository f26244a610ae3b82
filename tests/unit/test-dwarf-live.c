// SPDX-License-Identifier: GPL-3.0-or-later
// Stacks of running processes: busy, blocked, threaded, gone.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dwarf/live.h"
#include "ptrace-help.h"
#include "victim.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define SECOND 1000000000u

// Each function is entered once, so that the stack is the same at any time.
static const char source[] =
    "#include <unistd.h>\n"
    "#include <string.h>\n"
    "volatile int x;\n"
    "__attribute__((noinline)) void spin(void) {\n"
    "  for (;;) x++;\n" // 5
    "}\n"
    "__attribute__((noinline)) void block(void) {\n"
    "  char c;\n"
    "  while (read(0, &c, 1) > 0) x++;\n" // 9
    "  pause(); x++;\n"
    "}\n"
    "__attribute__((noinline)) void choose(char **v) {\n"
    "  if (strcmp(v[1], \"spin\") == 0) spin();\n" // 13
    "  block(); x++;\n"                            // 14
    "}\n"
    "int main(int c, char **v) { if (write(1, \"!\", 1) == 1) choose(v); return 0; }\n";

static pid_t start_as(const char *program, const char *how)
{
    int out[2], in[2];
    needs_ptrace();
    assert_int_equal(pipe(out), 0);
    assert_int_equal(pipe(in), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); // whatever fails here, nobody spins on
        dup2(in[0], 0);
        dup2(out[1], 1);
        execl(victim_path(program), program, how, (char *)NULL);
        _exit(127);
    }
    char byte;
    close(out[1]);
    close(in[0]);
    assert_int_equal(read(out[0], &byte, 1), 1);
    close(out[0]);
    usleep(50000); // from the write to the loop; in[1] stays open: it blocks
    return pid;
}

static pid_t start(const char *how)
{
    return start_as("live", how);
}

static void stop(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static const struct dwarf_live_frame *find(const struct dwarf_live_stack *stack, const char *symbol)
{
    for (size_t i = 0; i < stack->frames.count; i++)
        if (stack->frames.items[i].symbol != NULL &&
            strcmp(stack->frames.items[i].symbol, symbol) == 0)
            return &stack->frames.items[i];
    fail_msg("no frame %s among %zu", symbol, stack->frames.count);
    return NULL;
}

static void check(const char *how, const char *function, unsigned line, unsigned caller_line)
{
    pid_t pid = start(how);
    for (int i = 0; i < 2; i++) { // it goes on afterwards, and can be asked again
        struct dwarf_live_stack stack = {0};
        good(dwarf_live_stack(pid, pid, "", 1, 5ull * SECOND, &stack));
        const struct dwarf_live_frame *frame = find(&stack, function);
        assert_int_equal(frame->line, line);
        assert_string_equal(frame->module, victim_path("live"));
        frame = find(&stack, "choose");
        assert_int_equal(frame->line, caller_line);
        assert_true(find(&stack, "main") > frame);
        dwarf_live_stack_deinit(&stack);
        assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
    }
    stop(pid);
}

static void test_busy(void **state)
{
    check("spin", "spin", 5, 13);
}

static void test_blocked(void **state)
{
    check("block", "block", 9, 14);
}

// What differs from moment to moment is left out.
static void test_samples(void **state)
{
    victim_build(victim_compiler(), "turns",
                 "#include <unistd.h>\n"
                 "volatile int x;\n"
                 "#define BUSY(f) __attribute__((noinline)) void f(void) \\\n"
                 "  { for (int i = 0; i < 1500000; i++) x++; }\n"
                 "BUSY(ping) BUSY(pong)\n"
                 "__attribute__((noinline)) void loop(void) { for (;;) ping(), pong(), x++; }\n"
                 "int main(void) { if (write(1, \"!\", 1) == 1) loop(); return x; }\n",
                 "-g -O1 -fno-optimize-sibling-calls");
    pid_t pid = start_as("turns", "");
    struct dwarf_live_stack stack = {0};
    good(dwarf_live_stack(pid, pid, "", 30, 5ull * SECOND, &stack));
    assert_string_equal(stack.frames.items[0].symbol, "loop");
    find(&stack, "main");
    dwarf_live_stack_deinit(&stack);
    stop(pid);
}

static char state_of(pid_t pid)
{
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    assert_non_null(fgets(line, sizeof line, file));
    fclose(file);
    return strrchr(line, ')')[2];
}

// Somebody who is stopped already stays so.
static void test_stopped(void **state)
{
    pid_t pid = start("spin");
    int status;
    kill(pid, SIGSTOP);
    assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
    struct dwarf_live_stack stack = {0};
    good(dwarf_live_stack(pid, pid, "", 1, 5ull * SECOND, &stack));
    find(&stack, "spin");
    dwarf_live_stack_deinit(&stack);
    for (int i = 0; state_of(pid) != 'T' && i < 5000; i++) // it is on its way there
        usleep(1000);
    assert_int_equal(state_of(pid), 'T');
    stop(pid);
}

static void test_root(void **state)
{
    // Here it is stripped, under the other root it is not.
    char root[128];
    snprintf(root, sizeof root, "%s/root", victim_directory);
    assert_true(victim_run("mkdir -p root%s && cp live root%s/bare && strip -o bare live",
                           victim_directory, victim_directory));
    pid_t pid = start_as("bare", "spin");
    struct dwarf_live_stack stack = {0};
    good(dwarf_live_stack(pid, pid, "", 1, 5ull * SECOND, &stack));
    assert_null(stack.frames.items[0].symbol);
    dwarf_live_stack_deinit(&stack);
    struct error *error = dwarf_live_stack(pid, pid, root, 1, 5ull * SECOND, &stack);
    good(error);
    assert_int_equal(find(&stack, "spin")->line, 5);
    dwarf_live_stack_deinit(&stack);
    stop(pid);
}

static void test_gone(void **state)
{
    pid_t pid = start("spin");
    stop(pid);
    struct dwarf_live_stack stack = {0};
    struct error *error = dwarf_live_stack(pid, pid, "", 1, SECOND, &stack);
    assert_non_null(error);
    error_free(error);
}

static int build(void **state)
{
    if (victim_setup(state) != 0)
        return -1;
    victim_build(victim_compiler(), "live", source, "-g -O1 -fno-optimize-sibling-calls");
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_busy),    cmocka_unit_test(test_blocked),
        cmocka_unit_test(test_samples), cmocka_unit_test(test_stopped),
        cmocka_unit_test(test_root),    cmocka_unit_test(test_gone),
    };
    return cmocka_run_group_tests(tests, build, victim_teardown);
}
