// SPDX-License-Identifier: GPL-3.0-or-later
// Addresses to names: checked against the compiler's own tables by way of addresses that the
// program itself reports.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dwarf/symbolizer.h"
#include "skip.h"
#include "victim.h"

#include <dlfcn.h>
#include <link.h>

static const char source[] = "typedef void callback(void *);\n"                                // 1
                             "__attribute__((noinline)) static int hidden(callback *call) {\n" // 2
                             "  int a = 1;\n"                                                  // 3
                             "  call(\n"                                                       // 4
                             "    0);\n"                                                       // 5
                             "  __asm__ volatile(\"\");\n"                                     // 6
                             "  return a;\n"                                                   // 7
                             "}\n"                                                             // 8
                             "int shown(callback *call) {\n"                                   // 9
                             "  return hidden(call) + 1;\n"                                    // 10
                             "}\n";

static uint64_t seen;

static void note(void *data)
{
    seen = (uint64_t)__builtin_return_address(0);
}

static uint64_t call_victim(const char *path, const char *name)
{
    void *handle = dlopen(path, RTLD_NOW);
    struct link_map *map;
    assert_non_null(handle);
    assert_int_equal(dlinfo(handle, RTLD_DI_LINKMAP, &map), 0);
    ((int (*)(void (*)(void *)))dlsym(handle, name))(note);
    uint64_t address = seen - map->l_addr;
    dlclose(handle);
    return address - 1; // inside the call
}

static bool ends_in(const char *text, const char *end)
{
    return strlen(text) >= strlen(end) && strcmp(text + strlen(text) - strlen(end), end) == 0;
}

static struct dwarf_position find(const char *path, uint64_t address, const char *symbol,
                                  const char *file, unsigned line)
{
    struct dwarf_symbolizer *symbolizer = NULL;
    good(dwarf_symbolizer_new(&symbolizer));
    struct dwarf_position position = {0};
    for (int i = 0; i < 2; i++) { // the second time from what is kept
        position = dwarf_symbolizer_find(symbolizer, path, address);
        if (symbol == NULL)
            assert_null(position.symbol);
        else {
            assert_non_null(position.symbol);
            assert_string_equal(position.symbol, symbol);
        }
        if (file == NULL)
            assert_null(position.file);
        else {
            assert_non_null(position.file);
            assert_true(ends_in(position.file, file));
        }
        assert_int_equal(position.line, line);
    }
    dwarf_symbolizer_free(symbolizer);
    return position;
}

static void functions_and_lines(void **state)
{
    static const char *const flags[] = {"-g -O0", "-g -O2", "-gdwarf-4", "-gdwarf-5 -gz",
                                        "-g -gsplit-dwarf"};
    static const char *const compilers[] = {"gcc", "clang"};
    unsigned number = 0;
    for (size_t c = 0; c < 2; c++)
        for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
            char name[32], all[128], file[64];
            if (!victim_has(compilers[c]))
                continue;
            snprintf(name, sizeof name, "lines%u.so", number++);
            snprintf(all, sizeof all, "-shared -fPIC %s", flags[i]);
            snprintf(file, sizeof file, "/%s.c", name);
            victim_build(compilers[c], name, source, all);
            uint64_t address = call_victim(victim_path(name), "shown");
            struct dwarf_position position = find(victim_path(name), address, "hidden", file, 4);
            assert_true(position.symbol_offset > 0 && position.symbol_offset < 64);
        }
    assert_true(number > 0);
}

static void stripped_with_and_without_a_debug_file(void **state)
{
    victim_build(victim_compiler(), "bare.so", source, "-shared -fPIC -g");
    uint64_t address = call_victim(victim_path("bare.so"), "shown");
    assert_true(victim_run("objcopy --only-keep-debug bare.so bare.debug && "
                           "objcopy -g --add-gnu-debuglink=bare.debug bare.so only-lines.so && "
                           "strip bare.so && cp bare.so nothing.so && "
                           "objcopy --add-gnu-debuglink=bare.debug bare.so"));
    find(victim_path("bare.so"), address, "hidden", "/bare.so.c", 4);
    find(victim_path("only-lines.so"), address, "hidden", "/bare.so.c", 4);
    find(victim_path("nothing.so"), address, NULL, NULL, 0);
    assert_true(victim_run("mkdir .debug && mv bare.debug .debug/"));
    find(victim_path("bare.so"), address, "hidden", "/bare.so.c", 4);
    // A debug file without a build-id is known by its checksum.
    victim_build(victim_compiler(), "sum.so", source, "-shared -fPIC -g -Wl,--build-id=none");
    address = call_victim(victim_path("sum.so"), "shown");
    assert_true(victim_run("objcopy --only-keep-debug sum.so sum.debug && strip sum.so && "
                           "objcopy --add-gnu-debuglink=sum.debug sum.so"));
    find(victim_path("sum.so"), address, "hidden", "/sum.so.c", 4);
    assert_true(victim_run("printf x >>sum.debug"));
    find(victim_path("sum.so"), address, NULL, NULL, 0);
}

