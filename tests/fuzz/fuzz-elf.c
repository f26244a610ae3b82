// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes as an ELF file: opening, facts, imports, exports, symbols.
#include "base/cleanup.h"
#include "elf/object.h"
#include "elf/symbols.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t length(const char *text)
{
    return text != NULL ? strlen(text) : 0;
}

// Reads every string and address, so that a stray pointer shows.
static size_t look_around(const struct elf_object *object)
{
    const struct elf_facts *facts = elf_object_facts(object);
    size_t sum = length(facts->interpreter) + length(facts->soname) + length(facts->build_id);
    for (size_t i = 0; i < elf_object_import_count(object); i++)
        sum += length(elf_object_import(object, i)->name) +
               length(elf_object_import(object, i)->version);
    sum += elf_object_exports(object, "read", NULL) + elf_object_exports(object, "f", "V1");
    uint64_t lo, hi;
    if (elf_object_extent(object, &lo, &hi))
        sum += hi - lo;
    _cleanup_(elf_symbols_deinit) struct elf_symbols symbols = {0};
    _cleanup_error_ struct error *error = elf_symbols_load(object, NULL, &symbols);
    for (size_t i = 0; error == NULL && i < symbols.code.count; i++) {
        size_t code_size = 0;
        const unsigned char *code =
            elf_object_code(object, symbols.code.items[i].start, 16, &code_size);
        sum += code != NULL ? code[code_size - 1] : 0;
        sum += elf_symbols_find(&symbols, symbols.code.items[i].end) != NULL;
    }
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_close_ int file = memfd_create("fuzz-elf", MFD_CLOEXEC);
    char path[64];
    if (file < 0 || write(file, data, size) != (ssize_t)size)
        return 0;
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    struct elf_object *object = NULL;
    _cleanup_error_ struct error *error = elf_object_open(path, &object);
    volatile size_t sum = error == NULL ? look_around(object) : 0;
    (void)sum;
    elf_object_close(object);
    return 0;
}
