// SPDX-License-Identifier: GPL-3.0-or-later
// Reading faults out of a program: a small ELF file made here, whole and broken in every byte.
#include "mutate/image.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

static const char names[] = "\0ordeal_map\0ordeal_mark\0ordeal_twin\0.shstrtab";
static const char strings[16] = "\0f\0no\0lib/sub/x";

struct made { // the whole file; code at address = offset
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    unsigned char code[64]; // entry at 0, twin at 16 with its marker, clones at 32 and 40
    struct map_header map;
    struct map_function function;
    uint32_t type;
    unsigned char places[12];
    char strings[16];
    unsigned char mark[17 + 2 + 2 * 2];
    unsigned char space[1];
    unsigned char shared[40]; // room for other records
    struct twin_row twin;
    char names[sizeof names];
    Elf64_Shdr sections[5];
};

static Elf64_Shdr section(uint32_t name, size_t offset, size_t size)
{
    return (Elf64_Shdr){.sh_name = name,
                        .sh_type = SHT_PROGBITS,
                        .sh_addr = offset,
                        .sh_offset = offset,
                        .sh_size = size};
}

#define AT(field) offsetof(struct made, field)
static void fill(struct made *made)
{
    memset(made, 0, sizeof *made);
    memcpy(made->header.e_ident, ELFMAG, SELFMAG);
    made->header.e_ident[EI_CLASS] = ELFCLASS64;
    made->header.e_type = ET_DYN;
    made->header.e_machine = EM_X86_64;
    made->header.e_phoff = AT(segment);
    made->header.e_phnum = 1;
    made->header.e_phentsize = sizeof(Elf64_Phdr);
    made->header.e_shoff = AT(sections);
    made->header.e_shnum = 5;
    made->header.e_shentsize = sizeof(Elf64_Shdr);
    made->header.e_shstrndx = 4;
    made->segment = (Elf64_Phdr){
        .p_type = PT_LOAD, .p_flags = PF_X, .p_filesz = sizeof *made, .p_memsz = sizeof *made};
    const unsigned char entry[] = {ENTRY_NOP, 16};
    memcpy(made->code, entry, sizeof entry);
    memcpy(made->code + 16, mark_nop, MARK_NOP_SIZE);
    made->map = (struct map_header){.magic = MAP_MAGIC,
                                    .version = MAP_VERSION,
                                    .size = AT(mark) - AT(map),
                                    .functions = 1,
                                    .candidates = 2,
                                    .types = 1,
                                    .places = sizeof made->places,
                                    .strings = sizeof strings};
    made->function =
        (struct map_function){.id = 77, .name = 1, .candidates = 2, .flags = MAP_ENTRY};
    made->type = 3;
    // Two places: line 10 of file 6, then the next line.
    static const unsigned char places[] = {1 | PLACE_FILE, 6, 20, 0, 0, PLACE_CHOSEN, 1, 2, 0, 0,
                                           PLACE_CHOSEN};
    memcpy(made->places, places, sizeof places);
    memcpy(made->strings, strings, sizeof strings);
    // The base is the twin, where the marker is.
    static const unsigned char mark[] = {MARK_BASE, AT(code) + 16,
                                         0,         0,
                                         0,         0,
                                         0,         0,
                                         0,         77,
                                         0,         0,
                                         0,         0,
                                         0,         0,
                                         0,         2 * MARK_KINDS + MARK_NEAR,
                                         0,         16,
                                         0,         24,
                                         1};
    _Static_assert(sizeof mark == sizeof made->mark && AT(code) + 16 < 256, "layout");
    memcpy(made->mark, mark, sizeof mark);
    made->twin = (struct twin_row){(int32_t)(AT(code) - AT(twin)),
                                   (int32_t)(AT(code) + 16 - AT(twin) - 4), 77};
    memcpy(made->names, names, sizeof names);
    made->sections[1] = section(1, AT(map), AT(mark) - AT(map));
    made->sections[2] = section(12, AT(mark), sizeof made->mark);
    made->sections[3] = section(24, AT(twin), sizeof(struct twin_row));
    made->sections[4] = section(36, AT(names), sizeof names);
}

static struct error *open_made(const struct made *made, size_t size, struct image *ret_image)
{
    struct buffer bytes = {0};
    struct error *error = buffer_append(&bytes, made, size);
    return error != NULL ? error : image_parse("made", &bytes, ret_image);
}

