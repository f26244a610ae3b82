// SPDX-License-Identifier: GPL-3.0-or-later
// Recorded calls: complete and in the right rows, whatever processes and threads do.
#include "record-help.h"

#include <fcntl.h>

static const char *program_of(const struct calls *calls, uint32_t process)
{
    return calls->processes.items[process].program;
}

static void sites_are_told_apart(void **state)
{
    struct calls calls;
    compile(
        "#include <unistd.h>\n"
        "static void f(void) { getppid(); }\n"
        "static void g(void) { getppid(); }\n"
        "int main(void) { for (int i = 0; i < 3; i++) f(); for (int i = 0; i < 5; i++) g(); f();"
        " getuid(); return 0; }\n");
    assert_int_equal(record("get*id watch", false, &calls), 0);
    assert_int_equal(calls.processes.count, 1);
    assert_int_equal(calls.processes.items[0].number, 1);
    assert_string_equal(program_of(&calls, 0), "victim");
    assert_int_equal(calls.rows.count, 3);
    const struct calls_row *rows = calls.rows.items;
    // By occurrence; getuid's first is its own first.
    const struct calls_row *f = NULL, *g = NULL, *other = NULL;
    for (size_t i = 0; i < 3; i++) {
        const char *name = calls.functions.items[rows[i].function].name;
        if (strcmp(name, "getuid") == 0)
            other = &rows[i];
        else if (rows[i].first == 1)
            f = &rows[i];
        else
            g = &rows[i];
        assert_non_null(strstr(calls.functions.items[rows[i].function].library, "libc.so"));
        assert_string_equal(strrchr(rows[i].module, '/'), "/victim");
        assert_int_equal(rows[i].stack, 0);
    }
    assert_true(f != NULL && g != NULL && other != NULL);
    assert_int_equal(f->count, 4);
    assert_int_equal(g->count, 5);
    assert_int_equal(g->first, 4);
    assert_int_equal(other->count, 1);
    assert_int_equal(other->first, 1);
    assert_true(f->offset != g->offset && f->offset < 0x100000);
    assert_int_equal(calls.totals.count, 2);
    assert_int_equal(calls.totals.items[0].count + calls.totals.items[1].count, 10);
    assert_int_equal(calls.lost, 0);
    calls_deinit(&calls);
}

static void processes_have_their_own_rows(void **state)
{
    struct calls calls;
    compile(
        "#include <unistd.h>\n#include <stdlib.h>\n#include <sys/wait.h>\n"
        "int main(int argc, char **argv) {\n"
        "  if (argc > 1) { getppid(); getppid(); return 0; }\n"
        "  for (int i = 0; i < 3; i++) getppid();\n"
        "  if (fork() == 0) { for (int i = 0; i < 4; i++) getppid(); _exit(0); }\n"
        "  wait(NULL); getppid();\n"
        "  link(\"victim\", \"other\"); execl(\"./other\", \"other\", \"x\", NULL); return 1; }\n");
    assert_int_equal(record("getppid watch", false, &calls), 0);
    assert_int_equal(calls.processes.count, 3);
    const struct calls_process *processes = calls.processes.items;
    assert_true(processes[0].number == 1 && processes[0].image == 1);
    assert_true(processes[1].number == 1 && processes[1].image == 2);
    assert_true(processes[2].number == 2 && processes[2].image == 1);
    assert_string_equal(processes[1].program, "other");
    assert_true(processes[1].pid == processes[0].pid && processes[2].pid != processes[0].pid);
    assert_int_equal(calls.totals.count, 3);
    const struct calls_total *totals = calls.totals.items;
    assert_true(totals[0].process == 0 && totals[0].count == 4 && totals[0].first == 1);
    assert_true(totals[1].process == 1 && totals[1].count == 2 && totals[1].first == 1);
    // As conditions see it: a forked child goes on counting.
    assert_true(totals[2].process == 2 && totals[2].count == 4 && totals[2].first == 4);
    calls_deinit(&calls);
}

// Two versions of a symbol are one function, whose calls have one series of numbers.
static void versions_are_numbered_together(void **state)
{
    struct calls calls;
    compile("#include <stdlib.h>\n"
            "char *before(const char *, char *);\n"
            "__asm__(\".symver before, realpath@GLIBC_2.2.5\");\n"
            "static char path[4096];\n"
            "int main(void) { before(\"/\", path); realpath(\"/\", path); before(\"/\", path);\n"
            "  realpath(\"/\", path); return 0; }\n");
    assert_int_equal(record("realpath watch", false, &calls), 0);
    assert_int_equal(calls.totals.count, 1);
    assert_int_equal(calls.totals.items[0].count, 4);
    assert_int_equal(calls.rows.count, 4);
    bool seen[5] = {false};
    for (size_t i = 0; i < 4; i++) {
        assert_in_range(calls.rows.items[i].first, 1, 4);
        assert_false(seen[calls.rows.items[i].first]);
        seen[calls.rows.items[i].first] = true;
    }
    calls_deinit(&calls);
}

