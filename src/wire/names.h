// SPDX-License-Identifier: GPL-3.0-or-later
// Names that header files give to functions of the C library: a program that calls open() may
// import open64, __open_2 or __open64_2. Also: which libraries are the C library.
#ifndef ORDEAL_WIRE_NAMES_H
#define ORDEAL_WIRE_NAMES_H

#include <stddef.h>

#define WIRE_PLAIN_NAME 64 // room for a plain name

static const char wire_name_prefixes[][12] = {"__isoc99_", "__isoc23_", "__libc_",
                                              "_IO_",      "__",        ""};
static const char wire_name_suffixes[][16] = {"_unlocked_chk", "64_chk", "_chk", "64_2", "_2", "64",
                                              "_unlocked",     ""};
static const unsigned char wire_suffix_sizes[] = {13, 6, 4, 4, 2, 2, 9, 0};
#define WIRE_NAME_PREFIXES (sizeof wire_name_prefixes / sizeof *wire_name_prefixes)
#define WIRE_NAME_SUFFIXES (sizeof wire_name_suffixes / sizeof *wire_name_suffixes)

// Whether `text` begins with `part`.
static inline int wire_begins(const char *text, const char *part)
{
    while (*part != '\0')
        if (*text++ != *part++)
            return 0;
    return 1;
}

static inline size_t wire_length(const char *text)
{
    size_t size = 0;
    while (text[size] != '\0')
        size++;
    return size;
}

// Whether a name may have a prefix or suffix. A cheap test; most names have none.
static inline int wire_is_decorated(const char *name, size_t size)
{
    if (name[0] == '_')
        return 1;
    char last = size != 0 ? name[size - 1] : '\0';
    if (last != 'k' && last != '2' && last != '4' && last != 'd')
        return 0; // no suffix ends so
    for (size_t i = 0; i + 1 < WIRE_NAME_SUFFIXES; i++) {
        size_t after = wire_suffix_sizes[i];
        if (size > after && name[size - 1] == wire_name_suffixes[i][after - 1] &&
            wire_begins(name + size - after, wire_name_suffixes[i]))
            return 1;
    }
    return 0;
}

// Gives, one call after the other, the names that are left when a prefix and a suffix are taken
// off; the name itself comes last. *state begins as 0. Returns 0 when there are no more.
static inline int wire_plain_name(const char *name, size_t *state, char plain[WIRE_PLAIN_NAME])
{
    size_t size = wire_length(name);
    while (*state < WIRE_NAME_PREFIXES * WIRE_NAME_SUFFIXES) {
        const char *prefix = wire_name_prefixes[*state / WIRE_NAME_SUFFIXES];
        const char *suffix = wire_name_suffixes[*state % WIRE_NAME_SUFFIXES];
        if (!wire_begins(name, prefix)) {
            *state += WIRE_NAME_SUFFIXES - *state % WIRE_NAME_SUFFIXES;
            continue;
        }
        size_t after = wire_suffix_sizes[*state % WIRE_NAME_SUFFIXES];
        ++*state;
        if (after != 0 && (size <= after || name[size - 1] != suffix[after - 1]))
            continue;
        size_t before = wire_length(prefix);
        if (size <= before + after || size - before - after >= WIRE_PLAIN_NAME ||
            !wire_begins(name + size - after, suffix))
            continue;
        for (size_t i = 0; i < size - before - after; i++)
            plain[i] = name[before + i];
        plain[size - before - after] = '\0';
        return 1;
    }
    return 0;
}

// Beginnings of the file names of the C library's parts.
static const char wire_system_libraries[][16] = {"libc.so",       "ld-linux",    "libm.so",
                                                 "libmvec.so",    "libdl.so",    "librt.so",
                                                 "libpthread.so", "libresolv.so"};
static inline int wire_is_system(const char *file_name)
{
    for (size_t i = 0; i < sizeof wire_system_libraries / sizeof *wire_system_libraries; i++)
        if (wire_begins(file_name, wire_system_libraries[i]))
            return 1;
    return 0;
}

#endif