static void enables_one_at_a_time(void **state)
{
    struct made made;
    struct image image = {0};
    struct image_patches patches = {0};
    bool *now = NULL;
    size_t found = 9;
    fill(&made);
    assert_null(open_made(&made, sizeof made, &image));
    assert_int_equal(image.candidates.count, 2);
    assert_null(image_find(&image, "no@x:11", &found));
    assert_int_equal(found, 1);
    bool enabled[2] = {false, true};
    assert_null(image_enable(&image, enabled, &patches));
    assert_int_equal(patches.items.count, 2); // marker and entry
    image_patches_deinit(&patches);
    const unsigned char *code = image_code(&image, AT(code), 64);
    assert_int_equal(code[0], 0xe9);
    assert_int_equal(code[1], 11); // from behind the five bytes to the twin
    assert_int_equal(code[16], 0xe9);
    assert_int_equal(code[17], 40 - 21);
    assert_null(image_enabled(&image, &now));
    assert_false(now[0]);
    assert_true(now[1]);
    free(now);
    enabled[0] = true;
    struct error *error = image_enable(&image, enabled, &patches);
    assert_non_null(error);
    assert_non_null(strstr(error_message(error), "same block"));
    error_free(error);
    memset(enabled, 0, sizeof enabled);
    assert_null(image_enable(&image, enabled, &patches));
    image_patches_deinit(&patches);
    assert_memory_equal(image.bytes.data, &made, sizeof made);
    image_close(&image);
}

// The same program, but the function's entry is a jump before it: the function begins at 48.
static void fill_with_prefix(struct made *made)
{
    fill(made);
    const struct entry_prefix prefix = {.function = 77, .jump = JUMP, .distance = 16 - 48};
    memset(made->code, 0, 16);
    memcpy(made->code + 48 - sizeof prefix, &prefix, sizeof prefix);
    made->code[48] = 0xff; // push %rbp
    made->code[49] = 0xf5;
    made->twin.entry = (int32_t)(AT(code) + 48 - AT(twin));
}

static void check_both_ways(const struct made *made, size_t begin, unsigned char back)
{
    struct image image = {0}, again = {0};
    struct image_patches patches = {0};
    assert_null(open_made(made, sizeof *made, &image));
    assert_int_equal(image.entries.items[0].begin, AT(code) + begin);
    assert_null(image_enable(&image, (const bool[]){false, true}, &patches));
    assert_int_equal(patches.items.count, 2);
    // What jumps leads to the jump before the function; nothing else of the function has changed.
    const unsigned char *code = image_code(&image, AT(code), 64);
    assert_int_equal(code[begin], SHORT_JUMP);
    assert_int_equal(code[begin + 1], back);
    assert_int_equal(code[43], JUMP);
    assert_memory_equal(code + 48, made->code + 48, begin - 48);
    assert_memory_equal(code + begin + 2, made->code + begin + 2, 62 - begin);
    // Who reads the changed file knows what was there.
    assert_null(open_made((const struct made *)image.bytes.data, sizeof *made, &again));
    assert_memory_equal(again.entries.items[0].idle, image.entries.items[0].idle, MARK_NOP_SIZE);
    image_patches_deinit(&patches);
    assert_null(image_enable(&again, (const bool[]){false, false}, &patches));
    assert_memory_equal(again.bytes.data, made, sizeof *made);
    image_patches_deinit(&patches);
    image_close(&again);
    image_close(&image);
}

static void enables_an_entry_before_the_function(void **state)
{
    static const unsigned char guarded[] = {0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0xf5};
    struct made made;
    fill_with_prefix(&made);
    check_both_ways(&made, 48, 0xf9);
    memcpy(made.code + 48, guarded, sizeof guarded);
    check_both_ways(&made, 52, 0xf5);
}

// What is written over such an entry's place by somebody else is not touched.
static void refuses_a_prefix_of_another_function(void **state)
{
    struct made made;
    struct image image = {0};
    struct image_patches patches = {0};
    fill_with_prefix(&made);
    made.code[48 - sizeof(struct entry_prefix)]++;
    assert_null(open_made(&made, sizeof made, &image));
    struct error *error = image_enable(&image, (const bool[]){false, true}, &patches);
    assert_non_null(error);
    assert_non_null(strstr(error_message(error), "the file was changed"));
    error_free(error);
    image_close(&image);
}