static void threads_and_signals_lose_nothing(void **state)
{
    struct calls calls;
    compile(
        "#include <pthread.h>\n#include <signal.h>\n#include <sys/time.h>\n#include <unistd.h>\n"
        "static void one(void) { getppid(); }\n"
        "static volatile long more; static void tick(int n) { (void)n; one(); "
        "__sync_fetch_and_add(&more, 1); }\n"
        "static void *run(void *x) { for (int i = 0; i < 50000; i++) one(); return x; }\n"
        "int main(void) { pthread_t t[8]; signal(SIGALRM, tick);\n"
        "  struct itimerval every = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};\n"
        "  setitimer(ITIMER_REAL, &every, 0); run(0);\n"
        "  for (int i = 0; i < 8; i++) pthread_create(&t[i], 0, run, 0);\n"
        "  for (int i = 0; i < 8; i++) pthread_join(t[i], 0);\n"
        "  setitimer(ITIMER_REAL, &never, 0);\n"
        "  long last = more; for (long i = 0; i < 1000 - last % 1000; i++) one();\n"
        "  kill(getpid(), SIGKILL); return 0; }\n");
    int status = record("getppid watch", false, &calls);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == 9);
    assert_int_equal(calls.rows.count, 1);
    assert_true(calls.rows.items[0].count >= 450000);
    assert_int_equal(calls.rows.items[0].count % 1000, 0);
    assert_int_equal(calls.rows.items[0].first, 1);
    assert_int_equal(calls.lost, 0);
    calls_deinit(&calls);
}

// What a program imports is known from the process before; its functions are made when they are
// first called, by several threads at once.
static void first_calls_of_threads_are_all_counted(void **state)
{
    struct calls calls;
    compile("#include <pthread.h>\n#include <unistd.h>\n"
            "static pthread_barrier_t barrier;\n"
            "static void *call(void *a) { pthread_barrier_wait(&barrier);"
            " for (int i = 0; i < 50; i++) { getppid(); getuid(); getgid(); } return a; }\n"
            "int main(int argc, char **argv) {\n"
            "  pthread_t threads[8];\n"
            "  if (argc < 30) { char *more[32] = {0};\n"
            "    for (int i = 0; i < argc; i++) more[i] = argv[i];\n"
            "    more[argc] = argv[0]; if (argc == 3) getgid(); execv(argv[0], more); return 1; }\n"
            "  pthread_barrier_init(&barrier, NULL, 8);\n"
            "  for (int i = 0; i < 8; i++) pthread_create(&threads[i], NULL, call, NULL);\n"
            "  for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);\n"
            "  return 0; }\n");
    assert_int_equal(record("get*id watch", false, &calls), 0);
    uint64_t uid = 0, ppid = 0, gid = 0;
    for (size_t i = 0; i < calls.rows.count; i++) {
        const char *name = calls.functions.items[calls.rows.items[i].function].name;
        uint64_t *count = strcmp(name, "getuid") == 0   ? &uid
                          : strcmp(name, "getgid") == 0 ? &gid
                                                        : &ppid;
        *count += calls.rows.items[i].count;
    }
    assert_int_equal(uid, 400);
    assert_int_equal(ppid, 400);
    assert_int_equal(gid, 401);
    assert_int_equal(calls.lost, 0);
    calls_deinit(&calls);
}

static void stacks_are_not_told_apart_everywhere(void **state)
{
    struct calls calls;
    struct scenario *scenario;
    compile("#include <unistd.h>\n"
            "static void f(void) { getppid(); }\n"
            "static void g(void) { getppid(); }\n"
            "int main(void) { f(); g(); f(); g(); g(); return 0; }\n");
    assert_int_equal(record("getppid watch", false, &calls), 0);
    assert_int_equal(calls.rows.count, 2);
    const struct calls_row f = calls.rows.items[calls.rows.items[0].count == 2 ? 0 : 1];
    must(scenario_new(&scenario));
    must(scenario_add_spec(scenario, "getppid watch"));
    must(scenario_add_stackless(scenario, f.module, f.offset));
    calls_deinit(&calls);
    assert_int_equal(record_scenario(scenario, true, &calls), 0);
    assert_int_equal(calls.rows.count, 4); // one, and as many as main() calls g() from
    for (size_t i = 0; i < calls.rows.count; i++) {
        const struct calls_row *row = &calls.rows.items[i];
        assert_int_equal(row->stack == 0, row->offset == f.offset);
        assert_int_equal(row->count, row->offset == f.offset ? 2 : 1);
    }
    calls_deinit(&calls);
}

