// SPDX-License-Identifier: GPL-3.0-or-later
// The actions of a rule, what it does when it fires: parsing, checking, printing. Errors show the
// place in the user's text.
#ifndef ORDEAL_SCENARIO_ACTION_H
#define ORDEAL_SCENARIO_ACTION_H

#include "scenario/expression.h"

struct actions {
    uint32_t set; // enum wire_action bits
    bool watch;   // `watch`: does nothing, on purpose
    bool errno_only;
    bool is_failure;        // the value is what the function returns when it fails with `error`
    bool is_errno;          // the value is the name of an errno
    struct text value_text; // as written
    enum wire_value value_kind;
    uint64_t value[2];
    int32_t error, signal;
    uint64_t delay_ns, short_limit;
    unsigned short_argument; // 1-based; 0 = ask the prototype
    struct wire_out outs[WIRE_OUT_MAX];
    unsigned out_count;
    size_t short_start, value_start, performed_start, after_start; // where they stand, for errors
};

// Parses one action at the current token and adds it to *actions.
_must_check_ struct error *action_parse(struct parser *parser, struct actions *actions);
// Parsers for parts of an action, which the readers of scenario files use, too.
_must_check_ struct error *action_parse_value(struct parser *parser, struct actions *actions);
_must_check_ struct error *action_parse_errno(struct parser *parser, struct actions *actions);
_must_check_ struct error *action_parse_duration(struct parser *parser, struct actions *actions);
_must_check_ struct error *action_parse_signal(struct parser *parser, struct actions *actions);
_must_check_ struct error *action_parse_out_place(struct parser *parser, struct wire_out *ret_out);
_must_check_ struct error *action_parse_out_value(struct parser *parser, struct wire_out *out);

// Checks that the actions go together and suit the function; fills in what depends on it.
_must_check_ struct error *action_check(struct actions *actions, const struct source *source,
                                        size_t offset, const struct pattern *pattern);
// Appends the actions in native spelling.
_must_check_ struct error *action_print(const struct actions *actions, struct buffer *buffer);

#endif