// Of functions in one section, each is at a distance from the section's base. If the section was
// dropped, so were they.
static void finds_functions_that_share_a_section(void **state)
{
    static const unsigned char next[] = {MARK_NEXT, 12, 77, 0, 0, 0, 0, 0, 0, 0};
    struct made made;
    fill(&made);
    unsigned char *at = made.shared;
    *at = MARK_BASE;
    at[1] = AT(code) + 4;
    memcpy(at + 17, next, sizeof next);
    memcpy(at + 17 + sizeof next, made.mark + 17, sizeof made.mark - 17);
    made.sections[2] = section(12, AT(shared), sizeof next + sizeof made.mark);
    struct image image = {0};
    assert_null(open_made(&made, sizeof made, &image));
    assert_int_equal(image.markers.count, 1);
    assert_int_equal(image.markers.items[0].address, AT(code) + 16);
    assert_int_equal(image.targets.items[1].address, AT(code) + 40);
    image_close(&image);

    at[1] = 0;
    assert_null(open_made(&made, sizeof made, &image));
    assert_int_equal(image.markers.count, 0);
    image_close(&image);

    // A marker before the first of them belongs to nobody.
    at[1] = AT(code) + 4;
    memcpy(at + 17, made.mark + 17, sizeof made.mark - 17);
    made.sections[2] = section(12, AT(shared), sizeof made.mark);
    struct error *error = open_made(&made, sizeof made, &image);
    assert_non_null(error);
    assert_non_null(strstr(error_message(error), "something else than a marker"));
    error_free(error);
}

// To what was there before, which need not be the pristine program.
static void undoes_what_was_enabled(void **state)
{
    struct made made, between;
    struct image image = {0};
    struct image_patches first = {0}, second = {0};
    fill(&made);
    assert_null(open_made(&made, sizeof made, &image));
    assert_null(image_enable(&image, (const bool[]){false, true}, &first));
    memcpy(&between, image.bytes.data, sizeof between);
    assert_null(image_enable(&image, (const bool[]){true, false}, &second));
    assert_memory_not_equal(image.bytes.data, &between, sizeof between);
    image_undo(&image, &second);
    assert_memory_equal(image.bytes.data, &between, sizeof between);
    image_undo(&image, &first);
    assert_memory_equal(image.bytes.data, &made, sizeof made);
    // One place, written twice: only the first patch knows what was there.
    struct image_patches twice = {0};
    for (int i = 0; i < 2; i++) {
        struct image_patch *patch = ARRAY_ADD(&twice.items);
        assert_non_null(patch);
        *patch = first.items.items[0];
    }
    memset(twice.items.items[1].before, 0xcc, twice.items.items[1].size);
    image_undo(&image, &twice);
    assert_memory_equal(image.bytes.data, &made, sizeof made);
    image_patches_deinit(&twice);
    image_patches_deinit(&second);
    image_patches_deinit(&first);
    image_close(&image);
}

static void finds_by_the_end_of_a_path(void **state)
{
    static const char *const right[] = {"no@x:11", "no@sub/x:11", "no@lib/sub/x:11:0"};
    static const char *const wrong[] = {"no@b/sub/x:11", "no@ub/x:11", "no@/x:11", "no@lib/x:11"};
    struct made made;
    struct image image = {0};
    size_t found = 9;
    fill(&made);
    assert_null(open_made(&made, sizeof made, &image));
    for (size_t i = 0; i < 3; i++, found = 9) {
        assert_null(image_find(&image, right[i], &found));
        assert_int_equal(found, 1);
    }
    for (size_t i = 0; i < 4; i++) {
        struct error *error = image_find(&image, wrong[i], &found);
        assert_non_null(error);
        error_free(error);
    }
    image_close(&image);
}

static void tells_why_a_fault_has_no_code(void **state)
{
    static const char *const why[] = {"more candidates than the build", "would make no difference"};
    for (uint32_t i = 0; i < 2; i++) {
        struct made made;
        struct image image = {0};
        size_t found;
        fill(&made);
        made.places[10] = i == 0 ? 0 : PLACE_IDLE;
        assert_null(open_made(&made, sizeof made, &image));
        struct error *error = image_find(&image, "2", &found);
        assert_non_null(error);
        assert_non_null(strstr(error_message(error), why[i]));
        error_free(error);
        image_close(&image);
    }
}

static void knows_clones_that_became_one(void **state)
{
    struct made made;
    for (int same = 0; same < 2; same++) {
        struct image image = {0};
        fill(&made);
        if (same == 1)
            made.mark[21] = made.mark[19];
        assert_null(open_made(&made, sizeof made, &image));
        assert_int_equal(image_same_code(&image, 0), 0);
        assert_int_equal(image_same_code(&image, 1), same == 1 ? 0 : 1);
        image_close(&image);
    }
}

