// SPDX-License-Identifier: GPL-3.0-or-later
// Reading what counters count out of a program: a small ELF file made here, whole and broken in
// every byte.
#include "fidelity/subject.h"

#include "mutate/counts.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char names[] = "\0ordeal_map\0ordeal_blocks\0.shstrtab";
static const char map_strings[16] = "\0f\0load\0leak";
static const char strings[8] = "\0a.c\0bc";

struct made { // f, of three blocks; two modules describe it, the second in another way of lines
    Elf64_Ehdr header;
    struct map_header map;
    struct map_function function;
    uint32_t types[2];
    unsigned char places[16];
    char map_strings[16];
    struct blocks_header one;
    struct blocks_function one_function;
    struct blocks_block one_blocks[3];
    struct blocks_line one_lines[3];
    char one_strings[8];
    struct blocks_header two;
    struct blocks_function two_function;
    struct blocks_block two_blocks[3];
    struct blocks_line two_lines[1];
    char two_strings[8];
    char names[sizeof names];
    Elf64_Shdr sections[4];
};

#define AT(field) offsetof(struct made, field)
static Elf64_Shdr section(uint32_t name, size_t offset, size_t size)
{
    return (Elf64_Shdr){
        .sh_name = name, .sh_type = SHT_PROGBITS, .sh_offset = offset, .sh_size = size};
}

static struct blocks_header rows(uint64_t key, size_t size, uint32_t lines)
{
    return (struct blocks_header){.magic = BLOCKS_MAGIC,
                                  .version = COUNTS_VERSION,
                                  .size = (uint32_t)size,
                                  .functions = 1,
                                  .blocks = 3,
                                  .lines = lines,
                                  .strings = sizeof strings,
                                  .key = key};
}

static void fill_map(struct made *made)
{
    made->map = (struct map_header){.magic = MAP_MAGIC,
                                    .version = MAP_VERSION,
                                    .size = AT(one) - AT(map),
                                    .decide = MAP_VARIABLE,
                                    .functions = 1,
                                    .candidates = 4,
                                    .types = 2,
                                    .places = sizeof made->places,
                                    .strings = sizeof map_strings};
    made->function = (struct map_function){.id = 77, .name = 1, .candidates = 4, .blocks = 3};
    made->types[0] = 3;
    made->types[1] = 8;
    // Two candidates in each of two blocks; the last one has no clone.
    static const unsigned char places[] = {
        2,
        0,
        0,
        0,
        0 << PLACE_TYPE | PLACE_CHOSEN,
        0 << PLACE_TYPE | PLACE_CHOSEN,
        2 | PLACE_BLOCK,
        1,
        0,
        0,
        0,
        1 << PLACE_TYPE | PLACE_CHOSEN,
        1 << PLACE_TYPE,
    };
    memcpy(made->places, places, sizeof places);
    memcpy(made->map_strings, map_strings, sizeof map_strings);
}

static void fill(struct made *made)
{
    memset(made, 0, sizeof *made);
    memcpy(made->header.e_ident, ELFMAG, SELFMAG);
    made->header.e_ident[EI_CLASS] = ELFCLASS64;
    made->header.e_type = ET_DYN;
    made->header.e_machine = EM_X86_64;
    made->header.e_phentsize = sizeof(Elf64_Phdr);
    made->header.e_shoff = AT(sections);
    made->header.e_shnum = 4;
    made->header.e_shentsize = sizeof(Elf64_Shdr);
    made->header.e_shstrndx = 3;
    fill_map(made);
    made->one = rows(5, AT(two) - AT(one), 3);
    made->two = rows(6, AT(names) - AT(two), 1);
    made->one_function = made->two_function = (struct blocks_function){.id = 77, .blocks = 3};
    const struct blocks_block first[] = {{4, 1}, {6, 2}, {0, 0}},
                              second[] = {{4, 1}, {6, 0}, {0, 0}};
    memcpy(made->one_blocks, first, sizeof first);
    memcpy(made->two_blocks, second, sizeof second);
    const struct blocks_line lines[] = {{1, 10}, {1, 10}, {5, 11}};
    memcpy(made->one_lines, lines, sizeof lines);
    memcpy(made->two_lines, lines, sizeof *lines);
    memcpy(made->one_strings, strings, sizeof strings);
    memcpy(made->two_strings, strings, sizeof strings);
    memcpy(made->names, names, sizeof names);
    made->sections[1] = section(1, AT(map), AT(one) - AT(map));
    made->sections[2] = section(12, AT(one), AT(names) - AT(one));
    made->sections[3] = section(26, AT(names), sizeof names);
}