// Calls of two functions that return to one place.
static void stacks_are_spared_by_function(void **state)
{
    struct calls calls;
    struct scenario *scenario;
    compile("#include <unistd.h>\n"
            "static unsigned f(int i) { unsigned (*volatile p)(void) = i ? (void *)getppid\n"
            "  : (void *)getuid; return p(); }\n"
            "int main(void) { f(0); f(1); f(0); f(1); return 0; }\n");
    assert_int_equal(record("getppid watch", false, &calls), 0);
    assert_int_equal(calls.rows.count, 1);
    must(scenario_new(&scenario));
    must(scenario_add_spec(scenario, "getuid watch"));
    must(scenario_add_spec(scenario, "getppid watch"));
    must(scenario_add_stackless(scenario, calls.rows.items[0].module, calls.rows.items[0].offset));
    calls_deinit(&calls);
    assert_int_equal(record_scenario(scenario, true, &calls), 0);
    assert_int_equal(calls.rows.count, 3);
    for (size_t i = 0; i < calls.rows.count; i++) {
        const char *name = calls.functions.items[calls.rows.items[i].function].name;
        assert_int_equal(calls.rows.items[i].stack == 0, strcmp(name, "getppid") == 0);
    }
    calls_deinit(&calls);
}

static void kinds_of_descriptors(void **state)
{
    struct calls calls;
    struct scenario *scenario;
    compile("#include <fcntl.h>\n#include <sys/socket.h>\n#include <unistd.h>\n"
            "static void f(int d) { close(d); }\nstatic void g(int d) { close(d); }\n"
            "static void h(int d) { close(d); }\n"
            "int main(void) {\n"
            "  int p[2], s[2]; pipe(p); socketpair(AF_UNIX, SOCK_STREAM, 0, s);\n"
            "  int directory = open(\".\", O_RDONLY), file = open(\"victim\", O_RDONLY);\n"
            "  f(p[0]); f(s[0]); g(p[1]); g(s[1]);\n"
            "  for (int i = 0; i < 5; i++) g(file);\n" // 4 times it is none any more
            "  h(directory); h(-1); return 0; }\n");
    must(scenario_new(&scenario));
    must(scenario_add_spec(scenario, "close watch"));
    scenario_watch_descriptor(scenario, 1);
    assert_int_equal(record_scenario(scenario, true, &calls), 0);
    uint32_t of_f = 0, of_g = 0, of_h = 0;
    uint64_t low = UINT64_MAX, high = 0;
    for (size_t i = 0; i < calls.rows.count; i++) {
        low = calls.rows.items[i].offset < low ? calls.rows.items[i].offset : low;
        high = calls.rows.items[i].offset > high ? calls.rows.items[i].offset : high;
    }
    for (size_t i = 0; i < calls.rows.count; i++) {
        const struct calls_row *row = &calls.rows.items[i];
        *(row->offset == low ? &of_f : row->offset == high ? &of_h : &of_g) |= row->kinds;
    }
    const uint32_t connection = 1 << WIRE_FD_SOCKET | 1 << WIRE_FD_CONNECTION;
    assert_int_equal(of_f, WIRE_KIND_LOOKED | 1 << WIRE_FD_PIPE | connection);
    assert_int_equal(of_g, WIRE_KIND_LOOKED | 1 << WIRE_FD_PIPE | connection | 1 << WIRE_FD_FILE);
    assert_int_equal(of_h, WIRE_KIND_LOOKED | 1 << WIRE_FD_DIRECTORY);
    calls_deinit(&calls);
}

