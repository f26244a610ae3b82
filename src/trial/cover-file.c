// SPDX-License-Identifier: GPL-3.0-or-later
// The list of blocks, and copies of it in files. What counts is in memory of our own, which all
// processes of a campaign share and no target has.
#include "trial/cover-file.h"

#include "base/cleanup.h"
#include "trial/region-file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// Threads that count at the same time may exceed WIRE_BLOCK_MOST, but not by far.
#define MOST_COUNTED (WIRE_BLOCK_MOST + 65536u)

static struct wire_coverage_module *modules_of(const struct cover_file *file)
{
    return (struct wire_coverage_module *)((char *)file->own + file->own->modules);
}

static struct wire_coverage_block *blocks_of(const struct cover_file *file)
{
    return (struct wire_coverage_block *)((char *)file->own + file->own->blocks);
}

struct error *cover_file_create(const struct wire_coverage_module *modules, size_t module_count,
                                const struct wire_coverage_block *blocks, size_t block_count,
                                struct cover_file *ret_file)
{
    struct wire_coverage header = {.magic = WIRE_COVERAGE_MAGIC,
                                   .version = WIRE_VERSION,
                                   .module_count = (uint32_t)module_count,
                                   .block_count = (uint32_t)block_count,
                                   .modules = sizeof header};
    header.blocks = header.modules + module_count * sizeof *modules;
    header.stops = header.size = header.blocks + block_count * sizeof *blocks;
    struct cover_file file = {.size = header.size,
                              .room = header.size + module_count * sizeof *file.loaded};
    void *map = mmap(NULL, file.room, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED)
        return error_from_errno(errno, "no room for the table of recovery code");
    file.own = map;
    file.loaded = (uint32_t *)((char *)map + file.size);
    *file.own = header;
    if (module_count != 0)
        memcpy(modules_of(&file), modules, module_count * sizeof *modules);
    if (block_count != 0)
        memcpy(blocks_of(&file), blocks, block_count * sizeof *blocks);
    *ret_file = file;
    return NULL;
}

struct error *cover_file_add_stops(struct cover_file *file, const struct wire_stop *stops,
                                   size_t count)
{
    size_t before = file->size, size = before + count * sizeof *stops;
    size_t loaded = file->own->module_count * sizeof *file->loaded;
    void *map =
        mmap(NULL, size + loaded, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED)
        return error_from_errno(errno, "no room for the table of faults");
    memcpy(map, file->own, before);
    if (count != 0)
        memcpy((char *)map + before, stops, count * sizeof *stops);
    cover_file_close(file);
    file->own = map;
    file->loaded = (uint32_t *)((char *)map + size);
    file->room = size + loaded;
    file->own->size = file->size = size;
    file->own->stop_count = (uint32_t)count;
    return NULL;
}

void cover_file_close(struct cover_file *file)
{
    if (file->own != NULL)
        munmap(file->own, file->room);
    *file = (struct cover_file){0};
}

struct error *cover_copy_make(struct cover_copy *copy)
{
    if (copy->path != NULL && copy->owner == getpid())
        return NULL;
    cover_copy_close(copy);
    unsigned place = 0;
    TRY(region_file_make_shared(false, &place, &copy->file, &copy->path, &copy->directory));
    copy->owner = getpid();
    // Nobody may write to it any more, but through our descriptor. A sandbox shows such a file
    // read-only, even to root.
    return fchmod(copy->file, 0444) < 0 ? error_from_errno(errno, "cannot change %s", copy->path)
                                        : NULL;
}

void cover_copy_close(struct cover_copy *copy)
{
    if (copy->path != NULL)
        close(copy->file);
    if (copy->path != NULL && copy->owner == getpid()) {
        unlink(copy->path);
        rmdir(copy->directory);
    }
    free(copy->path);
    free(copy->directory);
    *copy = (struct cover_copy){.file = -1};
}