static struct error *take(const void *bytes, size_t size, struct fidelity_subject *subject)
{
    struct buffer buffer = {0};
    struct image image = {0};
    assert_null(buffer_append(&buffer, bytes, size));
    struct error *error = image_parse("made", &buffer, &image);
    if (error == NULL)
        error = fidelity_subject_take(subject, &image);
    if (error == NULL)
        error = fidelity_subject_finish(subject);
    image_close(&image);
    return error;
}

static void reads_blocks(void **state)
{
    struct made made;
    struct fidelity_subject subject = {0};
    fill(&made);
    struct error *error = take(&made, sizeof made, &subject);
    if (error != NULL)
        fail_msg("%s", error_message(error));
    assert_int_equal(subject.blocks.count, 3);
    assert_int_equal(subject.blocks.items[1].instructions, 6);
    assert_int_equal(subject.lines, 2); // a.c:10 is in two blocks
    assert_int_equal(subject.types.count, 2);
    assert_string_equal(subject.types.items[0], "leak");
    // Two modules count the same blocks; nothing counts the one that nothing leads to.
    assert_int_equal(subject.modules.count, 2);
    const size_t counted[] = {0, 1, SIZE_MAX, 0, 1, SIZE_MAX};
    assert_int_equal(subject.counter_blocks.count, 6);
    assert_memory_equal(subject.counter_blocks.items, counted, sizeof counted);
    assert_int_equal(fidelity_module_by_key(&subject, 6), 1);
    assert_true(fidelity_module_by_key(&subject, 7) == SIZE_MAX);
    // Candidates by block, with or without a clone.
    assert_int_equal(subject.candidates.count, 4);
    assert_int_equal(subject.blocks.items[0].candidates, 2);
    assert_int_equal(subject.blocks.items[1].candidates, 2);
    assert_int_equal(subject.blocks.items[1].first_candidate, 2);
    assert_int_equal(subject.candidates.items[0].type, 1);
    assert_int_equal(subject.candidates.items[2].live + subject.candidates.items[3].live, 1);
    fidelity_subject_deinit(&subject);
}

static void expect_refused(struct made *made, const char *what)
{
    struct fidelity_subject subject = {0};
    struct error *error = take(made, sizeof *made, &subject);
    assert_non_null(error);
    if (strstr(error_message(error), what) == NULL)
        fail_msg("%s", error_message(error));
    error_free(error);
    fidelity_subject_deinit(&subject);
    fill(made);
}

static void refuses_nonsense(void **state)
{
    struct made made;
    fill(&made);
    made.sections[2].sh_name = 0;
    expect_refused(&made, "no counters; was it built with 'ordeal cc --counters'?");
    made.one.magic++;
    expect_refused(&made, "something else than rows in section ordeal_blocks at byte 0");
    made.two.version++;
    expect_refused(&made, "built by another version");
    made.one_function.id = 78;
    expect_refused(&made, "a function that the map does not know");
    made.one_function.blocks = 4;
    expect_refused(&made, "a function with too many blocks");
    made.one_function.blocks = 2;
    expect_refused(&made, "blocks that belong to no function");
    made.two_function.blocks = 2;
    expect_refused(&made, "described in two ways");
    made.one_blocks[0].lines = 9;
    expect_refused(&made, "a line that makes no sense");
    made.one_lines[2].file = 8;
    expect_refused(&made, "a line that makes no sense");
    made.one_strings[7] = 'x';
    expect_refused(&made, "cut off");
    made.two.blocks = UINT32_MAX;
    expect_refused(&made, "cut off");
    made.places[7] = 3;
    expect_refused(&made, "a block that the function does not have");
}

// Whatever a byte says, it is read or refused.
static void survives_every_byte(void **state)
{
    struct made made;
    for (size_t i = 0; i < sizeof made; i++)
        for (int change = 0; change < 3; change++) {
            struct fidelity_subject subject = {0};
            fill(&made);
            ((unsigned char *)&made)[i] ^= (unsigned char[]){1, 0x80, 0xff}[change];
            error_free(take(&made, sizeof made, &subject));
            fidelity_subject_deinit(&subject);
        }
    for (size_t size = 0; size < sizeof made; size += 3) {
        struct fidelity_subject subject = {0};
        fill(&made);
        error_free(take(&made, size, &subject));
        fidelity_subject_deinit(&subject);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(reads_blocks),
                                       cmocka_unit_test(refuses_nonsense),
                                       cmocka_unit_test(survives_every_byte)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