// Whatever is broken: an error, or an image that can be worked with.
static size_t break_every_byte(void (*make)(struct made *made))
{
    struct made made;
    static const unsigned char values[] = {0x00, 0xff, 0x80, 0x01};
    size_t refused = 0;
    for (size_t i = 0; i < sizeof made; i++)
        for (size_t j = 0; j < sizeof values; j++) {
            struct image image = {0};
            struct image_patches patches = {0};
            make(&made);
            ((unsigned char *)&made)[i] ^= values[j];
            struct error *error = open_made(&made, sizeof made, &image);
            bool *enabled = calloc(image.candidates.count + 1, sizeof *enabled);
            assert_non_null(enabled);
            enabled[0] = true;
            refused += error != NULL;
            if (error == NULL)
                error = image_enable(&image, enabled, &patches);
            error_free(error);
            free(enabled);
            image_patches_deinit(&patches);
            image_close(&image);
        }
    return refused;
}

static void survives_broken_bytes(void **state)
{
    assert_true(break_every_byte(fill) > 100);
    assert_true(break_every_byte(fill_with_prefix) > 100);
}

static void refuses_what_is_cut_off(void **state)
{
    struct made made;
    fill(&made);
    for (size_t size = 0; size < sizeof made; size++) {
        struct image image = {0};
        struct error *error = open_made(&made, size, &image);
        assert_non_null(error);
        error_free(error);
    }
}

// The same file with its map packed, at the end.
static void pack(struct made *made, struct buffer *ret_bytes)
{
    unsigned char packed[512];
    uLongf size = sizeof packed;
    fill(made);
    assert_int_equal(compress(packed, &size, (unsigned char *)&made->function,
                              AT(strings) + sizeof made->strings - AT(function)),
                     Z_OK);
    made->map.packed = (uint32_t)size;
    made->map.size = (uint32_t)(sizeof made->map + size);
    made->sections[1] = section(1, sizeof *made, made->map.size);
    memset(&made->function, 0xff, AT(mark) - AT(function));
    assert_null(buffer_append(ret_bytes, made, sizeof *made));
    assert_null(buffer_append(ret_bytes, &made->map, sizeof made->map));
    assert_null(buffer_append(ret_bytes, packed, size));
}

static void reads_a_packed_map(void **state)
{
    struct made made;
    struct image image = {0};
    struct buffer bytes = {0};
    size_t found = 9;
    pack(&made, &bytes);
    assert_null(image_parse("made", &bytes, &image));
    assert_int_equal(image.candidates.count, 2);
    assert_null(image_find(&image, "no@x:11", &found));
    assert_int_equal(found, 1);
    image_close(&image);
}

static void refuses_a_map_that_cannot_be_unpacked(void **state)
{
    struct made made;
    size_t refused = 0;
    for (size_t i = 0; i == 0 || i < made.map.packed; i++) {
        struct buffer bytes = {0};
        struct image image = {0};
        pack(&made, &bytes);
        bytes.data[sizeof made + sizeof made.map + i] ^= 0x40;
        struct error *error = image_parse("made", &bytes, &image);
        if (error != NULL)
            assert_non_null(strstr(error_message(error), "unpacked"));
        else // a bit that means nothing
            assert_int_equal(image.candidates.count, 2);
        refused += error != NULL;
        error_free(error);
        image_close(&image);
    }
    assert_in_range(refused, made.map.packed - 1, made.map.packed);
    // Numbers that the packed bytes cannot give are refused before room is made for them.
    static const uint32_t counts[] = {2, 1u << 20, UINT32_MAX};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct buffer bytes = {0};
        struct image image = {0};
        pack(&made, &bytes);
        made.map.functions = counts[i];
        memcpy(bytes.data + sizeof made, &made.map, sizeof made.map);
        struct error *error = image_parse("made", &bytes, &image);
        assert_non_null(error);
        assert_non_null(
            strstr(error_message(error), counts[i] == 2 ? "unpacked" : "a map is cut off"));
        error_free(error);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(enables_one_at_a_time),
        cmocka_unit_test(enables_an_entry_before_the_function),
        cmocka_unit_test(refuses_a_prefix_of_another_function),
        cmocka_unit_test(finds_functions_that_share_a_section),
        cmocka_unit_test(undoes_what_was_enabled),
        cmocka_unit_test(finds_by_the_end_of_a_path),
        cmocka_unit_test(tells_why_a_fault_has_no_code),
        cmocka_unit_test(knows_clones_that_became_one),
        cmocka_unit_test(survives_broken_bytes),
        cmocka_unit_test(refuses_what_is_cut_off),
        cmocka_unit_test(reads_a_packed_map),
        cmocka_unit_test(refuses_a_map_that_cannot_be_unpacked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