static void mangled_names(void **state)
{
    if (!victim_has("g++"))
        skip_because("g++ is not installed");
    victim_build(
        "g++", "cpp.so",
        "namespace ns { struct C { int m(void (*call)(void *), long); };\n"
        "int C::m(void (*call)(void *), long) { call(0); return 1; } }\n"
        "extern \"C\" int entry(void (*call)(void *)) { ns::C c; return c.m(call, 2) + 1; }\n",
        "-shared -fPIC -O1");
    uint64_t address = call_victim(victim_path("cpp.so"), "entry");
    find(victim_path("cpp.so"), address, "ns::C::m(void (*)(void*), long)", NULL, 0);
    // Rust's two ways, as symbols of C functions.
    victim_build(
        victim_compiler(), "rust.so",
        "int old(void (*call)(void *)) __asm__(\"_ZN5crate3mod4func17h0123456789abcdefE\");\n"
        "int old(void (*call)(void *)) { call(0); __asm__ volatile(\"\"); return 1; }\n"
        "int v0(void (*call)(void *)) __asm__(\"_RNvNtC5crate3mod4func\");\n"
        "int v0(void (*call)(void *)) { call(0); __asm__ volatile(\"\"); return 2; }\n",
        "-shared -fPIC -O1");
    address = call_victim(victim_path("rust.so"), "_ZN5crate3mod4func17h0123456789abcdefE");
    find(victim_path("rust.so"), address, "crate::mod::func", NULL, 0);
    address = call_victim(victim_path("rust.so"), "_RNvNtC5crate3mod4func");
    find(victim_path("rust.so"), address, "crate::mod::func", NULL, 0);
}

static void the_best_of_several_names(void **state)
{
    victim_build(
        victim_compiler(), "alias.so",
        "int __deep(void (*call)(void *)) { call(0); __asm__ volatile(\"\"); return 1; }\n"
        "int deep(void (*call)(void *)) __attribute__((weak, alias(\"__deep\")));\n"
        "static int _deep(void (*call)(void *)) __attribute__((used, alias(\"__deep\")));\n",
        "-shared -fPIC -O1");
    find(victim_path("alias.so"), call_victim(victim_path("alias.so"), "deep"), "deep", NULL, 0);
}

static void what_is_unknown_stays_null(void **state)
{
    find("/nonexistent/module.so", 0x1000, NULL, NULL, 0);
    find("", 0, NULL, NULL, 0);
    victim_write("junk", "junk", 4, 0644);
    find(victim_path("junk"), 0x1000, NULL, NULL, 0);
    victim_build(victim_compiler(), "far.so", source, "-shared -fPIC -g");
    find(victim_path("far.so"), 0, NULL, NULL, 0);
    find(victim_path("far.so"), 0x7fffffffffff, NULL, NULL, 0);
    find(victim_path("far.so"), UINT64_MAX, NULL, NULL, 0);
}

static void damaged_files(void **state)
{
    victim_build(victim_compiler(), "sound.so", source, "-shared -fPIC -g");
    uint64_t address = call_victim(victim_path("sound.so"), "shown");
    _cleanup_(buffer_deinit) struct buffer file = {0};
    good(buffer_read_file(victim_path("sound.so"), 1 << 26, &file));
    unsigned seed = 3;
    size_t named = 0;
    for (size_t i = 0; i < 1200; i++) {
        seed = seed * 1103515245 + 12345;
        size_t at = (seed >> 3) % file.size, size = i < 200 ? file.size * i / 200 : file.size;
        if (i >= 200)
            file.data[at] ^= (char)(1 << i % 8);
        victim_write("damaged.so", file.data, size, 0644);
        if (i >= 200)
            file.data[at] ^= (char)(1 << i % 8);
        struct dwarf_symbolizer *symbolizer = NULL;
        good(dwarf_symbolizer_new(&symbolizer));
        struct dwarf_position position =
            dwarf_symbolizer_find(symbolizer, victim_path("damaged.so"), address);
        named += position.symbol != NULL && position.file != NULL;
        dwarf_symbolizer_inlined(symbolizer, victim_path("damaged.so"), address);
        if (position.symbol != NULL)
            assert_true(strlen(position.symbol) < 10000);
        dwarf_symbolizer_free(symbolizer);
    }
    assert_true(named > 500); // most bits do not matter here
}

static void inlined_functions(void **state)
{
    static const char text[] = "typedef void callback(void *);\n"
                               "volatile int x;\n"
                               "static inline __attribute__((always_inline)) int\n"
                               "load(callback *call) { call(0); return x; }\n"
                               "int shown(callback *call) { return load(call) + 1; }\n"
                               "int plain(callback *call) { call(0); return x; }\n";
    victim_build(victim_compiler(), "inlined.so", text, "-g -O1 -shared -fPIC");
    const char *path = victim_path("inlined.so");
    uint64_t within = call_victim(path, "shown"), without = call_victim(path, "plain");
    struct dwarf_symbolizer *symbolizer = NULL;
    good(dwarf_symbolizer_new(&symbolizer));
    for (int i = 0; i < 2; i++) {
        assert_string_equal(dwarf_symbolizer_inlined(symbolizer, path, within), "load");
        assert_null(dwarf_symbolizer_inlined(symbolizer, path, without));
        assert_null(dwarf_symbolizer_inlined(symbolizer, path, 1u << 30));
        assert_null(dwarf_symbolizer_inlined(symbolizer, "/nowhere", within));
    }
    assert_string_equal(dwarf_symbolizer_find(symbolizer, path, within).symbol, "shown");
    dwarf_symbolizer_free(symbolizer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_and_lines),
        cmocka_unit_test(stripped_with_and_without_a_debug_file),
        cmocka_unit_test(mangled_names),
        cmocka_unit_test(the_best_of_several_names),
        cmocka_unit_test(what_is_unknown_stays_null),
        cmocka_unit_test(damaged_files),
        cmocka_unit_test(inlined_functions),
    };
    return cmocka_run_group_tests(tests, victim_setup, victim_teardown);
}
