// SPDX-License-Identifier: GPL-3.0-or-later
// Where queries are in a module, checked against the truth: the module is loaded into the test,
// called, and from inside the call its caller's address is compared with the answer.
#include "resolve-help.h"
#include "skip.h"

#include <time.h>

static bool matches(const struct answer *answer, uint32_t query, uint64_t address)
{
    for (uint32_t i = 0; i < answer->header->range_count; i++)
        if (answer->ranges[i].query == query && address >= answer->ranges[i].lo &&
            address < answer->ranges[i].hi)
            return true;
    return false;
}

static const char calls_source[] =
    "typedef void callback(void *);\n"                                                  // 1
    "__attribute__((noinline)) int plain_call(callback *call) {\n"                      // 2
    "  call(0); __asm__ volatile(\"\");\n"                                              // 3
    "  return 1;\n"                                                                     // 4
    "}\n"                                                                               // 5
    "__attribute__((noinline)) static int local_call(callback *call) {\n"               // 6
    "  call(0); __asm__ volatile(\"\"); return 2;\n"                                    // 7
    "}\n"                                                                               // 8
    "static inline __attribute__((always_inline)) int only_inlined(callback *call) {\n" // 9
    "  call(0); __asm__ volatile(\"\");\n"                                              // 10
    "  return 4;\n"                                                                     // 11
    "}\n"                                                                               // 12
    "int outer(callback *call) { return local_call(call) + 1; }\n"                      // 13
    "int around(callback *call) { return only_inlined(call) + 1; }\n"                   // 14
    "__attribute__((noreturn)) void last(callback *call) {\n"                           // 15
    "  call(0); __builtin_unreachable();\n"                                             // 16
    "}\n";                                                                              // 17

static uint64_t seen;
static sigjmp_buf escape;

static void note_caller(void *data)
{
    seen = (uint64_t)__builtin_return_address(0);
}

static void note_and_leave(void *data)
{
    seen = (uint64_t)__builtin_return_address(0);
    siglongjmp(escape, 1);
}

static uint64_t call_victim(void *handle, const char *name)
{
    ((int (*)(void (*)(void *)))dlsym(handle, name))(note_caller);
    return seen - bias_of(handle);
}

static void queries_in(const char *compiler, const char *options)
{
    static unsigned number;
    char name[32], flags[256];
    snprintf(name, sizeof name, "calls%u.so", number);
    snprintf(flags, sizeof flags, "-shared -fPIC %s", options);
    victim_build(compiler, name, calls_source, flags);
    const char *path = victim_path(name);
    void *handle = dlopen(path, RTLD_NOW);
    assert_non_null(handle);
    uint64_t plain = call_victim(handle, "plain_call"), local = call_victim(handle, "outer"),
             inlined = call_victim(handle, "around"), last;
    if (sigsetjmp(escape, 0) == 0)
        ((void (*)(void (*)(void *)))dlsym(handle, "last"))(note_and_leave);
    last = seen - bias_of(handle);

    char line3[64], line10[64], wrong[64], site[64], module[64], other[64], stem[64];
    snprintf(line3, sizeof line3, "caller(%s.c:3)", name);
    snprintf(line10, sizeof line10, "caller(\"%s.c:10\")", name);
    snprintf(wrong, sizeof wrong, "caller(s%s.c:3)", name);
    snprintf(site, sizeof site, "caller(%s+0x%lx)", name, (unsigned long)plain);
    snprintf(module, sizeof module, "caller(%s)", name);
    snprintf(other, sizeof other, "caller(lib%s:plain_call)", name);
    snprintf(stem, sizeof stem, "caller(calls%u:plain_call)", number++);
    const char *const rules[] = {"caller(plain_call)",
                                 "caller(local_call)",
                                 "caller(only_inlined)",
                                 "caller(last)",
                                 "caller(*_call)",
                                 line3,
                                 line10,
                                 wrong,
                                 site,
                                 module,
                                 other,
                                 stem,
                                 "caller(absent)"};
    struct answer answer = {0};
    for (uint32_t i = 0; i < COUNT(rules); i++) {
        add_rule(&answer, rules[i]);
        assert_int_equal(scenario_query_count(answer.scenario), i + 1);
    }
    answer_take(&answer, path);
    const struct {
        uint32_t query;
        uint64_t address;
        bool matches;
    } facts[] = {
        {0, plain, true},  {0, local, false},  {0, inlined, false}, {0, last, false},
        {1, local, true},  {1, plain, false},  {2, inlined, true},  {2, plain, false},
        {3, last, true},   {3, plain, false},  {4, plain, true},    {4, local, true},
        {4, last, false},  {5, plain, true},   {5, local, false},   {6, inlined, true},
        {6, plain, false}, {7, plain, false},  {8, plain, true},    {8, plain + 1, false},
        {8, local, false}, {9, plain, true},   {9, last, true},     {10, plain, false},
        {11, plain, true}, {12, plain, false},
    };
    for (size_t i = 0; i < COUNT(facts); i++)
        if (matches(&answer, facts[i].query, facts[i].address) != facts[i].matches)
            fail_msg("%s %s: %s %s 0x%lx", compiler, options, rules[facts[i].query],
                     facts[i].matches ? "misses" : "matches", (unsigned long)facts[i].address);
    for (uint32_t i = 1; i < answer.header->range_count; i++)
        assert_true(answer.ranges[i].query > answer.ranges[i - 1].query ||
                    answer.ranges[i].lo > answer.ranges[i - 1].hi);
    answer_deinit(&answer);
    dlclose(handle);
}

