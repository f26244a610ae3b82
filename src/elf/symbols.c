// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the symbol tables of a module once, sorts them, and finds symbols by binary search.
#include "elf/symbols.h"

#include "base/cleanup.h"
#include "elf/internal.h"

#include <stdlib.h>
#include <string.h>

struct reader {
    const struct elf_object *object;
    struct elf_symbols *symbols;
};

static bool in_code(const struct elf_object *object, uint64_t address)
{
    for (size_t i = 0; i < object->segments.count; i++) {
        const GElf_Phdr *segment = &object->segments.items[i];
        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X) != 0 &&
            address >= segment->p_vaddr && address - segment->p_vaddr < segment->p_memsz)
            return true;
    }
    return false;
}

static unsigned leading_underscores(const char *name)
{
    unsigned count = 0;
    while (name[count] == '_' && count < 8)
        count++;
    return strncmp(name, "_Z", 2) == 0 || strncmp(name, "_R", 2) == 0 ? 0 : count;
}

static unsigned rank_symbol(const GElf_Sym *symbol, const char *name)
{
    static const unsigned by_binding[] = {[STB_LOCAL] = 2, [STB_GLOBAL] = 0, [STB_WEAK] = 1};
    unsigned binding = GELF_ST_BIND(symbol->st_info);
    return leading_underscores(name) * 4 + (binding <= STB_WEAK ? by_binding[binding] : 0);
}

static bool classify(const struct reader *reader, const GElf_Sym *symbol,
                     enum elf_symbol_kind *ret_kind)
{
    if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_ABS ||
        symbol->st_shndx == SHN_COMMON)
        return false;
    switch (GELF_ST_TYPE(symbol->st_info)) {
    case STT_FUNC:
    case STT_GNU_IFUNC:
        *ret_kind = ELF_SYMBOL_FUNCTION;
        return in_code(reader->object, symbol->st_value);
    case STT_NOTYPE:
        *ret_kind = ELF_SYMBOL_LABEL;
        return in_code(reader->object, symbol->st_value);
    case STT_OBJECT:
        *ret_kind = ELF_SYMBOL_OBJECT;
        return true;
    default:
        return false;
    }
}

static struct error *add_symbol(const struct reader *reader, const GElf_Sym *symbol,
                                const char *name)
{
    enum elf_symbol_kind kind;
    if (name == NULL || *name == '\0' || !classify(reader, symbol, &kind))
        return NULL;
    size_t name_size = strcspn(name, "@");
    if (name_size == 0)
        return NULL;
    uint64_t end = symbol->st_value + symbol->st_size;
    if (end < symbol->st_value)
        end = UINT64_MAX;
    struct elf_symbol *added = kind == ELF_SYMBOL_OBJECT ? ARRAY_ADD(&reader->symbols->data)
                                                         : ARRAY_ADD(&reader->symbols->code);
    if (added == NULL)
        return error_no_memory();
    *added = (struct elf_symbol){name, name_size, symbol->st_value,
                                 end,  kind,      rank_symbol(symbol, name)};
    return NULL;
}

static struct error *read_section(const struct reader *reader, Elf *elf, Elf_Scn *section,
                                  const GElf_Shdr *header)
{
    Elf_Data *data = elf_object_section(reader->object, elf, section);
    Elf_Scn *names = elf_getscn(elf, header->sh_link);
    uint64_t size = gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT);
    if (data == NULL || names == NULL || elf_object_section(reader->object, elf, names) == NULL)
        return elf_object_check(reader->object);
    for (uint64_t i = 1; i < data->d_size / size && i < INT32_MAX; i++) {
        GElf_Sym symbol;
        if (gelf_getsym(data, (int)i, &symbol) == NULL)
            break;
        TRY(add_symbol(reader, &symbol, elf_strptr(elf, header->sh_link, symbol.st_name)));
    }
    return NULL;
}

static struct error *read_tables(const struct reader *reader, Elf *elf, uint32_t type,
                                 bool *ret_found)
{
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(elf, section)) != NULL) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) == NULL || header.sh_type != type)
            continue;
        *ret_found = true;
        TRY(read_section(reader, elf, section, &header));
    }
    return NULL;
}