static void stacks_are_told_apart(void **state)
{
    struct calls calls;
    compile("#include <unistd.h>\n"
            "static void leaf(void) { getppid(); }\n"
            "static void f(void) { leaf(); }\nstatic void g(void) { leaf(); }\n"
            "int main(void) { for (int i = 0; i < 3; i++) f(); for (int i = 0; i < 2; i++) g(); "
            "return 0; }\n");
    assert_int_equal(record("getppid watch", true, &calls), 0);
    assert_int_equal(calls.rows.count, 2);
    const struct calls_row *rows = calls.rows.items;
    assert_true(rows[0].count == 3 && rows[1].count == 2 && rows[1].first == 4);
    assert_int_equal(rows[0].offset, rows[1].offset);
    assert_true(rows[0].stack != rows[1].stack && rows[0].stack != 0);
    uint64_t first = rows[0].stack;
    calls_deinit(&calls);
    assert_int_equal(record("getppid watch", true, &calls), 0);
    assert_int_equal(calls.rows.items[0].stack, first); // the same in every run
    calls_deinit(&calls);
}

static void what_does_not_fit_is_counted(void **state)
{
    struct calls calls;
    compile("#include <unistd.h>\n"
            "static void f(int n, int bits) { if (n == 0) getppid(); else if (bits & 1) f(n - 1, "
            "bits >> 1); else f(n - 1, bits >> 1); }\n"
            "int main(void) { for (int i = 0; i < 100000; i++) f(17, i); return 0; }\n");
    assert_int_equal(record("getppid watch", true, &calls), 0);
    assert_true(calls.rows.count > WIRE_CALLS / 2 && calls.rows.count <= WIRE_CALLS);
    assert_true(calls.lost > 0);
    assert_int_equal(calls.totals.items[0].count + calls.lost, 100000);
    calls_deinit(&calls);
}

// A rule that injects goes on doing so.
static void rules_still_fire(void **state)
{
    struct calls calls;
    compile(
        "#include <unistd.h>\n"
        "int main(void) { int n = 0; for (int i = 0; i < 10; i++) n += getppid() == 77; return n;"
        " }\n");
    assert_int_equal(WEXITSTATUS(record("getppid=77 when count >= 9", false, &calls)), 2);
    assert_int_equal(calls.totals.items[0].count, 10);
    calls_deinit(&calls);
}

// A library that calls itself through its own table is no library call; one that calls another is,
// and the C library's functions are known by every name that header files give them.
static void what_leaves_a_module(void **state)
{
    struct calls calls;
    struct scenario *scenario;
    put_source("int inner(int n) { return n; }\n"
               "int outer(int n) { return inner(n) + inner(n + 1); }\n");
    assert_int_equal(system("gcc -O0 -shared -fPIC -o libown.so victim.c"), 0);
    put_source("#define _FILE_OFFSET_BITS 64\n"
               "#include <fcntl.h>\n#include <string.h>\n#include <unistd.h>\n"
               "int inner(int), outer(int);\n"
               "int main(int argc, char **argv) {\n"
               "  volatile int size = strlen(argv[0]); open(\"victim\", O_RDONLY); getppid();\n"
               "  return outer(1) + inner(2) - 5 + 0 * size; }\n");
    assert_int_equal(system("gcc -O0 -fno-builtin -o victim victim.c -L. -lown -Wl,-rpath,."), 0);
    must(scenario_new(&scenario));
    must(scenario_add_watch(scenario, "open watch", SCENARIO_WATCH_VARIANTS));
    must(scenario_add_watch(scenario, "* watch", SCENARIO_WATCH_OUTSIDE));
    assert_int_equal(record_scenario(scenario, false, &calls), 0);
    assert_int_equal(calls_of(&calls, "outer"), 1);
    assert_int_equal(calls_of(&calls, "inner"), 1);
    assert_int_equal(calls_of(&calls, "open64"), 1);
    assert_int_equal(calls_of(&calls, "strlen"), 0);
    assert_int_equal(calls_of(&calls, "getppid"), 0);
    assert_int_equal(calls.functions.count, 3);
    calls_deinit(&calls);
}

// More sites than the first tables have room for, in parent and child.
static void tables_grow(void **state)
{
    struct calls calls;
    compile(
        "#include <unistd.h>\n#include <sys/wait.h>\n"
        "#define A getppid();\n#define B A A A A A A A A A A\n#define C B B B B B B B B B B\n"
        "static void all(void) { C C C C C C }\n"
        "int main(void) { all(); all(); if (fork() == 0) { all(); _exit(0); } wait(NULL); all();"
        " return 0; }\n");
    assert_int_equal(record("getppid watch", false, &calls), 0);
    assert_int_equal(calls.lost, 0);
    assert_int_equal(calls.rows.count, 1200);
    for (size_t i = 0; i < calls.rows.count; i++)
        assert_int_equal(calls.rows.items[i].count, calls.rows.items[i].process == 0 ? 3 : 1);
    calls_deinit(&calls);
}

