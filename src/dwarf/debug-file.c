// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the separate debug file of an object, by build-id or by .gnu_debuglink, and checks that it
// belongs to it.
#include "dwarf/debug-file.h"

#include "base/cleanup.h"
#include "elf/symbols.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#define DEBUG_ROOT "/usr/lib/debug"

void dwarf_debug_file_close(struct dwarf_debug_file *file)
{
    elf_end(file->elf);
    if (file->file >= 0)
        close(file->file);
    *file = (struct dwarf_debug_file){.file = -1};
}

// .gnu_debuglink uses the CRC of zlib.
static bool checksum_file(int file, uint32_t *ret_checksum)
{
    uLong checksum = crc32(0, NULL, 0);
    unsigned char bytes[1 << 14];
    ssize_t size;
    for (off_t at = 0; (size = pread(file, bytes, sizeof bytes, at)) > 0; at += size)
        checksum = crc32(checksum, bytes, (uInt)size);
    *ret_checksum = (uint32_t)checksum;
    return size == 0;
}

static bool same_build_id(Elf *elf, const void *build_id, ssize_t size)
{
    const void *other;
    ssize_t other_size = dwelf_elf_gnu_build_id(elf, &other);
    return other_size == size && memcmp(other, build_id, (size_t)size) == 0;
}

struct wanted {
    const void *build_id; // or NULL
    ssize_t build_id_size;
    uint32_t checksum; // used if there is no build-id
    unsigned char class;
    dev_t device; // of the object itself
    ino_t inode;
};

static bool is_wanted(const struct dwarf_debug_file *file, const struct wanted *wanted)
{
    struct stat status;
    if (fstat(file->file, &status) != 0 || !S_ISREG(status.st_mode) ||
        (status.st_dev == wanted->device && status.st_ino == wanted->inode) ||
        elf_kind(file->elf) != ELF_K_ELF || gelf_getclass(file->elf) != wanted->class)
        return false;
    if (wanted->build_id != NULL)
        return same_build_id(file->elf, wanted->build_id, wanted->build_id_size);
    uint32_t checksum;
    return checksum_file(file->file, &checksum) && checksum == wanted->checksum;
}

static bool try_file(const char *path, const struct wanted *wanted,
                     struct dwarf_debug_file *ret_file)
{
    struct dwarf_debug_file file = {.file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (file.file < 0)
        return false;
    file.elf = elf_begin(file.file, ELF_C_READ, NULL);
    if (file.elf == NULL || !is_wanted(&file, wanted)) {
        dwarf_debug_file_close(&file);
        return false;
    }
    *ret_file = file;
    return true;
}

static bool find_by_build_id(const struct elf_object *object, const struct wanted *wanted,
                             struct dwarf_debug_file *ret_file)
{
    const char *hex = elf_object_facts(object)->build_id;
    char path[512];
    if (hex == NULL || strlen(hex) < 4 || wanted->build_id == NULL)
        return false;
    snprintf(path, sizeof path, DEBUG_ROOT "/.build-id/%.2s/%s.debug", hex, hex + 2);
    return try_file(path, wanted, ret_file);
}

// Beside the object, in .debug beside it, below the debug root.
static bool find_by_link(const char *path, const char *name, const struct wanted *wanted,
                         struct dwarf_debug_file *ret_file)
{
    const char *slash = strrchr(path, '/');
    int size = slash != NULL ? (int)(slash - path) : 1;
    const char *directory = slash != NULL ? path : ".";
    static const struct {
        const char *before, *after;
    } places[] = {{"", ""}, {"", "/.debug"}, {DEBUG_ROOT, ""}};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        char candidate[PATH_MAX + 512];
        int length = snprintf(candidate, sizeof candidate, "%s%.*s%s/%s", places[i].before, size,
                              directory, places[i].after, name);
        if (length > 0 && (size_t)length < sizeof candidate &&
            try_file(candidate, wanted, ret_file))
            return true;
    }
    return false;
}

struct dwarf_debug_file dwarf_debug_file_find(const struct elf_object *object)
{
    Elf *elf = elf_object_handle(object);
    const char *path = elf_object_path(object);
    struct dwarf_debug_file file = {.file = -1};
    struct wanted wanted = {.class = (unsigned char)gelf_getclass(elf)};
    struct stat status;
    if (stat(path, &status) == 0) {
        wanted.device = status.st_dev;
        wanted.inode = status.st_ino;
    }
    wanted.build_id_size = dwelf_elf_gnu_build_id(elf, &wanted.build_id);
    if (wanted.build_id_size <= 0)
        wanted.build_id = NULL;
    GElf_Word checksum = 0;
    const char *name = dwelf_elf_gnu_debuglink(elf, &checksum);
    wanted.checksum = checksum;
    if (find_by_build_id(object, &wanted, &file))
        return file;
    if (name != NULL && *name != '\0' && strchr(name, '/') == NULL) {
        _cleanup_free_ char *real = realpath(path, NULL);
        if (!find_by_link(path, name, &wanted, &file) && real != NULL)
            find_by_link(real, name, &wanted, &file);
    }
    return file;
}
