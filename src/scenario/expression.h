// SPDX-License-Identifier: GPL-3.0-or-later
// The expression language: its tree, and the parser that builds it. Nodes live as long as the
// scenario that the parser works for. Errors show the place in the user's text.
#ifndef ORDEAL_SCENARIO_EXPRESSION_H
#define ORDEAL_SCENARIO_EXPRESSION_H

#include "scenario/lexer.h"
#include "scenario/model.h"

enum expression_kind {
    EXPRESSION_CONSTANT, // number
    EXPRESSION_TEXT,     // text, only beside a comparison
    EXPRESSION_UNARY,    // op left
    EXPRESSION_BINARY,   // left op right
    EXPRESSION_AND,
    EXPRESSION_OR,
    EXPRESSION_NOT,
    EXPRESSION_RANGE,     // left in right..last+step
    EXPRESSION_MATCH,     // left == or ~ text, by number (enum wire_match)
    EXPRESSION_TRIGGER,   // trigger, with what its parse function left in number, other and data
    EXPRESSION_REFERENCE, // @name: left, which stands in `source`
};

struct trigger_kind;

struct expression {
    enum expression_kind kind;
    enum wire_op op;
    size_t start; // byte of the source that an error about it points at
    int64_t number, other;
    struct text text, glob;
    const struct expression *left, *right, *last, *step; // last, step: NULL = none
    const struct trigger_kind *trigger;
    const void *data;
    const struct source *source;
    bool sees_calls; // some trigger within must see every call
    bool has_unit;   // a constant that was written as a duration, or computed from one
};

// Named triggers of a scenario file, usable as @name. The sources live as long as the list.
struct named_trigger {
    struct text name;
    const struct expression *expression;
    const struct source *source;
};
struct named_triggers {
    ARRAY(struct named_trigger) list;
    struct map by_name; // by the name's offset
};
void named_triggers_deinit(struct named_triggers *names);
_must_check_ struct error *named_triggers_add(struct named_triggers *names,
                                              struct named_trigger trigger);

// The triggers an expression may ask.
struct vocabulary {
    const struct trigger_kind *const *triggers;
    size_t count;
    const char *where; // they are described
};

struct parser {
    struct lexer lexer;
    struct scenario *scenario;
    const struct vocabulary *words;     // the stock triggers, unless set after parser_start()
    const struct named_triggers *names; // or NULL
    unsigned depth;                     // of nesting
    unsigned nodes;
};

_must_check_ struct error *parser_start(struct parser *parser, struct scenario *scenario,
                                        const struct source *source, size_t at,
                                        const struct named_triggers *names);
// An expression, up to the first token that cannot belong to it.
_must_check_ struct error *parse_expression(struct parser *parser,
                                            const struct expression **ret_expression);
// An expression that is the whole of a source.
_must_check_ struct error *expression_parse(struct scenario *scenario, const struct source *source,
                                            const struct named_triggers *names,
                                            const struct expression **ret_expression);

// For parse functions of triggers.
_must_check_ struct error *parser_error(const struct parser *parser, size_t offset,
                                        const char *format, ...)
    __attribute__((format(printf, 3, 4)));
_must_check_ struct error *parse_open(struct parser *parser, const char *after); // '('
_must_check_ struct error *parse_close(struct parser *parser);                   // ')'
// A number from `low` to `high`; `what` is for the message.
_must_check_ struct error *parse_bounded(struct parser *parser, const char *what, uint64_t low,
                                         uint64_t high, uint64_t *ret_number);

// Computes an operation on constants; false if it divides by zero. Overflow wraps, and shift counts
// are taken modulo 64.
bool expression_fold(enum wire_op op, int64_t left, int64_t right, int64_t *ret_value);

#endif
