// SPDX-License-Identifier: GPL-3.0-or-later
// What an ELF file says about itself, and what a broken one makes us say.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "elf/object.h"
#include "victim.h"

#include <elf.h>

static const char program_source[] = "#include <unistd.h>\n"
                                     "#include <stdio.h>\n"
                                     "extern void perhaps(void) __attribute__((weak));\n"
                                     "int main(int c, char **v) {\n"
                                     "    if (perhaps) perhaps();\n"
                                     "    fprintf(stdout, \"%d\", c);\n"
                                     "    return (int)read(0, &c, 1);\n"
                                     "}\n";

static const char library_source[] = "int data = 3;\n"
                                     "int old_f(void) { return 1; }\n"
                                     "int new_f(void) { return 2; }\n"
                                     "__asm__(\".symver old_f,f@V1\\n.symver new_f,f@@V2\");\n"
                                     "int g(void) { return data; }\n"
                                     "static int hidden(void) { return 5; }\n"
                                     "int h(void) { return hidden(); }\n";

static struct elf_object *open_victim(const char *name)
{
    struct elf_object *object = NULL;
    good(elf_object_open(victim_path(name), &object));
    return object;
}

static const struct elf_import *find_import(const struct elf_object *object, const char *name)
{
    for (size_t i = 0; i < elf_object_import_count(object); i++)
        if (strcmp(elf_object_import(object, i)->name, name) == 0)
            return elf_object_import(object, i);
    return NULL;
}

static void check_program(const struct elf_object *object, bool pie)
{
    const struct elf_facts *facts = elf_object_facts(object);
    assert_int_equal(facts->class_bits, 64);
    assert_int_equal(facts->machine, EM_X86_64);
    assert_string_equal(facts->machine_name, "x86-64");
    assert_true(facts->executable);
    assert_true(facts->dynamic);
    assert_false(facts->static_program);
    assert_false(facts->go_program);
    assert_string_equal(facts->interpreter, "/lib64/ld-linux-x86-64.so.2");
    assert_null(facts->soname);
    const struct elf_import *import = find_import(object, "read");
    assert_non_null(import);
    assert_string_equal(import->version, "GLIBC_2.2.5");
    assert_false(import->weak);
    import = find_import(object, "perhaps");
    assert_int_equal(import != NULL, pie); // at a fixed address the linker puts 0 for it
    if (pie) {
        assert_null(import->version);
        assert_true(import->weak);
    }
    assert_non_null(find_import(object, "__libc_start_main"));
    assert_null(find_import(object, "stdout")); // data
    assert_null(find_import(object, "main"));
}

// Makes a copy without section headers.
static void drop_sections(const char *from, const char *to)
{
    _cleanup_(buffer_deinit) struct buffer file = {0};
    good(buffer_read_file(victim_path(from), 1 << 26, &file));
    Elf64_Ehdr *header = (Elf64_Ehdr *)file.data;
    header->e_shoff = 0;
    header->e_shnum = header->e_shstrndx = 0;
    victim_write(to, file.data, file.size, 0755);
}

static void programs_are_told_apart(void **state)
{
    static const struct {
        const char *name, *flags;
    } ways[] = {
        {"pie", "-O1 -fPIE -pie -Wl,-z,lazy"},
        {"nonpie", "-O1 -fno-pie -no-pie -Wl,-z,lazy"},
        {"now", "-O1 -fPIE -pie -Wl,-z,now"},
        {"noplt", "-O1 -fPIE -pie -fno-plt -Wl,-z,lazy"},
        {"sysv", "-O1 -fPIE -pie -Wl,--hash-style=sysv -Wl,-z,lazy"},
        {"gnu", "-O1 -fPIE -pie -Wl,--hash-style=gnu -Wl,-z,lazy"},
        {"rdynamic", "-O1 -fPIE -pie -rdynamic -Wl,--hash-style=gnu -Wl,-z,lazy"},
    };
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        victim_build(victim_compiler(), ways[i].name, program_source, ways[i].flags);
        struct elf_object *object = open_victim(ways[i].name);
        check_program(object, i != 1);
        size_t imports = elf_object_import_count(object);
        elf_object_close(object);
        drop_sections(ways[i].name, "bare");
        object = open_victim("bare");
        check_program(object, i != 1);
        // A weak symbol that nothing refers to is seen only through the section headers.
        assert_true(elf_object_import_count(object) <= imports);
        elf_object_close(object);
    }
}

