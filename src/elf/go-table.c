// SPDX-License-Identifier: GPL-3.0-or-later
// Reads .gopclntab. Every number in it may be wrong: all reads go through take(), which checks the
// bounds, and every list that is walked gets shorter.
#include "elf/go-table.h"

#include <string.h>

#define MAGIC_16 0xfffffffau
#define MAGIC_18 0xfffffff0u
#define MAGIC_20 0xfffffff1u

static bool take(const struct go_table *table, uint64_t at, unsigned width, uint64_t *ret_value)
{
    uint64_t value = 0;
    if (at > table->size || width > table->size - at)
        return false;
    memcpy(&value, table->bytes + at, width);
    *ret_value = value;
    return true;
}

// A word of the header behind its first eight bytes.
static bool header_word(const struct go_table *table, unsigned number, uint64_t *ret_value)
{
    return take(table, 8 + (uint64_t)number * table->pointer, table->pointer, ret_value);
}

bool go_table_open(const void *bytes, size_t size, uint64_t text, struct go_table *ret_table)
{
    struct go_table table = {.bytes = bytes, .size = size};
    uint64_t magic, quantum, pointer;
    if (!take(&table, 0, 4, &magic) || !take(&table, 6, 1, &quantum) ||
        !take(&table, 7, 1, &pointer) || quantum == 0 || (pointer != 4 && pointer != 8) ||
        (magic != MAGIC_16 && magic != MAGIC_18 && magic != MAGIC_20))
        return false;
    table.magic = (uint32_t)magic;
    table.quantum = (uint8_t)quantum;
    table.pointer = (uint8_t)pointer;
    unsigned word = 2; // behind the numbers of functions and files
    if (!header_word(&table, 0, &table.count) ||
        (magic != MAGIC_16 && !header_word(&table, word++, &table.text)))
        return false;
    if (table.text == 0)
        table.text = text;
    uint64_t *const parts[] = {&table.names, &table.units, &table.files, &table.values,
                               &table.functions};
    for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!header_word(&table, word + i, parts[i]) || *parts[i] > size)
            return false;
    if (table.count == 0 || table.count > size / 8)
        return false;
    *ret_table = table;
    return true;
}

// Entry and record of a function; the one behind the last is the end of the code.
static bool function_at(const struct go_table *table, uint64_t index, uint64_t *ret_entry,
                        uint64_t *ret_record)
{
    unsigned width = table->magic == MAGIC_16 ? table->pointer : 4;
    uint64_t at = table->functions + index * 2 * width, entry;
    *ret_record = 0;
    if (!take(table, at, width, &entry))
        return false;
    *ret_entry = table->magic == MAGIC_16 ? entry : table->text + entry;
    return index == table->count || take(table, at + width, width, ret_record);
}

// A field of 32 bits of a function's record, behind its entry.
static bool field(const struct go_table *table, const struct go_function *function, unsigned number,
                  uint64_t *ret_value)
{
    unsigned entry = table->magic == MAGIC_16 ? table->pointer : 4;
    uint64_t record = function->record;
    return record <= table->size &&
           take(table, record + entry + 4 * (uint64_t)number, 4, ret_value);
}
enum {
    FIELD_NAME,
    FIELD_ARGUMENTS,
    FIELD_DEFERS,
    FIELD_FRAMES,
    FIELD_FILES,
    FIELD_LINES,
    FIELD_DATA,
    FIELD_UNIT
};

static const char *text_at(const struct go_table *table, uint64_t part, uint64_t offset)
{
    if (offset > table->size || part > table->size - offset)
        return NULL;
    const char *text = (const char *)table->bytes + part + offset;
    size_t room = table->size - (size_t)(part + offset);
    return memchr(text, '\0', room) != NULL ? text : NULL;
}

bool go_table_at(const struct go_table *table, uint64_t index, struct go_function *ret_function)
{
    struct go_function function = {0};
    uint64_t record, next, name;
    if (index >= table->count || !function_at(table, index, &function.entry, &record) ||
        !function_at(table, index + 1, &function.end, &next) || record > table->size)
        return false;
    function.record = table->functions + record;
    if (!field(table, &function, FIELD_NAME, &name))
        return false;
    function.name = text_at(table, table->names, name);
    if (function.name == NULL)
        return false;
    *ret_function = function;
    return true;
}