static struct error *read_dynamic(const struct reader *reader)
{
    int count = 0;
    Elf_Data *data = elf_object_dynamic_symbols(reader->object, &count);
    for (int i = 1; data != NULL && i < count; i++) {
        GElf_Sym symbol;
        if (gelf_getsym(data, i, &symbol) == NULL)
            break;
        TRY(add_symbol(reader, &symbol, elf_object_string(reader->object, symbol.st_name)));
    }
    return NULL;
}

static int compare_symbols(const void *left, const void *right)
{
    const struct elf_symbol *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    size_t size = a->name_size < b->name_size ? a->name_size : b->name_size;
    int order = memcmp(a->name, b->name, size);
    return order != 0 ? order : (a->name_size > b->name_size) - (a->name_size < b->name_size);
}

static bool same_symbol(const struct elf_symbol *a, const struct elf_symbol *b)
{
    return a->start == b->start && a->kind == b->kind && a->name_size == b->name_size &&
           memcmp(a->name, b->name, a->name_size) == 0;
}

// .symtab and .dynsym contain many of the same symbols.
static void drop_repeats(struct elf_symbols *symbols)
{
    size_t kept = 0;
    for (size_t i = 0; i < symbols->code.count; i++)
        if (kept == 0 || !same_symbol(&symbols->code.items[kept - 1], &symbols->code.items[i]))
            symbols->code.items[kept++] = symbols->code.items[i];
    symbols->code.count = kept;
}

struct extent {
    uint64_t lo, hi;
};

static bool extent_has(struct extent extent, uint64_t address)
{
    return address >= extent.lo && address < extent.hi;
}

// The section, or without sections the segment, that an address is in.
static struct extent extent_around(const struct elf_object *object, uint64_t address)
{
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(object->elf, section)) != NULL) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) == NULL || (header.sh_flags & SHF_ALLOC) == 0)
            continue;
        struct extent extent = {header.sh_addr, header.sh_addr + header.sh_size};
        if (extent_has(extent, address))
            return extent;
    }
    for (size_t i = 0; i < object->segments.count; i++) {
        const GElf_Phdr *segment = &object->segments.items[i];
        struct extent extent = {segment->p_vaddr, segment->p_vaddr + segment->p_memsz};
        if (segment->p_type == PT_LOAD && extent_has(extent, address))
            return extent;
    }
    return (struct extent){address, address};
}

// A function without a size ends where the next function begins, and a label also at the next
// label. The loop goes backwards, so that the next one is known.
static void close_open_ends(const struct elf_object *object, struct elf_symbols *symbols)
{
    uint64_t next_function = UINT64_MAX, next_any = UINT64_MAX; // above the current address
    uint64_t function_here = UINT64_MAX, here = UINT64_MAX;
    struct extent extent = {0, 0};
    for (size_t i = symbols->code.count; i-- > 0;) {
        struct elf_symbol *symbol = &symbols->code.items[i];
        if (symbol->start != here) {
            next_function = function_here;
            next_any = here;
            here = symbol->start;
        }
        if (symbol->kind == ELF_SYMBOL_FUNCTION)
            function_here = symbol->start;
        if (symbol->end != symbol->start)
            continue;
        if (!extent_has(extent, symbol->start))
            extent = extent_around(object, symbol->start);
        uint64_t bound = symbol->kind == ELF_SYMBOL_FUNCTION ? next_function : next_any;
        symbol->end = bound < extent.hi ? bound : extent.hi;
    }
}

static struct error *note_reach(struct elf_symbols *symbols)
{
    symbols->reach = calloc(symbols->code.count + 1, sizeof *symbols->reach);
    if (symbols->reach == NULL)
        return error_no_memory();
    uint64_t highest = 0;
    for (size_t i = 0; i < symbols->code.count; i++) {
        if (symbols->code.items[i].end > highest)
            highest = symbols->code.items[i].end;
        symbols->reach[i] = highest;
    }
    return NULL;
}

static struct error *read_all(const struct reader *reader, Elf *debug)
{
    bool found = false, found_dynamic = false;
    TRY(read_tables(reader, reader->object->elf, SHT_SYMTAB, &found));
    if (!found && debug != NULL)
        TRY(read_tables(reader, debug, SHT_SYMTAB, &found));
    TRY(read_tables(reader, reader->object->elf, SHT_DYNSYM, &found_dynamic));
    if (!found_dynamic)
        TRY(read_dynamic(reader));
    return elf_object_check(reader->object);
}

