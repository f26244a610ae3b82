// SPDX-License-Identifier: GPL-3.0-or-later
// The coverage file: what targets may use blindly, and what of theirs the controller believes.
#include "trial/cover-file.h"
#include "wire/coverage-check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

// A file of whole pages, and behind it one that nobody may read.
#define PAGE    4096u
#define MODULES 3u
#define BLOCKS                                                                                     \
    ((4 * PAGE - sizeof(struct wire_coverage) - MODULES * sizeof(struct wire_coverage_module)) /   \
     sizeof(struct wire_coverage_block))

static struct cover_file make(void)
{
    struct cover_file file;
    struct wire_coverage_module modules[MODULES] = {
        {.first = 0, .count = 3, .path = "/home/me/program"},
        {.first = 3, .count = BLOCKS - 3, .path = "/lib/library.so"},
        {.first = 3, .path = "/lib/empty.so"},
    };
    struct wire_coverage_block *blocks = calloc(BLOCKS, sizeof *blocks);
    assert_non_null(blocks);
    blocks[2].flags = WIRE_BLOCK_COUNT;
    assert_null(cover_file_create(modules, MODULES, blocks, BLOCKS, &file));
    free(blocks);
    return file;
}

// The bytes that targets get, with nothing behind them.
static struct wire_coverage *read_back(const struct cover_file *file)
{
    struct cover_copy copy = {0};
    assert_null(cover_copy_make(&copy));
    assert_null(cover_copy_write(&copy, file));
    assert_int_equal((file->size + PAGE - 1) / PAGE * PAGE, 4 * PAGE);
    char *room = mmap(NULL, 5 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(room, MAP_FAILED);
    assert_int_equal(mprotect(room, 4 * PAGE, PROT_READ | PROT_WRITE), 0);
    char *bytes = room + (4 * PAGE - file->size) / 8 * 8;
    assert_int_equal(pread(copy.file, bytes, file->size, 0), file->size);
    cover_copy_close(&copy);
    return (struct wire_coverage *)bytes;
}

static void release(struct wire_coverage *bytes)
{
    munmap((void *)((uintptr_t)bytes & ~(uintptr_t)(PAGE - 1)), 5 * PAGE);
}

static struct wire_coverage_module *module_at(struct wire_coverage *bytes, size_t index)
{
    return (struct wire_coverage_module *)((char *)bytes + bytes->modules) + index;
}

static const struct wire_coverage_block *block_at(struct wire_coverage *bytes, size_t index)
{
    return (const struct wire_coverage_block *)((char *)bytes + bytes->blocks) + index;
}

static void what_is_sound(void **state)
{
    struct cover_file file = make();
    struct wire_coverage *bytes = read_back(&file);
    const struct wire_coverage header = *bytes;
#define REFUSED(change)                                                                            \
    do {                                                                                           \
        change;                                                                                    \
        assert_false(wire_coverage_is_sound(bytes, file.size));                                    \
        *bytes = header;                                                                           \
        assert_true(wire_coverage_is_sound(bytes, file.size));                                     \
    } while (0)
    REFUSED(bytes->magic++);
    REFUSED(bytes->version--);
    REFUSED(bytes->size--);
    REFUSED(bytes->modules = file.size + 8);
    REFUSED(bytes->modules = UINT64_MAX - 7);
    REFUSED(bytes->modules++);
    REFUSED(bytes->blocks = file.size + 8);
    REFUSED(bytes->blocks -= 4);
    REFUSED(bytes->module_count = UINT32_MAX);
    REFUSED(bytes->block_count++);
    REFUSED(bytes->block_count--); // the second module has more
    assert_false(wire_coverage_is_sound(bytes, sizeof header - 1));
    module_at(bytes, 1)->first = UINT32_MAX;
    assert_false(wire_coverage_is_sound(bytes, file.size));
    module_at(bytes, 1)->first = 3;
    memset(module_at(bytes, 0)->path, 'x', WIRE_MODULE_PATH);
    assert_false(wire_coverage_is_sound(bytes, file.size));
    release(bytes);
    cover_file_close(&file);
}

// Faults follow the blocks, and their marks follow those of the blocks.
static void where_faults_are(void **state)
{
    struct cover_file file;
    struct wire_coverage_module module = {.count = 2, .path = "/home/me/program"};
    struct wire_coverage_block blocks[2] = {{.flags = WIRE_BLOCK_STOP}, {.flags = WIRE_BLOCK_STOP}};
    struct wire_stop stops[3] = {{.block = 0}, {.block = 1}, {.block = 1}};
    stops[2].fault.read = WIRE_STATE_READ_ALWAYS;
    assert_null(cover_file_create(&module, 1, blocks, 2, &file));
    assert_int_equal(cover_file_stops(&file), 0);
    assert_null(cover_file_add_stops(&file, stops, 3));
    assert_int_equal(cover_file_stops(&file), 3);
    assert_int_equal(cover_file_marks(&file), 1 + 2 + 3 * WIRE_STOP_MARKS);
    assert_int_equal(cover_file_read(&file, 2), WIRE_STATE_READ_ALWAYS);
    uint32_t marks[1 + 2 + 3 * WIRE_STOP_MARKS] = {[0] = 1};
    assert_ptr_equal(cover_file_stop(&file, marks, 2), marks + 3 + 2 * WIRE_STOP_MARKS);
    assert_true(cover_file_add(&file, marks, sizeof marks / sizeof *marks, 1));
    assert_true(cover_file_loaded(&file, 0));
    // What targets take for sound. (The file is in memory that we share with nobody here.)
    struct wire_coverage *bytes = file.own;
    struct wire_stop *told = (struct wire_stop *)((char *)bytes + bytes->stops);
    const struct wire_coverage header = *bytes;
    REFUSED(bytes->stops = file.size + 8);
    REFUSED(bytes->stops++);
    REFUSED(bytes->stop_count++);
    REFUSED(bytes->stop_count = UINT32_MAX);
    told[1].block = 2; // there are two
    assert_false(wire_coverage_is_sound(bytes, file.size));
    told[1].block = 0;
    told[2].fault.size = WIRE_STATE_BYTES + 1;
    assert_false(wire_coverage_is_sound(bytes, file.size));
    told[2].fault.size = WIRE_STATE_BYTES;
    assert_true(wire_coverage_is_sound(bytes, file.size));
    told[0].block = 1; // not in order
    assert_false(wire_coverage_is_sound(bytes, file.size));
    cover_file_close(&file);
}

static void what_is_reached(void **state)
{
    struct cover_file file = make();
    size_t count = cover_file_marks(&file);
    uint32_t *marks = calloc(count, sizeof *marks), *blocks = marks + MODULES;
    assert_non_null(marks);
    assert_int_equal(count, MODULES + BLOCKS);
    assert_true(cover_file_add(&file, marks, count, 1));
    assert_int_equal(cover_file_reached(&file, 0), 0);
    marks[0] = blocks[0] = 1;
    blocks[2] = 900;
    assert_true(cover_file_add(&file, marks, count, 1));
    marks[1] = blocks[BLOCKS - 1] = 1;
    assert_true(cover_file_add(&file, marks, count, 2));
    assert_int_equal(cover_file_reached(&file, 0), 1); // the first time
    assert_int_equal(cover_file_reached(&file, 1), 0);
    assert_int_equal(cover_file_reached(&file, 2), 900);
    assert_int_equal(cover_file_reached(&file, BLOCKS - 1), 2);
    assert_int_equal(cover_file_reached(&file, BLOCKS), 0);
    assert_true(cover_file_loaded(&file, 0) && cover_file_loaded(&file, 1));
    assert_false(cover_file_loaded(&file, 2) || cover_file_loaded(&file, MODULES));
    // What cannot be true adds nothing, and nothing takes away.
    blocks[1] = 1;
#define IMPOSSIBLE(mark, value)                                                                    \
    do {                                                                                           \
        uint32_t before = mark;                                                                    \
        mark = value;                                                                              \
        assert_false(cover_file_add(&file, marks, count, 2));                                      \
        mark = before;                                                                             \
    } while (0)
    IMPOSSIBLE(marks[0], 0); // its blocks were reached
    IMPOSSIBLE(marks[0], 2);
    IMPOSSIBLE(blocks[0], UINT32_MAX);
    IMPOSSIBLE(blocks[2], UINT32_MAX);
    assert_false(cover_file_add(&file, marks, count - 1, 2));
    assert_int_equal(cover_file_reached(&file, 1), 0);
    memset(marks, 0, count * sizeof *marks);
    assert_true(cover_file_add(&file, marks, count, 2));
    assert_int_equal(cover_file_reached(&file, BLOCKS - 1), 2);
    free(marks);
    cover_file_close(&file);
}

static void what_targets_get(void **state)
{
    struct cover_file file = make();
    struct cover_copy copy = {0};
    struct stat facts;
    assert_null(cover_copy_make(&copy));
    assert_int_equal(fstat(copy.file, &facts), 0);
    assert_int_equal(facts.st_mode & 0777, 0444);
    assert_int_equal(ftruncate(copy.file, 1000000), 0); // what a target of the same user can do
    assert_null(cover_copy_write(&copy, &file));
    assert_int_equal(fstat(copy.file, &facts), 0);
    assert_int_equal(facts.st_size, file.size);
    cover_copy_close(&copy);
    uint32_t marks[MODULES + BLOCKS] = {[0] = 1, [MODULES + 1] = 1};
    assert_true(cover_file_add(&file, marks, MODULES + BLOCKS, 2));
    struct wire_coverage *bytes = read_back(&file);
    assert_true(wire_coverage_is_sound(bytes, file.size));
    assert_int_equal(block_at(bytes, 0)->reached, 0);
    assert_int_equal(block_at(bytes, 1)->reached, 2);
    release(bytes);
    cover_file_close(&file);
}

static void what_is_moved(void **state)
{
    struct cover_file file = make();
    cover_file_map_path(&file, "/tmp/copy", "/home/me");
    char far[WIRE_MODULE_PATH];
    memset(far, 'f', sizeof far - 1);
    far[sizeof far - 1] = '\0';
    cover_file_map_path(&file, far, "/tmp/copy");
    struct wire_coverage *bytes = read_back(&file);
    assert_string_equal(module_at(bytes, 0)->path, "/tmp/copy/program");
    assert_string_equal(module_at(bytes, 1)->path, "/lib/library.so");
    release(bytes);
    cover_file_close(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_sound),   cmocka_unit_test(where_faults_are),
        cmocka_unit_test(what_is_reached), cmocka_unit_test(what_targets_get),
        cmocka_unit_test(what_is_moved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
