// SPDX-License-Identifier: GPL-3.0-or-later
// Translation units: which sources there are and how each is compiled, from a compiler's command
// line or from compile_commands.json.
#ifndef ORDEAL_MUTATE_SOURCE_UNITS_H
#define ORDEAL_MUTATE_SOURCE_UNITS_H

#include "base/array.h"
#include "base/words.h"
#include "mutate/level.h"

struct source_unit {
    char *directory; // that it is compiled in; NULL: this one
    char *source;    // as the command names it
    // What starts the compiler (ccache), the compiler, and its options, without the source and what
    // writes files.
    struct words command;
    size_t compiler; // which word it is
};

struct source_units {
    ARRAY(struct source_unit) items;
};

// With a database, the operands are sources that are wanted (all, if there are none), and options
// for all of them. A database that cannot be read, or has not what is wanted, is an error.
_must_check_ struct error *source_units_read(const struct mutate_request *request,
                                             struct source_units *ret_units);
void source_units_deinit(struct source_units *units);

#endif
