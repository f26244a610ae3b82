// SPDX-License-Identifier: GPL-3.0-or-later
// The bytes of a file's segments, each read as a whole when it is first needed. libelf is not used:
// it keeps what it has read until the end, and for hundreds of libraries that is most of the
// memory.
#include "elf/internal.h"
#include "elf/tables.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static bool read_all(int file, unsigned char *bytes, uint64_t size, uint64_t offset)
{
    for (uint64_t done = 0; done < size;) {
        ssize_t got = pread(file, bytes + done, size - done, (off_t)(offset + done));
        if (got == 0 || (got < 0 && errno != EINTR))
            return false;
        done += got > 0 ? (uint64_t)got : 0;
    }
    return true;
}

const unsigned char *elf_object_segment(const struct elf_object *object, size_t number)
{
    const GElf_Phdr *segment = &object->segments.items[number];
    unsigned char **kept = &object->segment_bytes[number], *none = NULL;
    unsigned char *bytes = __atomic_load_n(kept, __ATOMIC_ACQUIRE);
    if (bytes != NULL)
        return bytes;
    if (segment->p_filesz == 0 || segment->p_offset > object->file_size ||
        segment->p_filesz > object->file_size - segment->p_offset)
        return NULL;
    errno = 0;
    bytes = malloc(segment->p_filesz);
    if (bytes == NULL || !read_all(object->file, bytes, segment->p_filesz, segment->p_offset)) {
        elf_object_note_unread(object, segment->p_offset, segment->p_filesz, errno);
        free(bytes);
        return NULL;
    }
    // Another thread may have been faster.
    if (__atomic_compare_exchange_n(kept, &none, bytes, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return bytes;
    free(bytes);
    return none;
}

void elf_object_forget_bytes(struct elf_object *object)
{
    for (size_t i = 0; object->segment_bytes != NULL && i < object->segments.count; i++) {
        free(object->segment_bytes[i]);
        object->segment_bytes[i] = NULL;
    }
}
