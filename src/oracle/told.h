// SPDX-License-Identifier: GPL-3.0-or-later
// Recognises lines by which a program says that something went wrong.
#ifndef ORDEAL_ORACLE_TOLD_H
#define ORDEAL_ORACLE_TOLD_H

#include <stdbool.h>
#include <stddef.h>

enum told_kind {
    TOLD_NOTHING,
    TOLD_LOG,   // a line of a log, at the level of a warning or worse
    TOLD_ERROR, // a sentence about an error
    TOLD_STATE, // an entry of a list, about something that could not be had
    TOLD_COUNT, // a number of errors that is not 0
    TOLD_HTTP,  // a status from 400 to 599
    TOLD_KINDS
};

struct told_rule {
    enum told_kind kind;
    bool any_case;       // letters match their capitals
    bool load_only;      // too short to mean something but in the output of a server's load
    unsigned group;      // of the expression, which is the status; 0: there is none
    const char *pattern; // POSIX extended regular expression
    // A line that it is for and one that it is not for: its test.
    const char *example, *counterexample;
};
extern const struct told_rule told_rules[];
extern const size_t told_rule_count;

// What kinds a text may have.
enum told_where { TOLD_IN_FILE, TOLD_IN_OUTPUT, TOLD_IN_LOAD };

struct told {
    enum told_kind kind;
    unsigned status; // TOLD_HTTP
    // TOLD_STATE: all other lines are as ever or such, too, each in the place of another
    bool instead;
};
struct told told_by(const char *line, size_t size, enum told_where where);

#endif