struct error *elf_symbols_load(const struct elf_object *object, Elf *debug,
                               struct elf_symbols *ret_symbols)
{
    _cleanup_(elf_symbols_deinit) struct elf_symbols symbols = {0};
    struct reader reader = {object, &symbols};
    TRY(read_all(&reader, debug));
    if (symbols.code.count != 0)
        qsort(symbols.code.items, symbols.code.count, sizeof *symbols.code.items, compare_symbols);
    drop_repeats(&symbols);
    close_open_ends(object, &symbols);
    TRY(note_reach(&symbols));
    *ret_symbols = symbols;
    symbols = (struct elf_symbols){0};
    return NULL;
}

void elf_symbols_deinit(struct elf_symbols *symbols)
{
    ARRAY_DEINIT(&symbols->code);
    ARRAY_DEINIT(&symbols->data);
    free(symbols->reach);
    symbols->reach = NULL;
}

static bool is_better(const struct elf_symbol *a, const struct elf_symbol *b)
{
    if (b == NULL || a->kind != b->kind)
        return b == NULL || a->kind < b->kind;
    if (a->start != b->start)
        return a->start > b->start; // the inner one is better
    return a->rank < b->rank;
}

const struct elf_symbol *elf_symbols_find(const struct elf_symbols *symbols, uint64_t address)
{
    size_t low = 0, high = symbols->code.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (symbols->code.items[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    const struct elf_symbol *best = NULL;
    for (size_t i = low; i-- > 0 && symbols->reach[i] > address;) {
        const struct elf_symbol *symbol = &symbols->code.items[i];
        if (best != NULL && best->kind == ELF_SYMBOL_FUNCTION && best->start != symbol->start)
            break;
        if (symbol->end > address && is_better(symbol, best))
            best = symbol;
    }
    return best;
}

Elf *elf_object_handle(const struct elf_object *object)
{
    return object->elf;
}

const char *elf_object_path(const struct elf_object *object)
{
    return object->path;
}

static bool extent_of(const struct elf_object *object, uint32_t flags, uint64_t *ret_lo,
                      uint64_t *ret_hi)
{
    uint64_t lo = UINT64_MAX, hi = 0;
    for (size_t i = 0; i < object->segments.count; i++) {
        const GElf_Phdr *segment = &object->segments.items[i];
        if (segment->p_type != PT_LOAD || segment->p_memsz == 0 ||
            (segment->p_flags & flags) != flags || segment->p_vaddr > UINT64_MAX - segment->p_memsz)
            continue;
        if (segment->p_vaddr < lo)
            lo = segment->p_vaddr;
        if (segment->p_vaddr + segment->p_memsz > hi)
            hi = segment->p_vaddr + segment->p_memsz;
    }
    if (lo >= hi)
        return false;
    *ret_lo = lo;
    *ret_hi = hi;
    return true;
}

bool elf_object_extent(const struct elf_object *object, uint64_t *ret_lo, uint64_t *ret_hi)
{
    return extent_of(object, 0, ret_lo, ret_hi);
}

bool elf_object_code_extent(const struct elf_object *object, uint64_t *ret_lo, uint64_t *ret_hi)
{
    return extent_of(object, PF_X, ret_lo, ret_hi);
}

const unsigned char *elf_object_code(const struct elf_object *object, uint64_t address, size_t size,
                                     size_t *ret_size)
{
    for (size_t i = 0; i < object->segments.count; i++) {
        const GElf_Phdr *segment = &object->segments.items[i];
        if (segment->p_type != PT_LOAD || (segment->p_flags & PF_X) == 0 ||
            address < segment->p_vaddr || address - segment->p_vaddr >= segment->p_filesz)
            continue;
        const unsigned char *bytes = elf_object_segment(object, i);
        if (bytes == NULL)
            return NULL;
        uint64_t left = segment->p_filesz - (address - segment->p_vaddr);
        *ret_size = left < size ? left : size;
        return bytes + (address - segment->p_vaddr);
    }
    return NULL;
}
