// SPDX-License-Identifier: GPL-3.0-or-later
// Coverage files that targets have written over: what is taken for sound can be used blindly, which
// this does with every byte touched; and the controller does what it does with any of them. The
// input is damage to a sound file: two bytes say where, the third how.
#include "trial/cover-file.h"
#include "wire/coverage-check.h"

#include <stdlib.h>
#include <string.h>

#define MODULES 3u
#define BLOCKS  9u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

static struct cover_file make(void)
{
    struct cover_file file;
    struct wire_coverage_module modules[MODULES] = {
        {.first = 0, .count = 4, .path = "/home/me/program"},
        {.first = 4, .count = 0, .path = "/lib/empty.so"},
        {.first = 4, .count = 5, .path = "/lib/library.so"},
    };
    struct wire_coverage_block blocks[BLOCKS];
    for (uint32_t i = 0; i < BLOCKS; i++)
        blocks[i] =
            (struct wire_coverage_block){.address = 4096 + 16 * i, .code = i, .flags = i % 8};
    require(cover_file_create(modules, MODULES, blocks, BLOCKS, &file) == NULL);
    // Its bytes are enough: the file itself would be left behind.
    struct cover_file copy = file;
    copy.map = malloc(file.size);
    require(copy.map != NULL);
    memcpy(copy.map, file.map, file.size);
    cover_file_close(&file);
    copy.file = -1;
    copy.path = copy.directory = NULL;
    return copy;
}

static void use(const char *bytes)
{
    const struct wire_coverage *file = (const void *)bytes;
    const struct wire_coverage_module *modules = (const void *)(bytes + file->modules);
    const struct wire_coverage_block *blocks = (const void *)(bytes + file->blocks);
    static volatile uint64_t sum;
    for (uint32_t i = 0; i < file->module_count; i++) {
        sum += strlen(modules[i].path);
        for (uint32_t j = 0; j < modules[i].count; j++)
            sum += blocks[modules[i].first + j].address + blocks[modules[i].first + j].put[11];
    }
    (void)sum;
}

// In memory of exactly its size, so that reading past the end is noticed.
static void check(const void *bytes, size_t size)
{
    char *copy = malloc(size);
    require(copy != NULL);
    memcpy(copy, bytes, size);
    if (wire_coverage_is_sound(copy, size))
        use(copy);
    free(copy);
}

static void ask(const struct cover_file *file)
{
    for (size_t i = 0; i <= BLOCKS; i++)
        cover_file_reached(file, i);
    for (size_t i = 0; i <= MODULES; i++)
        cover_file_loaded(file, i);
    cover_file_set_phase(file, 2);
    cover_file_map_path(file, "/tmp/a copy of it", "/home/me");
    cover_file_map_path(file, "", "/lib");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct cover_file file = {.file = -1};
    static char *sound;
    if (sound == NULL) {
        file = make();
        sound = malloc(file.size);
        require(sound != NULL);
        memcpy(sound, file.map, file.size);
        require(wire_coverage_is_sound(sound, file.size));
    }
    memcpy(file.map, sound, file.size);
    for (size_t i = 0; i + 2 < size; i += 3)
        ((uint8_t *)file.map)[(data[i] | (size_t)data[i + 1] << 8) % file.size] ^= data[i + 2];
    check(file.map, file.size);
    if (size > 1) // also of another size than it says
        check(file.map, file.size - data[0] % file.size);
    ask(&file);
    return 0;
}
