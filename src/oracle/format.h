// SPDX-License-Identifier: GPL-3.0-or-later
// Packed files, archives, images and databases: how they begin, and which installed program can
// tell what they hold, and whether they are damaged.
#ifndef ORDEAL_ORACLE_FORMAT_H
#define ORDEAL_ORACLE_FORMAT_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct format {
    const char *name; // "gzip", as in sentences and in the store
    const char *magic;
    size_t size, offset; // of the magic bytes
    const char *tool;    // a program of the script that may not be installed
    // For sh. Writes what the file on stdin holds to stdout and, for archives, what is in it to
    // stderr. Ends with 0 if the file is sound, with FORMAT_SOUND_ONLY if it is but what it holds
    // is not known. A program that cannot read stdin opens /proc/self/fd/0.
    const char *script;
    bool packs;   // it holds another file, which may be an archive
    bool archive; // it holds other files
    bool streams; // the script reads a pipe, too: it can be used on what another one unpacks
    // Endings of files beside it without which it is incomplete, such as a journal; NULL: none.
    const char *const *beside;
};
#define FORMAT_SOUND_ONLY 99
#define FORMAT_NO_TOOL    127
#define FORMAT_BEGINNING  512 // bytes of a file that format_find() wants to see
extern const struct format formats[];
extern const size_t format_count;

// The format of a file that begins so, or NULL.
const struct format *format_find(const void *beginning, size_t size);
const struct format *format_named(const char *name); // NULL: there is none

// Makes the whole script: what `format` says or, if `inner` is not NULL, what that says of the
// unpacked file. It ends with FORMAT_NO_TOOL if a tool is missing. The caller frees it.
_must_check_ struct error *format_script(const struct format *format, const struct format *inner,
                                         char **ret_script);

enum decoding_state {
    DECODING_NONE, // not tried, or the tool is missing or did not come to an end
    DECODING_SOUND,
    DECODING_DAMAGED,
};
struct decoding {
    enum decoding_state state;
    bool known;    // SOUND: what it holds is known
    uint64_t hash; // of what it holds
    // DAMAGED: which program refused it, and what it said, a line in quotes or NULL
    const char *tool;
    char *said;
};

#endif
