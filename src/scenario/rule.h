// SPDX-License-Identifier: GPL-3.0-or-later
// A rule while it is read, and how it is added to the scenario.
#ifndef ORDEAL_SCENARIO_RULE_H
#define ORDEAL_SCENARIO_RULE_H

#include "scenario/action.h"

struct draft {
    struct text library, function; // the function may be a class
    size_t function_start;         // in action_source, for errors about the function
    struct actions actions;
    const struct source *action_source; // with action_start, for errors about the actions
    size_t action_start;
    const struct expression *condition; // or NULL
    const struct source *condition_source;
    struct text text, action_text; // as written; empty: composed from the parts
    struct text condition_text;
    struct text name, class_text;
    unsigned arguments; // how many the user says there are
};
// Checks a draft, compiles it and adds it. Errors show the place in the user's text.
_must_check_ struct error *rule_add(struct scenario *scenario, struct draft *draft);

// Whether a text is in strace's spelling, and reading it.
bool strace_is(const struct source *source);
_must_check_ struct error *strace_add(struct scenario *scenario, const struct source *source);
// Reads one SPEC in either spelling.
_must_check_ struct error *spec_add(struct scenario *scenario, const struct source *source,
                                    const struct named_triggers *names);
// A piece of the source without blanks around it; line breaks within it become blanks.
_must_check_ struct error *spec_trimmed(struct scenario *scenario, const struct source *source,
                                        size_t start, size_t end, struct text *ret_text);

#endif
