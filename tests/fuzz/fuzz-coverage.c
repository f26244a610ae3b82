// SPDX-License-Identifier: GPL-3.0-or-later
// Coverage files that a target has written over: what is taken for sound can be used blindly, which
// this does with every byte touched. And marks that a target has made up: those that are refused
// add nothing, and none takes away what was reached. The input is damage to a sound file, and to
// marks: two bytes say where, the third how.
#include "trial/cover-file.h"
#include "wire/coverage-check.h"

#include <stdlib.h>
#include <string.h>

#define MODULES 3u
#define BLOCKS  9u
#define STOPS   2u

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
    const struct wire_stop stops[STOPS] = {{.block = 1}, {.block = 8}};
    require(cover_file_add_stops(&file, stops, STOPS) == NULL);
    return file;
}

static void use(const char *bytes)
{
    const struct wire_coverage *file = (const void *)bytes;
    const struct wire_coverage_module *modules = (const void *)(bytes + file->modules);
    const struct wire_coverage_block *blocks = (const void *)(bytes + file->blocks);
    const struct wire_stop *stops = (const void *)(bytes + file->stops);
    static volatile uint64_t sum;
    for (uint32_t i = 0; i < file->stop_count; i++)
        sum += blocks[stops[i].block].address + stops[i].fault.keep[stops[i].fault.size / 2];
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

static void add(const struct cover_file *file, const uint8_t *data, size_t size)
{
    uint32_t marks[MODULES + BLOCKS + STOPS * WIRE_STOP_MARKS] = {0}, before[BLOCKS];
    for (size_t i = 0; i + 2 < size; i += 3)
        ((uint8_t *)marks)[(data[i] | (size_t)data[i + 1] << 8) % sizeof marks] ^= data[i + 2];
    for (size_t i = 0; i < BLOCKS; i++)
        before[i] = cover_file_reached(file, i);
    bool added = cover_file_add(file, marks, sizeof marks / sizeof *marks, 2);
    for (size_t i = 0; i < BLOCKS; i++) {
        uint32_t after = cover_file_reached(file, i);
        require(after == before[i] || (added && before[i] == 0 && after != 0));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct cover_file file;
    static char *damaged;
    if (damaged == NULL) {
        file = make();
        damaged = malloc(file.size);
        require(damaged != NULL && wire_coverage_is_sound(file.own, file.size));
    }
    memcpy(damaged, file.own, file.size);
    for (size_t i = 0; i + 2 < size; i += 3)
        damaged[(data[i] | (size_t)data[i + 1] << 8) % file.size] ^= (char)data[i + 2];
    check(damaged, file.size);
    if (size > 1) // also of another size than it says
        check(damaged, file.size - data[0] % file.size);
    add(&file, data, size);
    return 0;
}