static void functions_lines_and_sites(void **state)
{
    if (victim_has("gcc")) {
        queries_in("gcc", "-g -O0");
        queries_in("gcc", "-g -O2");
        queries_in("gcc", "-gdwarf-4 -O1");
    }
    if (victim_has("clang")) {
        queries_in("clang", "-g -O0");
        queries_in("clang", "-g -O2");
    }
}

// Hand-made code: two calls in a row, functions without sizes, split-off parts.
static const char assembly[] =
    "__asm__(\".text\\n.globl twin, sized\\n.type twin,@function\\n"
    "twin: endbr64\\ntwin_1: call *%rax\\ntwin_2: call *%rcx\\ntwin_3: nop\\nret\\n"
    ".type sized,@function\\nsized: nop\\nnop\\nret\\nsized_end: .size sized,.-sized\\n"
    ".type sized.cold,@function\\nsized.cold: nop\\nud2\\n.size sized.cold,.-sized.cold\\n"
    ".type sized.part.0.cold,@function\\nsized.part.0.cold: nop\\n.size sized.part.0.cold,1\\n"
    ".type sizedness,@function\\nsizedness: nop\\n.size sizedness,1\\n"
    ".type open_end,@function\\nopen_end: nop\\n"
    ".globl after\\n.type after,@function\\nafter: nop\\n.size after,1\\n"
    "\");\n";

static void one_range(const struct answer *answer, uint32_t query, uint64_t lo, uint64_t hi)
{
    size_t found = 0;
    for (uint32_t i = 0; i < answer->header->range_count; i++)
        if (answer->ranges[i].query == query && answer->ranges[i].lo == lo &&
            answer->ranges[i].hi == hi)
            found++;
    if (found != 1)
        fail_msg("query %u has no range 0x%lx..0x%lx", query, (unsigned long)lo, (unsigned long)hi);
}

static size_t range_count(const struct answer *answer, uint32_t query)
{
    size_t found = 0;
    for (uint32_t i = 0; i < answer->header->range_count; i++)
        found += answer->ranges[i].query == query;
    return found;
}

