// SPDX-License-Identifier: GPL-3.0-or-later
// Intercepted functions and the rules that apply to them.
#ifndef ORDEAL_RUNTIME_FUNCTION_H
#define ORDEAL_RUNTIME_FUNCTION_H

#include "runtime/assembly/stubs.h"
#include "runtime/module.h"
#include "wire/traits.h"

// A rule that is checked on every call, with all that the check needs: rules are large.
struct rule_check {
    uint32_t rule;
    uint32_t site;    // query the caller must match, or WIRE_NONE
    uint32_t clauses; // the first of those that must hold; all clauses stand behind the checks
    bool counted;     // the rule is about some occurrences only
    bool gated;       // likewise, or about some callers only
};

// A function with rules: one per name and defining module, however many slots lead to it.
struct function {
    // What every call needs.
    struct stub_slot *primary;        // counts the calls
    const struct rule_check *general; // rules to check on every call, ascending
    uint32_t general_count;
    bool always_asked; // all its calls come to runtime_decide(), which counts them in rows
    bool late;         // a call gets its number only if a rule fires
    bool by_range;     // likewise, and its calls enter at the stubs of callers.S
    bool in_rows;      // its calls are counted in rows.h, not in `count` of its slot
    bool every_call;   // no occurrence may be skipped
    bool only_general; // likewise, and checking `general` is all there is to do
    bool only_by_site; // likewise, but checking the rules for the caller's address is
    const char *name;

    struct function *next; // one that got its slot before
    struct function *next_in_bucket;
    const struct module *library;
    const uint32_t *rules; // all, ascending
    uint32_t rule_count;
    const uint32_t *counted; // rules for one exact occurrence, by occurrence then number
    uint32_t counted_count;
    uint32_t site_count;   // rules for exact call sites, found through the site table
    uint32_t pattern;      // one that matches, for the journal's view of the arguments
    uint32_t stub_entry;   // where in a stub its calls begin
    uint32_t patterns[2];  // that take it, if it is counted in rows
    uint32_t starts_after; // bit i: a call opens window i of plan.afters
    uint32_t asks_after;   // bit i: a call counts in window i
    uint32_t slots;        // how many it has
    uint32_t started;      // 1: a first call was seen; 2: the process is about to end
    uint64_t pending;      // lowest occurrence that must be checked and has not been
    uint64_t credit_limit; // credits may be given out up to this occurrence; 0: none
    uint64_t outside;      // calls that no row has counted, if it is `late`
    uint64_t inherited;    // calls of the parent, up to the fork
    uint64_t at_fork;      // calls so far, noted before a fork
    uint64_t published;    // calls already added to the region's `reached`
    uint64_t inside;       // calls inside observed ones, if those are recorded
    uint64_t forgotten;    // calls that were counted when a forked child was first noticed
    uint32_t recorded;     // 1 + its number in the region's table of calls; 0: not yet known
    uint32_t descriptor;   // as in its rules
    uint32_t condition;    // 1 + a rule that only watches under a condition; 0: none
    uint32_t stackless;    // wire_hash() of its name, if a rule names places without stacks; or 0
    const struct wire_traits *traits; // or NULL
};

enum wanted {
    WANTED_NOT,
    WANTED_OUTSIDE, // where a call leaves its module
    WANTED,
};
enum wanted function_wanted(const char *name); // by a pattern of the plan
bool function_is_named(const char *name);      // likewise, which is no glob

// The one of that name that a module defines, with its rules. NULL: no pattern takes it, or there
// is no memory.
struct function *function_of(const char *name, const struct module *library);
// The same build at the same path, perhaps loaded again somewhere else.
bool function_same_library(const struct module *a, const struct module *b);
void function_bound(struct function *function, struct stub_slot *slot); // a first or further slot

bool function_has_rows(const struct function *function); // rows_calls() tells of its calls
void function_publish(struct function *function);        // its calls so far, into the region
// Likewise, and this call is among them.
void function_publish_call(struct function *function, uint64_t occurrence);
void functions_publish(void);
void function_start(struct function *function); // at its first call
void functions_end(void);                       // the process ends in an orderly way
// A call that no row counts.
void function_count_outside(struct function *function);
// Some thread has no row, or shares one: not all its calls are counted.
void functions_lose_calls(void);
// Calls `each` for functions that have a slot.
void functions_each(void (*each)(struct function *function));
void functions_after_fork(void); // the parent's calls are not the child's to publish

#endif
