// SPDX-License-Identifier: GPL-3.0-or-later
#include "elf/linked.h"

#include "base/cleanup.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_FILES 50000 // that are looked at

bool elf_is_linked(const char *path)
{
    Elf64_Ehdr header;
    _cleanup_close_ int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    return file >= 0 && pread(file, &header, sizeof header, 0) == (ssize_t)sizeof header &&
           memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 &&
           (header.e_type == ET_EXEC || header.e_type == ET_DYN);
}

struct error *elf_linked_below(const char *directory,
                               struct error *(*found)(void *data, const char *path), void *data,
                               bool *ret_cut)
{
    _cleanup_free_ char *real = realpath(directory, NULL);
    char *const roots[] = {real, NULL};
    FTS *tree = real != NULL ? fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL) : NULL;
    if (tree == NULL)
        return error_from_errno(errno, "cannot look into %s", directory);
    struct error *error = NULL;
    size_t seen = 0;
    for (FTSENT *entry; error == NULL && (entry = fts_read(tree)) != NULL;) {
        if (++seen > MOST_FILES)
            break;
        if (entry->fts_info == FTS_F && elf_is_linked(entry->fts_path))
            error = found(data, entry->fts_path);
    }
    fts_close(tree);
    if (error == NULL)
        *ret_cut = seen > MOST_FILES;
    return error;
}