static void static_programs(void **state)
{
    victim_build(victim_compiler(), "static", "int main(void) { return 0; }", "-static");
    struct elf_object *object = open_victim("static");
    assert_true(elf_object_facts(object)->executable);
    assert_true(elf_object_facts(object)->static_program);
    assert_false(elf_object_facts(object)->dynamic);
    assert_int_equal(elf_object_import_count(object), 0);
    elf_object_close(object);
    victim_build(victim_compiler(), "staticpie", "int main(void) { return 0; }", "-static-pie");
    object = open_victim("staticpie");
    assert_true(elf_object_facts(object)->executable);
    assert_true(elf_object_facts(object)->static_program);
    elf_object_close(object);
}

static void debug_and_build_id(void **state)
{
    victim_build(victim_compiler(), "debug", program_source,
                 "-g -Wl,--build-id=0x0123456789abcdef0123");
    struct elf_object *object = open_victim("debug");
    assert_true(elf_object_facts(object)->has_debug_info);
    assert_string_equal(elf_object_facts(object)->build_id, "0123456789abcdef0123");
    elf_object_close(object);
    assert_true(victim_run("strip debug"));
    object = open_victim("debug");
    assert_false(elf_object_facts(object)->has_debug_info);
    elf_object_close(object);
}

static void go_programs(void **state)
{
    victim_build(victim_compiler(), "go",
                 "__asm__(\".section .note.go.buildid,\\\"a\\\",@note\\n.long 4,4,4\\n"
                 ".ascii \\\"Go\\\\0\\\\0\\\"\\n.long 7\\n.text\");\n"
                 "int main(void) { return 0; }",
                 "");
    struct elf_object *object = open_victim("go");
    assert_true(elf_object_facts(object)->go_program);
    elf_object_close(object);
    drop_sections("go", "gobare");
    object = open_victim("gobare");
    assert_true(elf_object_facts(object)->go_program);
    elf_object_close(object);
}

static void check_library(const struct elf_object *object)
{
    assert_string_equal(elf_object_facts(object)->soname, "libvictim.so.1");
    assert_false(elf_object_facts(object)->executable);
    assert_false(elf_object_facts(object)->static_program);
    assert_true(elf_object_exports(object, "f", NULL));
    assert_true(elf_object_exports(object, "f", "V1"));
    assert_true(elf_object_exports(object, "f", "V2"));
    assert_false(elf_object_exports(object, "f", "V3"));
    assert_true(elf_object_exports(object, "g", "V1"));
    assert_false(elf_object_exports(object, "g", "V2"));
    assert_false(elf_object_exports(object, "data", NULL));
    assert_false(elf_object_exports(object, "hidden", NULL));
    assert_false(elf_object_exports(object, "h", NULL));
    assert_false(elf_object_exports(object, "", NULL));
}

static void exports_with_versions(void **state)
{
    victim_write("map", "V1 { global: f; g; local: *; }; V2 { global: f; } V1;", 53, 0644);
    for (int gnu = 0; gnu < 2; gnu++) {
        char flags[256];
        snprintf(flags, sizeof flags,
                 "-shared -fPIC -Wl,--version-script=map -Wl,-soname,libvictim.so.1 "
                 "-Wl,--hash-style=%s",
                 gnu ? "gnu" : "sysv");
        victim_build(victim_compiler(), "libvictim.so", library_source, flags);
        struct elf_object *object = open_victim("libvictim.so");
        check_library(object);
        elf_object_close(object);
        drop_sections("libvictim.so", "libbare.so");
        object = open_victim("libbare.so");
        check_library(object);
        elf_object_close(object);
    }
    // Without versions a library satisfies every version, as for the loader.
    victim_build(victim_compiler(), "libplain.so", "int f(void) { return 0; }", "-shared -fPIC");
    struct elf_object *object = open_victim("libplain.so");
    assert_true(elf_object_exports(object, "f", "ANY"));
    elf_object_close(object);
}