// Writes and does not map it: without a sandbox, a target of the same user may have cut it short.
// Nothing may be left of a longer one.
struct error *cover_copy_write(const struct cover_copy *copy, const struct cover_file *file)
{
    size_t at = 0;
    while (at < file->size) {
        ssize_t part = pwrite(copy->file, (const char *)file->own + at, file->size - at, (off_t)at);
        if (part < 0 && errno == EINTR)
            continue;
        if (part <= 0)
            break;
        at += (size_t)part;
    }
    if (at < file->size || ftruncate(copy->file, (off_t)file->size) < 0)
        return error_from_errno(errno, "no room for the table of recovery code, %s", copy->path);
    return NULL;
}

uint32_t cover_file_marks(const struct cover_file *file)
{
    return file->own->module_count + file->own->block_count +
           file->own->stop_count * WIRE_STOP_MARKS;
}

uint32_t cover_file_stops(const struct cover_file *file)
{
    return file->own->stop_count;
}

const uint32_t *cover_file_stop(const struct cover_file *file, const uint32_t *marks, size_t stop)
{
    return marks + file->own->module_count + file->own->block_count + stop * WIRE_STOP_MARKS;
}

uint32_t cover_file_read(const struct cover_file *file, size_t stop)
{
    const char *stops = (const char *)file->own + file->own->stops;
    return ((const struct wire_stop *)(const void *)stops)[stop].fault.read;
}

// Whether a module was loaded, under any of its names: those share their blocks.
static bool was_loaded(const struct cover_file *file, const uint32_t *marks, uint32_t module)
{
    const struct wire_coverage_module *modules = modules_of(file);
    for (uint32_t i = 0; i < file->own->module_count; i++)
        if (marks[i] != 0 && modules[i].first == modules[module].first)
            return true;
    return false;
}

static bool are_possible(const struct cover_file *file, const uint32_t *marks)
{
    const struct wire_coverage_block *blocks = blocks_of(file);
    const struct wire_coverage_module *modules = modules_of(file);
    const uint32_t *reached = marks + file->own->module_count;
    for (uint32_t i = 0; i < file->own->module_count; i++) {
        bool any = false;
        for (uint32_t j = modules[i].first; j < modules[i].first + modules[i].count; j++) {
            if (reached[j] > ((blocks[j].flags & WIRE_BLOCK_COUNT) != 0 ? MOST_COUNTED : 1))
                return false;
            any |= reached[j] != 0;
        }
        if (marks[i] > 1 || (any && !was_loaded(file, marks, i)))
            return false;
    }
    return true;
}

bool cover_file_add(const struct cover_file *file, const uint32_t *marks, size_t count,
                    uint32_t phase)
{
    struct wire_coverage_block *blocks = blocks_of(file);
    if (count != cover_file_marks(file) || !are_possible(file, marks))
        return false;
    for (uint32_t i = 0; i < file->own->module_count; i++)
        if (marks[i] != 0)
            __atomic_store_n(&file->loaded[i], 1, __ATOMIC_RELAXED);
    marks += file->own->module_count;
    for (uint32_t i = 0; i < file->own->block_count; i++) {
        uint32_t none = 0;
        bool counts = (blocks[i].flags & WIRE_BLOCK_COUNT) != 0;
        if (marks[i] != 0) // only the first time
            __atomic_compare_exchange_n(&blocks[i].reached, &none, counts ? marks[i] : phase, false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    }
    return true;
}

uint32_t cover_file_reached(const struct cover_file *file, size_t block)
{
    return block < file->own->block_count
               ? __atomic_load_n(&blocks_of(file)[block].reached, __ATOMIC_RELAXED)
               : 0;
}

bool cover_file_loaded(const struct cover_file *file, size_t module)
{
    return module < file->own->module_count && file->loaded[module] != 0;
}

// A path that would become too long stays as it is, and no module has it then.
void cover_file_map_path(const struct cover_file *file, const char *from, const char *to)
{
    size_t size = strlen(to);
    for (size_t i = 0; i < file->own->module_count; i++) {
        char *path = modules_of(file)[i].path, renamed[WIRE_MODULE_PATH];
        if (strncmp(path, to, size) != 0 || path[size] != '/')
            continue;
        int length = snprintf(renamed, sizeof renamed, "%s%s", from, path + size);
        if (length > 0 && (size_t)length < sizeof renamed)
            strcpy(path, renamed);
    }
}
