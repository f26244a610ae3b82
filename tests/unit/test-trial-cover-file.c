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
    assert_null(cover_file_create(modules, MODULES, blocks, BLOCKS, &file));
    free(blocks);
    assert_int_equal(file.size % PAGE, 0);
    char *room = mmap(NULL, file.size + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(room, MAP_FAILED);
    file.map = mremap(file.map, file.size, file.size, MREMAP_MAYMOVE | MREMAP_FIXED, room);
    assert_ptr_equal(file.map, room);
    assert_true(wire_coverage_is_sound(file.map, file.size));
    return file;
}

static struct wire_coverage_module *module_at(const struct cover_file *file, size_t index)
{
    return (struct wire_coverage_module *)((char *)file->map + file->modules) + index;
}

static void what_is_sound(void **state)
{
    struct cover_file file = make();
    const struct wire_coverage header = *file.map;
#define REFUSED(change)                                                                            \
    do {                                                                                           \
        change;                                                                                    \
        assert_false(wire_coverage_is_sound(file.map, file.size));                                 \
        *file.map = header;                                                                        \
        assert_true(wire_coverage_is_sound(file.map, file.size));                                  \
    } while (0)
    REFUSED(file.map->magic++);
    REFUSED(file.map->version--);
    REFUSED(file.map->size--);
    REFUSED(file.map->modules = file.size + 8);
    REFUSED(file.map->modules = UINT64_MAX - 7);
    REFUSED(file.map->modules++);
    REFUSED(file.map->blocks = file.size + 8);
    REFUSED(file.map->blocks -= 4);
    REFUSED(file.map->module_count = UINT32_MAX);
    REFUSED(file.map->block_count++);
    REFUSED(file.map->block_count--); // the second module has more
    assert_false(wire_coverage_is_sound(file.map, sizeof header - 1));
    module_at(&file, 1)->first = UINT32_MAX;
    assert_false(wire_coverage_is_sound(file.map, file.size));
    module_at(&file, 1)->first = 3;
    memset(module_at(&file, 0)->path, 'x', WIRE_MODULE_PATH);
    assert_false(wire_coverage_is_sound(file.map, file.size));
    cover_file_close(&file);
}

static void what_is_reached(void **state)
{
    struct cover_file file = make();
    struct wire_coverage_block *blocks = (void *)((char *)file.map + file.blocks);
    blocks[BLOCKS - 1].reached = 7;
    module_at(&file, 1)->loaded = 1;
    memset(file.map, 0xff, sizeof *file.map); // a target's doing
    assert_int_equal(cover_file_reached(&file, BLOCKS - 1), 7);
    assert_int_equal(cover_file_reached(&file, BLOCKS), 0);
    assert_false(cover_file_loaded(&file, 0));
    assert_true(cover_file_loaded(&file, 1));
    assert_false(cover_file_loaded(&file, MODULES));
    cover_file_close(&file);
}

static void what_is_moved(void **state)
{
    struct cover_file file = make();
    cover_file_map_path(&file, "/tmp/copy", "/home/me");
    assert_string_equal(module_at(&file, 0)->path, "/tmp/copy/program");
    assert_string_equal(module_at(&file, 1)->path, "/lib/library.so");
    char far[WIRE_MODULE_PATH];
    memset(far, 'f', sizeof far - 1);
    far[sizeof far - 1] = '\0';
    cover_file_map_path(&file, far, "/tmp/copy");
    assert_string_equal(module_at(&file, 0)->path, "/tmp/copy/program");
    // Nothing in all that follows ends the path.
    char *path = module_at(&file, 2)->path;
    memset(path + strlen("/lib/"), 'x',
           (size_t)((char *)file.map + file.size - path) - strlen("/lib/"));
    cover_file_map_path(&file, "/other", "/lib");
    assert_memory_equal(path, "/lib/x", 6);
    cover_file_close(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_sound),
        cmocka_unit_test(what_is_reached),
        cmocka_unit_test(what_is_moved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