static void exact_ranges(void **state)
{
    victim_build(victim_compiler(), "hand.so", assembly, "-shared -fPIC -nostdlib");
    uint64_t first = address_of("hand.so", "twin_1"), second = address_of("hand.so", "twin_2"),
             third = address_of("hand.so", "twin_3"), twin = address_of("hand.so", "twin"),
             sized = address_of("hand.so", "sized"), open_end = address_of("hand.so", "open_end"),
             after = address_of("hand.so", "after"),
             part = address_of("hand.so", "sized.part.0.cold");
    struct answer answer = {0};
    char rule[128];
    const uint64_t sites[] = {first, second, third, 0xffffff, twin};
    for (size_t i = 0; i < COUNT(sites); i++) {
        snprintf(rule, sizeof rule, "caller(hand.so+0x%lx)", (unsigned long)sites[i]);
        add_rule(&answer, rule);
    }
    add_rule(&answer, "caller(sized)");
    add_rule(&answer, "caller(open_end)");
    add_rule(&answer, "caller(twin)");
    answer_take(&answer, victim_path("hand.so"));
    one_range(&answer, 0, second, second + 1); // the call's own address
    assert_int_equal(range_count(&answer, 0), 1);
    one_range(&answer, 1, second, second + 1); // the address of one call and the return of another
    one_range(&answer, 1, third, third + 1);
    one_range(&answer, 2, third, third + 1); // a return address
    assert_int_equal(range_count(&answer, 2), 1);
    assert_int_equal(range_count(&answer, 3), 0); // not in the module
    one_range(&answer, 4, twin, twin + 1);
    one_range(&answer, 5, sized + 1, part + 2); // three parts in a row, not its namesake
    assert_int_equal(range_count(&answer, 5), 1);
    one_range(&answer, 6, open_end + 1, after + 1); // up to the next function
    one_range(&answer, 7, twin + 1, sized + 1);
    answer_deinit(&answer);
    // Without section headers the exported functions are still there.
    _cleanup_(buffer_deinit) struct buffer file = {0};
    good(buffer_read_file(victim_path("hand.so"), 1 << 26, &file));
    ElfW(Ehdr) *header = (ElfW(Ehdr) *)file.data;
    header->e_shoff = header->e_shnum = header->e_shstrndx = 0;
    victim_write("bare.so", file.data, file.size, 0755);
    answer = (struct answer){0};
    add_rule(&answer, "caller(sized)");
    answer_take(&answer, victim_path("bare.so"));
    one_range(&answer, 0, sized + 1, sized + 4);
    answer_deinit(&answer);
}

static void cplusplus_names(void **state)
{
    if (!victim_has("g++"))
        skip_because("g++ is not installed");
    victim_build("g++", "names.so",
                 "namespace ns { struct C { int m(int); int operator()(int); C(); ~C(); };\n"
                 "int C::m(int a) { return a; } C::C() { } C::~C() { }\n"
                 "template <class T> T tf(T a) { return a; } template int tf<int>(int);\n"
                 "int counter = 6; struct D { static int shared; }; int D::shared = 8;\n"
                 "int free_one(int a) { return a; } int free_one(char a) { return a; } }\n"
                 "int refer(int &r, struct ns::C &c) { return r; }\n"
                 "int m() { return 1; }\n",
                 "-shared -fPIC -g -O0");
    struct answer answer = {0};
    static const struct {
        const char *frame;
        const char *symbols[3];
    } cases[] = {
        {"ns::C::m", {"_ZN2ns1C1mEi"}},
        {"C::m", {"_ZN2ns1C1mEi"}},
        {"_ZN2ns1C1mEi", {"_ZN2ns1C1mEi"}},
        {"m", {"_ZN2ns1C1mEi", "_Z1mv"}},
        {"\"ns::tf<int>\"", {"_ZN2ns2tfIiEET_S1_"}},
        {"ns::tf", {"_ZN2ns2tfIiEET_S1_"}},
        {"free_one", {"_ZN2ns8free_oneEi", "_ZN2ns8free_oneEc"}},
        {"\"ns::free_one(char)\"", {"_ZN2ns8free_oneEc"}},
        {"\"ns::C::*\"", {"_ZN2ns1C1mEi", "_ZN2ns1CC1Ev", "_ZN2ns1CD1Ev"}},
        {"ns::C::C", {"_ZN2ns1CC1Ev"}},
        {"s::C::m", {NULL}},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char rule[128];
        snprintf(rule, sizeof rule, "caller(%s)", cases[i].frame);
        add_rule(&answer, rule);
    }
    add_rule(&answer, "var(ns::counter) == 6 and var(D::shared) == 8 and var(refer::r) == 1");
    answer_take(&answer, victim_path("names.so"));
    for (uint32_t i = 0; i < COUNT(cases); i++) {
        if (cases[i].symbols[0] == NULL)
            assert_int_equal(range_count(&answer, i), 0);
        for (size_t j = 0; j < 3 && cases[i].symbols[j] != NULL; j++)
            if (!matches(&answer, i, address_of("names.so", cases[i].symbols[j]) + 1))
                fail_msg("%s misses %s", cases[i].frame, cases[i].symbols[j]);
    }
    assert_false(matches(&answer, 7, address_of("names.so", "_ZN2ns8free_oneEi") + 1));
    assert_int_equal(answer.header->location_count, 3);
    uint32_t seen_variables = 0;
    for (uint32_t i = 0; i < 3; i++)
        seen_variables |= 1u << answer.locations[i].variable;
    assert_int_equal(seen_variables, 7);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(answer.locations[i].step_count, answer.locations[i].variable == 2);
    answer_deinit(&answer);
}

