// SPDX-License-Identifier: GPL-3.0-or-later
// The table that the Go compiler puts into every program (section .gopclntab): functions, their
// lines, and how large the stack frame is at each instruction. It stays when symbols are stripped.
// Formats of Go 1.16, 1.18 and 1.20 and later. Reads bytes that may be anything.
#ifndef ORDEAL_ELF_GO_TABLE_H
#define ORDEAL_ELF_GO_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Points to the caller's bytes, which must outlive it.
struct go_table {
    const unsigned char *bytes;
    size_t size;
    uint32_t magic;
    uint8_t quantum, pointer;                        // of instructions and pointers, in bytes
    uint64_t count;                                  // of functions
    uint64_t text;                                   // what offsets of functions start from
    uint64_t names, units, files, values, functions; // parts of the table
};
// `text` is the address of the code, for programs whose table leaves it to the loader. False: no
// table of a known format.
bool go_table_open(const void *bytes, size_t size, uint64_t text, struct go_table *ret_table);

struct go_function {
    const char *name; // "main.(*T).run"; ends within the table
    uint64_t entry, end;
    uint64_t record; // where the table describes it
};
// Function 0 to count - 1, by address. False: the table is damaged there.
bool go_table_at(const struct go_table *table, uint64_t index, struct go_function *ret_function);
// The function that contains a link-time address.
bool go_table_find(const struct go_table *table, uint64_t address,
                   struct go_function *ret_function);
// How far the stack pointer is below the return address before the instruction at `address`.
bool go_table_frame(const struct go_table *table, const struct go_function *function,
                    uint64_t address, int64_t *ret_size);
bool go_table_line(const struct go_table *table, const struct go_function *function,
                   uint64_t address, const char **ret_file, unsigned *ret_line);

// What a function belongs to.
enum go_part {
    GO_RUNTIME,  // Go's run time
    GO_CALLS,    // the packages that make system calls for others
    GO_STANDARD, // the rest of the standard library
    GO_PROGRAM,
};
enum go_part go_part_of(const char *function);

#endif
