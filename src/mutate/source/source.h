// SPDX-License-Identifier: GPL-3.0-or-later
// Faults of the model (mutate/model.h) in a source file: where its text has them, and what the text
// would be with one of them.
#ifndef ORDEAL_MUTATE_SOURCE_SOURCE_H
#define ORDEAL_MUTATE_SOURCE_SOURCE_H

#include "base/arena.h"
#include "base/array.h"
#include "base/map.h"
#include "mutate/construct.h"
#include "mutate/model.h"
#include "mutate/source-table.h"

#define SOURCE_EDITS MODEL_MOST_STATEMENTS

struct source_edit { // replaces the bytes from `begin` to `end`
    size_t begin, end;
    const char *text;
};

enum source_placed {    // where a fault's text is
    SOURCE_IN_TEXT,     // outside of macros
    SOURCE_IN_ARGUMENT, // in an argument of a macro
    SOURCE_IN_MACRO,    // in a macro's definition
    SOURCE_NOWHERE,     // in a macro that is not the program's, or in no file
};

struct source_fault {
    enum model_kind kind;
    enum source_how how;
    enum source_reason reason;
    unsigned flags;       // enum source_flag
    const char *file;     // as debug information names it
    const char *path;     // the file whose text is edited
    const char *function; // its name
    unsigned function_line;
    struct source_position at, begin, end;
    const char *name, *other, *detail; // "" if there is none
    unsigned parameter;                // which argument of a call, from 1; 0: none
    const char *replacement;           // of a wrong value, variable or expression; ""
    struct source_edit edits[SOURCE_EDITS];
    unsigned edit_count; // 0: the file's text alone cannot have the fault
    bool unwritable;     // some part of it cannot be edited
    enum source_placed placed;
    // What comes out of macros: where it is written and how, and the thing that all uses of the
    // macro have in common (a key of `anchors`).
    struct source_position written;
    const char *written_detail;
    uint64_t anchor;
};

struct source_faults {
    struct arena arena; // owns the texts
    ARRAY(struct source_fault) items;
    ARRAY(struct construct_line) constructs; // in the order of the source; may be there again
    // How often things that macros write were compiled: a fault that is not found as often has a
    // constraint that does not hold in each use.
    struct map anchors;
    ARRAY(unsigned) anchor_counts; // by value of `anchors`
};

// Loads libclang; an error says why there is none.
_must_check_ struct error *source_need(void);
// Parses one source file with libclang and finds the faults in it and in the headers that are not
// the system's. `arguments` is the compiler's command line, ends with NULL and names one source. A
// file that does not compile is an error.
// `constructs`: also the lines with those.
_must_check_ struct error *source_find(char *const *arguments, bool constructs,
                                       struct source_faults *ret_faults);
void source_faults_deinit(struct source_faults *faults);

// The text of the fault's file with the fault in it.
_must_check_ struct error *source_apply(const struct source_fault *fault, struct buffer *ret_text);

// Several files' faults, as the compiler pass reads them (mutate/source-table.h).
struct source_writer {
    struct buffer rows, strings;
};
// `source` is the file that was compiled, as the command line names it.
_must_check_ struct error *source_writer_add(struct source_writer *writer, const char *source,
                                             const struct source_faults *faults);
_must_check_ struct error *source_writer_finish(const struct source_writer *writer,
                                                struct buffer *ret_table);
void source_writer_deinit(struct source_writer *writer);

#endif