static void nonsense_is_left_out(void **state)
{
    struct wire_calls *table = calloc(1, sizeof *table);
    struct wire_module *modules = calloc(WIRE_MODULES, sizeof *modules);
    assert_true(table != NULL && modules != NULL);
    struct wire_view view = {.calls = table, .modules = modules};
    struct calls calls;
    uint64_t random = 1;
    for (int round = 0; round < 20; round++) {
        unsigned char *bytes = (unsigned char *)table;
        for (size_t i = 0; i < sizeof *table; i += 1 + random % 7) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            bytes[i] = (unsigned char)(random >> 61);
        }
        memset(modules[round].path, 'x', sizeof modules[round].path); // no end
        modules[round].state = WIRE_MODULE_REGISTERED;
        must(calls_read(&view, &calls));
        for (size_t i = 0; i < calls.rows.count; i++) {
            assert_true(calls.rows.items[i].process < calls.processes.count);
            assert_true(calls.rows.items[i].function < calls.functions.count);
            assert_true(strlen(calls.rows.items[i].module) <= WIRE_MODULE_PATH);
        }
        calls_deinit(&calls);
    }
    view.calls = NULL;
    must(calls_read(&view, &calls));
    assert_int_equal(calls.rows.count, 0);
    free(table);
    free(modules);
}

// Writes below a stream are told apart by where, and by way of whom, the stream was opened; those
// that exit() makes are among them.
static void writes_belong_to_streams(void **state)
{
    struct calls calls;
    compile("#include <stdio.h>\n"
            "static FILE *in(const char *path) { return fopen(path, \"w\"); }\n"
            "int main(void) {\n"
            "  FILE *a = in(\"a\");\n"
            "  for (int i = 0; i < 2000; i++) fputs(\"a line\\n\", a);\n"
            "  fclose(a);\n"
            "  FILE *b = in(\"b\"); setvbuf(b, NULL, _IONBF, 0);\n"
            "  fputs(\"1\", b); fputs(\"2\", b);\n"
            "  FILE *c = fopen(\"c\", \"w\"); fputs(\"left to exit\", c);\n"
            "  return 0; }\n");
    assert_int_equal(record("_IO_file_write watch", false, &calls), 0);
    assert_int_equal(calls.rows.count, 3);
    const struct calls_row *rows = calls.rows.items; // by their first occurrence
    static const struct {
        uint64_t first, last, count;
    } wanted[] = {{1, 4, 4}, {5, 6, 2}, {7, 7, 1}};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(rows[i].first, wanted[i].first);
        assert_int_equal(rows[i].last, wanted[i].last);
        assert_int_equal(rows[i].count, wanted[i].count);
        assert_int_equal(rows[i].descriptor, i == 2 ? 4 : 3);
        assert_string_equal(strrchr(rows[i].module, '/'), "/victim");
        assert_int_equal(rows[i].stream_offset, rows[i].offset);
        assert_int_equal(rows[i].kinds & (1u << WIRE_FD_FILE), 1u << WIRE_FD_FILE);
        assert_int_equal(rows[i].kinds & WIRE_KIND_SEVERAL, 0);
    }
    assert_true(rows[0].offset == rows[1].offset && rows[0].stack != rows[1].stack);
    assert_true(rows[2].offset != rows[0].offset);
    calls_deinit(&calls);
    // Calls that fill a buffer know the stream, too, where stacks are recorded.
    assert_int_equal(record("fputs watch", true, &calls), 0);
    for (size_t i = 0; i < calls.rows.count; i++)
        assert_int_not_equal(calls.rows.items[i].stream_offset, 0);
    calls_deinit(&calls);
}

int main(void)
{
    if (!find_runtime())
        return 1;
#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, enter_scratch, leave_scratch)
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(sites_are_told_apart),
        IN_SCRATCH(processes_have_their_own_rows),
        IN_SCRATCH(versions_are_numbered_together),
        IN_SCRATCH(threads_and_signals_lose_nothing),
        IN_SCRATCH(stacks_are_told_apart),
        IN_SCRATCH(stacks_are_not_told_apart_everywhere),
        IN_SCRATCH(stacks_are_spared_by_function),
        IN_SCRATCH(kinds_of_descriptors),
        IN_SCRATCH(writes_belong_to_streams),
        IN_SCRATCH(first_calls_of_threads_are_all_counted),
        IN_SCRATCH(what_does_not_fit_is_counted),
        IN_SCRATCH(rules_still_fire),
        IN_SCRATCH(what_leaves_a_module),
        IN_SCRATCH(tables_grow),
        cmocka_unit_test(nonsense_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