bool go_table_find(const struct go_table *table, uint64_t address, struct go_function *ret_function)
{
    uint64_t low = 0, high = table->count, entry, record;
    while (low < high) { // the first function that begins behind the address
        uint64_t middle = low + (high - low) / 2;
        if (!function_at(table, middle, &entry, &record))
            return false;
        if (entry <= address)
            low = middle + 1;
        else
            high = middle;
    }
    struct go_function function;
    if (low == 0 || !go_table_at(table, low - 1, &function) || address < function.entry ||
        address >= function.end)
        return false;
    *ret_function = function;
    return true;
}

static bool take_varint(const struct go_table *table, uint64_t *at, uint32_t *ret_value)
{
    uint32_t value = 0;
    for (unsigned shift = 0; shift < 32; shift += 7) {
        uint64_t byte;
        if (!take(table, (*at)++, 1, &byte))
            return false;
        value |= (uint32_t)(byte & 0x7f) << shift;
        if ((byte & 0x80) == 0) {
            *ret_value = value;
            return true;
        }
    }
    return false;
}

// The value of a list at an address: pairs of a change of the value and for how long it holds.
static bool value_at(const struct go_table *table, const struct go_function *function,
                     unsigned number, uint64_t address, int64_t *ret_value)
{
    uint64_t list;
    if (!field(table, function, number, &list) || list == 0)
        return false;
    uint64_t at = table->values + list, until = function->entry;
    uint32_t value = (uint32_t)-1, change, step;
    for (bool first = true;; first = false) {
        if (!take_varint(table, &at, &change) || (change == 0 && !first) ||
            !take_varint(table, &at, &step))
            return false;
        value += (change & 1) != 0 ? ~(change >> 1) : change >> 1;
        until += (uint64_t)step * table->quantum;
        if (address < until)
            break;
    }
    *ret_value = (int32_t)value;
    return true;
}

bool go_table_frame(const struct go_table *table, const struct go_function *function,
                    uint64_t address, int64_t *ret_size)
{
    return value_at(table, function, FIELD_FRAMES, address, ret_size) && *ret_size >= 0;
}

bool go_table_line(const struct go_table *table, const struct go_function *function,
                   uint64_t address, const char **ret_file, unsigned *ret_line)
{
    int64_t file, line;
    uint64_t unit, offset;
    if (!value_at(table, function, FIELD_FILES, address, &file) || file < 0 ||
        !value_at(table, function, FIELD_LINES, address, &line) || line <= 0 ||
        !field(table, function, FIELD_UNIT, &unit) ||
        !take(table, table->units + 4 * (unit + (uint64_t)file), 4, &offset))
        return false;
    *ret_file = text_at(table, table->files, offset);
    *ret_line = (unsigned)line;
    return *ret_file != NULL;
}

static bool begins(const char *text, size_t size, const char *with)
{
    size_t length = strlen(with);
    return size >= length && memcmp(text, with, length) == 0;
}

static bool is(const char *text, size_t size, const char *other)
{
    return size == strlen(other) && memcmp(text, other, size) == 0;
}

// "net/http.(*Server).Serve" is in net/http: the name up to the first dot behind the last slash
// that is before any bracket. Packages of the standard library have no dot in their first part.
enum go_part go_part_of(const char *function)
{
    size_t size = strcspn(function, "([{"), slash = 0;
    for (size_t i = 0; i < size; i++)
        if (function[i] == '/')
            slash = i + 1;
    size_t package = slash + strcspn(function + slash, ".(");
    if (is(function, package, "internal/runtime/syscall") ||
        is(function, package, "runtime/internal/syscall") || is(function, package, "syscall") ||
        begins(function, package, "internal/syscall/") ||
        begins(function, package, "golang.org/x/sys/") ||
        begins(function, package, "vendor/golang.org/x/sys/"))
        return GO_CALLS;
    if (is(function, package, "runtime") || begins(function, package, "runtime/") ||
        begins(function, package, "internal/runtime/"))
        return GO_RUNTIME;
    size_t first = strcspn(function, "/");
    if (is(function, package, "main") || package == 0 ||
        (first < package && memchr(function, '.', first) != NULL))
        return GO_PROGRAM;
    return GO_STANDARD;
}
