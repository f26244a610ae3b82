// SPDX-License-Identifier: GPL-3.0-or-later
// Faults that the look at the source found (mutate/source-table.h): which instructions they are,
// and how they are made. The pass does not guess them from instructions.
#ifndef ORDEAL_MUTATE_PASS_SOURCE_H
#define ORDEAL_MUTATE_PASS_SOURCE_H

#include "mutate/model.h"
#include "mutate/pass/pass.h"
#include "mutate/source-table.h"

// The types of the model, in its order; see field_types_fill().
extern struct fault_type field_types[MODEL_KINDS];
void field_types_fill(void);

// The table of one module.
struct source_rows {
    struct buffer file;
    const struct source_row *items; // in `file`
    size_t count;
    const char *strings;
    struct map by_function; // by file and line: indexes of `order`
    uint32_t *order;        // indexes of rows, those of one function together
    bool used;              // a function has rows
    bool lost;              // a function's file is not known to the file system
};
// Reads the table; ends the compiler if it is damaged. NULL: there is none.
struct source_rows *source_rows_read(struct pass *pass, const char *path);
void source_rows_free(struct source_rows *rows);
const char *source_rows_text(const struct source_rows *rows, uint32_t offset);
// The rows of the function that begins at a line of a file.
const uint32_t *source_rows_of(const struct source_rows *rows, const char *file, unsigned line,
                               size_t *ret_count);

// A function's instructions by their places in the source.
struct spot {
    LLVMValueRef instruction;
    uint32_t block, position, line, column; // line 0: in no file, or in another one
};
struct spots {
    LLVMValueRef function;
    struct spot *items; // in the order of the code
    size_t count;
    uint32_t *sorted; // indexes of those with a place, by place
    size_t sorted_count;
    struct map by_instruction;
    struct map by_block; // indexes of the blocks' first instructions
    uint32_t *seen;      // by block: the walk that has been there
    uint32_t blocks, walk;
};
// `file` is the name of the file that places are in, as the table has it.
void spots_read(struct spots *spots, LLVMValueRef function, const char *file);
void spots_deinit(struct spots *spots);
// The path of a function's or instruction's file as the file system knows it; lives as long as the
// process.
const char *spots_path(LLVMMetadataRef scope);
// Finds the instructions of a row in its function. SOURCE_FOUND or why not.
enum source_reason spots_find(struct spots *spots, const struct source_rows *rows,
                              const struct source_row *row, struct pass_place *ret_place);

// Finds the candidates of the table in a function, and puts them among the others.
void pass_find_in_source(struct pass *pass, struct pass_function *subject);

#endif
