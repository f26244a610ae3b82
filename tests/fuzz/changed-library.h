// SPDX-License-Identifier: GPL-3.0-or-later
// Real libraries with bytes changed, cut off or without section headers.
#ifndef ORDEAL_FUZZ_CHANGED_LIBRARY_H
#define ORDEAL_FUZZ_CHANGED_LIBRARY_H

#include "base/array.h"
#include "base/cleanup.h"

#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

// Small ones, so that many can be tried.
static const char *const library_paths[] = {
    "/lib/x86_64-linux-gnu/libanl.so.1",  "/lib/x86_64-linux-gnu/libnss_hesiod.so.2",
    "/lib/x86_64-linux-gnu/libattr.so.1", "/lib/x86_64-linux-gnu/libnss_compat.so.2",
    "/lib/x86_64-linux-gnu/libuuid.so.1", "/lib/x86_64-linux-gnu/libacl.so.1",
};
#define LIBRARIES (sizeof library_paths / sizeof *library_paths)

// What the library needs would be looked at as well, every time: it needs nothing.
static inline void forget_needed(struct buffer *file)
{
    Elf64_Ehdr header;
    if (file->size < sizeof header)
        return;
    memcpy(&header, file->data, sizeof header);
    for (size_t i = 0; i < header.e_phnum; i++) {
        Elf64_Phdr segment;
        size_t at = header.e_phoff + i * sizeof segment;
        if (at > file->size - sizeof segment)
            return;
        memcpy(&segment, file->data + at, sizeof segment);
        if (segment.p_type != PT_DYNAMIC || segment.p_offset > file->size ||
            segment.p_filesz > file->size - segment.p_offset)
            continue;
        for (size_t k = 0; k + sizeof(Elf64_Dyn) <= segment.p_filesz; k += sizeof(Elf64_Dyn)) {
            Elf64_Dyn entry;
            memcpy(&entry, file->data + segment.p_offset + k, sizeof entry);
            if (entry.d_tag == DT_NEEDED)
                entry.d_tag = DT_DEBUG;
            memcpy(file->data + segment.p_offset + k, &entry, sizeof entry);
        }
    }
}

static inline const struct buffer *library(unsigned number)
{
    static struct buffer files[LIBRARIES];
    struct buffer *file = &files[number % LIBRARIES];
    if (file->data == NULL) {
        error_free(buffer_read_file(library_paths[number % LIBRARIES], 1 << 22, file));
        forget_needed(file);
    }
    return file;
}

// The first bytes say which library, and how much of it; the rest are places and what to put there.
static inline size_t change_library(const uint8_t *data, size_t size, uint8_t **ret_bytes)
{
    const struct buffer *file = library(data[0]);
    if (file->size < sizeof(Elf64_Ehdr))
        return 0;
    uint8_t *bytes = malloc(file->size);
    if (bytes == NULL)
        return 0;
    memcpy(bytes, file->data, file->size);
    size_t kept = file->size;
    if ((data[1] & 1) != 0)
        memset(bytes + offsetof(Elf64_Ehdr, e_shoff), 0, sizeof(Elf64_Off));
    if ((data[1] & 2) != 0)
        kept = kept * (data[2] + 1u) / 256;
    for (size_t i = 3; i + 4 <= size; i += 4) {
        size_t place = (size_t)data[i] << 16 | (size_t)data[i + 1] << 8 | data[i + 2];
        bytes[place % file->size] = data[i + 3];
    }
    *ret_bytes = bytes;
    return kept;
}

// Does something with the path of such a library.
static inline void with_changed_library(const uint8_t *data, size_t size,
                                        struct error *(*use)(const char *path))
{
    uint8_t *bytes = NULL;
    size_t count = size >= 3 ? change_library(data, size, &bytes) : 0;
    _cleanup_close_ int file = memfd_create("changed-library", MFD_CLOEXEC);
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (file >= 0 && count != 0 && write(file, bytes, count) == (ssize_t)count)
        error_free(use(path));
    free(bytes);
}

#endif