static void separate_debug_file(void **state)
{
    victim_build(victim_compiler(), "split.so", calls_source, "-shared -fPIC -g -O0");
    assert_true(victim_run("objcopy --only-keep-debug split.so split.so.debug && strip split.so && "
                           "objcopy --add-gnu-debuglink=split.so.debug split.so"));
    struct answer answer = {0};
    add_rule(&answer, "caller(local_call, split.so.c:3) and var(split!plain_call::call) != 0");
    answer_take(&answer, victim_path("split.so"));
    assert_int_equal(range_count(&answer, 0), 1);
    assert_int_equal(range_count(&answer, 1), 1);
    assert_int_equal(answer.header->location_count, 1);
    // Of another build: not believed.
    victim_build(victim_compiler(), "other.so", calls_source, "-shared -fPIC -g -O2 -DX");
    assert_true(victim_run("objcopy --only-keep-debug other.so split.so.debug"));
    answer_take(&answer, victim_path("split.so"));
    assert_int_equal(answer.header->range_count, 0);
    assert_int_equal(answer.header->location_count, 0);
    answer_deinit(&answer);
}

static void modules_nobody_asks_for_are_not_opened(void **state)
{
    struct answer answer = {0};
    add_rule(&answer, "caller(libx.so:f) and var(liby!z) == 1 and caller(libx+0x10)");
    answer_take(&answer, "/nonexistent/libz.so.1");
    assert_int_equal(answer.header->range_count, 0);
    struct buffer bytes = {0};
    bad(resolve_module(answer.scenario, "/nonexistent/libx.so.1", "/nonexistent/libx.so.1", &bytes),
        "libx.so.1");
    bad(resolve_module(answer.scenario, "/nonexistent/liby.so", "/nonexistent/liby.so", &bytes),
        "liby.so");
    victim_write("libx.so", "not an object", 13, 0644);
    bad(resolve_module(answer.scenario, victim_path("libx.so"), victim_path("libx.so"), &bytes),
        "not an ELF file");
    assert_null(bytes.data);
    answer_deinit(&answer);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

// The bounds are ten times what it takes, so that only a change of order shows.
static void many_queries_are_quick(void **state)
{
    victim_build(victim_compiler(), "many.so", calls_source, "-shared -fPIC -g");
    struct answer answer = {0};
    uint64_t start = address_of("many.so", "plain_call");
    for (unsigned i = 0; i < 10000; i++) {
        char rule[128];
        snprintf(rule, sizeof rule, "caller(many.so+0x%lx)", (unsigned long)(start + i));
        add_rule(&answer, rule);
        if (i % 2 == 0) {
            snprintf(rule, sizeof rule, "caller(function_%u)", i);
            add_rule(&answer, rule);
        }
    }
    assert_int_equal(scenario_query_count(answer.scenario), 15000);
    double before = seconds();
    answer_take(&answer, victim_path("many.so"));
    double taken = seconds() - before;
    if (taken > 1)
        fail_msg("15000 queries took %.3f s", taken);
    assert_true(answer.header->range_count > 50);
    answer_deinit(&answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_lines_and_sites),
        cmocka_unit_test(exact_ranges),
        cmocka_unit_test(cplusplus_names),
        cmocka_unit_test(separate_debug_file),
        cmocka_unit_test(modules_nobody_asks_for_are_not_opened),
        cmocka_unit_test(many_queries_are_quick),
    };
    return cmocka_run_group_tests(tests, victim_setup, victim_teardown);
}
