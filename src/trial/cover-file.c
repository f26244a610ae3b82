// SPDX-License-Identifier: GPL-3.0-or-later
// Makes the coverage file, and reads and writes the fields that change while targets run. Offsets
// and counts come from our own copy, since a target may write anything into the mapping.
#include "trial/cover-file.h"

#include "trial/region-file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct error *fill(struct cover_file *file, const struct wire_coverage *header,
                          const void *modules, const void *blocks)
{
    // A store to a page without storage would kill the target.
    int code = posix_fallocate(file->file, 0, (off_t)file->size);
    if (code != 0)
        return error_from_errno(code, "no room for the table of recovery code, %s", file->path);
    void *map = mmap(NULL, file->size, PROT_READ | PROT_WRITE, MAP_SHARED, file->file, 0);
    if (map == MAP_FAILED)
        return error_from_errno(errno, "cannot map %s", file->path);
    file->map = map;
    *file->map = *header;
    if (header->module_count != 0)
        memcpy((char *)map + header->modules, modules,
               header->module_count * sizeof(struct wire_coverage_module));
    if (header->block_count != 0)
        memcpy((char *)map + header->blocks, blocks,
               header->block_count * sizeof(struct wire_coverage_block));
    return NULL;
}

struct error *cover_file_create(const struct wire_coverage_module *modules, size_t module_count,
                                const struct wire_coverage_block *blocks, size_t block_count,
                                struct cover_file *ret_file)
{
    struct wire_coverage header = {.magic = WIRE_COVERAGE_MAGIC,
                                   .version = WIRE_VERSION,
                                   .module_count = (uint32_t)module_count,
                                   .block_count = (uint32_t)block_count,
                                   .phase = 1,
                                   .modules = sizeof header};
    header.blocks = header.modules + module_count * sizeof *modules;
    header.size = header.blocks + block_count * sizeof *blocks;
    struct cover_file file = {.file = -1,
                              .owner = getpid(),
                              .size = header.size,
                              .modules = header.modules,
                              .module_count = module_count,
                              .blocks = header.blocks,
                              .block_count = block_count};
    struct error *error = region_file_make_shared(true, &file.file, &file.path, &file.directory);
    if (error == NULL)
        error = fill(&file, &header, modules, blocks);
    if (error != NULL) {
        cover_file_close(&file);
        return error;
    }
    *ret_file = file;
    return NULL;
}

void cover_file_close(struct cover_file *file)
{
    if (file->map != NULL)
        munmap(file->map, file->size);
    if (file->file >= 0 && file->path != NULL)
        close(file->file);
    if (file->owner == getpid() && file->path != NULL) {
        unlink(file->path);
        rmdir(file->directory);
    }
    free(file->path);
    free(file->directory);
    *file = (struct cover_file){.file = -1};
}

void cover_file_set_phase(const struct cover_file *file, uint32_t phase)
{
    file->map->phase = phase;
}

uint32_t cover_file_reached(const struct cover_file *file, size_t block)
{
    const struct wire_coverage_block *blocks =
        (const void *)((const char *)file->map + file->blocks);
    return block < file->block_count ? __atomic_load_n(&blocks[block].reached, __ATOMIC_ACQUIRE)
                                     : 0;
}

static struct wire_coverage_module *module_of(const struct cover_file *file, size_t module)
{
    return (struct wire_coverage_module *)((char *)file->map + file->modules) + module;
}

bool cover_file_loaded(const struct cover_file *file, size_t module)
{
    return module < file->module_count &&
           __atomic_load_n(&module_of(file, module)->loaded, __ATOMIC_ACQUIRE) != 0;
}

// A path that would become too long stays as it is, and no module has it then. So does a path that
// a target has overwritten so that it has no end.
void cover_file_map_path(const struct cover_file *file, const char *from, const char *to)
{
    size_t size = strlen(to);
    for (size_t i = 0; i < file->module_count; i++) {
        char *path = module_of(file, i)->path, renamed[WIRE_MODULE_PATH];
        if (strnlen(path, sizeof renamed) == sizeof renamed || strncmp(path, to, size) != 0 ||
            path[size] != '/')
            continue;
        int length = snprintf(renamed, sizeof renamed, "%s%s", from, path + size);
        if (length > 0 && (size_t)length < sizeof renamed)
            strcpy(path, renamed);
    }
}