static void what_is_not_an_object(void **state)
{
    struct elf_object *object = NULL;
    bad(elf_object_open(victim_path("absent"), &object), "No such file or directory");
    bad(elf_object_open(victim_directory, &object), "is a directory");
    assert_int_equal(mkfifo(victim_path("fifo"), 0600), 0);
    bad(elf_object_open(victim_path("fifo"), &object), "not a regular file");
    victim_write("text", "#!/bin/sh\n", 10, 0755);
    bad(elf_object_open(victim_path("text"), &object), "text: not an ELF file");
    victim_write("empty", "", 0, 0755);
    bad(elf_object_open(victim_path("empty"), &object), "empty");
    assert_null(object);
}

static void foreign_machines(void **state)
{
    victim_build(victim_compiler(), "native", program_source, "");
    _cleanup_(buffer_deinit) struct buffer file = {0};
    good(buffer_read_file(victim_path("native"), 1 << 26, &file));
    ((Elf64_Ehdr *)file.data)->e_machine = EM_AARCH64;
    victim_write("foreign", file.data, file.size, 0755);
    struct elf_object *object = open_victim("foreign");
    assert_string_equal(elf_object_facts(object)->machine_name, "aarch64");
    elf_object_close(object);
    // A bare 32-bit header is enough to tell.
    Elf32_Ehdr small = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, EV_CURRENT},
                        .e_type = ET_EXEC,
                        .e_machine = EM_386,
                        .e_version = EV_CURRENT,
                        .e_ehsize = sizeof small};
    victim_write("small", &small, sizeof small, 0755);
    object = open_victim("small");
    assert_int_equal(elf_object_facts(object)->class_bits, 32);
    assert_string_equal(elf_object_facts(object)->machine_name, "i386");
    elf_object_close(object);
}

static void every_prefix_is_refused(void **state)
{
    victim_build(victim_compiler(), "whole", program_source, "");
    _cleanup_(buffer_deinit) struct buffer file = {0};
    good(buffer_read_file(victim_path("whole"), 1 << 26, &file));
    for (size_t size = 0; size < file.size; size += size < 1024 || size % 64 == 63 ? 1 : 7) {
        victim_write("prefix", file.data, size, 0755);
        struct elf_object *object = NULL;
        struct error *error = elf_object_open(victim_path("prefix"), &object);
        if (error == NULL)
            fail_msg("the first %zu of %zu bytes are taken for a whole file", size, file.size);
        assert_non_null(strstr(error_message(error), "prefix"));
        error_free(error);
    }
}

// Whatever a flipped bit does, the answer is a result or an error.
static void flipped_bits(void **state)
{
    victim_build(victim_compiler(), "sound", program_source, "-Wl,--hash-style=both");
    _cleanup_(buffer_deinit) struct buffer file = {0};
    good(buffer_read_file(victim_path("sound"), 1 << 26, &file));
    size_t opened = 0, refused = 0;
    unsigned seed = 1;
    for (int i = 0; i < 3000; i++) {
        seed = seed * 1103515245 + 12345;
        size_t at = (seed >> 8) % (i % 2 == 0 ? 1600 : file.size); // the headers twice
        unsigned char bit = (unsigned char)(1 << (seed >> 4) % 8);
        file.data[at] ^= (char)bit;
        victim_write("flipped", file.data, file.size, 0755);
        file.data[at] ^= (char)bit;
        struct elf_object *object = NULL;
        struct error *error = elf_object_open(victim_path("flipped"), &object);
        if (error == NULL) {
            opened++;
            elf_object_exports(object, "main", NULL);
            elf_object_close(object);
        } else
            refused++;
        error_free(error);
    }
    assert_true(opened > 100);
    assert_true(refused > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_are_told_apart),
        cmocka_unit_test(static_programs),
        cmocka_unit_test(debug_and_build_id),
        cmocka_unit_test(go_programs),
        cmocka_unit_test(exports_with_versions),
        cmocka_unit_test(what_is_not_an_object),
        cmocka_unit_test(foreign_machines),
        cmocka_unit_test(every_prefix_is_refused),
        cmocka_unit_test(flipped_bits),
    };
    return cmocka_run_group_tests(tests, victim_setup, victim_teardown);
}
