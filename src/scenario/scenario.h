// SPDX-License-Identifier: GPL-3.0-or-later
// Scenarios: what to inject, where and when. A scenario is read from what the user wrote and
// compiled to a plan. Functions that read fail with an error that shows the place in the user's
// text.
#ifndef ORDEAL_SCENARIO_SCENARIO_H
#define ORDEAL_SCENARIO_SCENARIO_H

#include "base/array.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scenario;

_must_check_ struct error *scenario_new(struct scenario **ret_scenario);
void scenario_free(struct scenario *scenario);

// Adds the rules of one --inject argument: native spelling or strace's.
_must_check_ struct error *scenario_add_spec(struct scenario *scenario, const char *spec);
// The same for rules that only watch functions. `kind` says which functions or calls are meant.
enum scenario_watch {
    SCENARIO_WATCH_VARIANTS, // also the variants of its name, see wire/names.h
    SCENARIO_WATCH_OUTSIDE,  // only calls into another module that is not the C library
};
_must_check_ struct error *scenario_add_watch(struct scenario *scenario, const char *spec,
                                              enum scenario_watch kind);
// The last rule also records which kinds of descriptors its calls get: `argument` is the 1-based
// argument that is a descriptor.
void scenario_watch_descriptor(struct scenario *scenario, unsigned argument);
// Recording with stacks leaves them out at one call site: calls of the last rule's function, which
// must be no glob, that return to this place of a module.
_must_check_ struct error *scenario_add_stackless(struct scenario *scenario, const char *module,
                                                  uint64_t offset);
// Adds the rules of a scenario file. Its content tells whether it is YAML or the XML of the LFI
// article.
_must_check_ struct error *scenario_add_file(struct scenario *scenario, const char *path);
// The same for a text in memory; `name` is for error messages.
_must_check_ struct error *scenario_add_yaml(struct scenario *scenario, const char *name,
                                             const char *text, size_t size);
_must_check_ struct error *scenario_add_xml(struct scenario *scenario, const char *name,
                                            const char *text, size_t size);

// What a rule says, for listings and reports. Strings belong to the scenario.
struct scenario_rule_view {
    const char *text;       // the whole rule in native spelling
    const char *library;    // pattern, or NULL
    const char *function;   // name or glob
    const char *action;     // "-1/EIO", "delay 50ms", …; "watch" if it never injects
    const char *condition;  // after `when`, or ""
    const char *name;       // the label a scenario file gave it, or NULL
    const char *class_text; // the rule about a class that this one is part of, or NULL
};
size_t scenario_rule_count(const struct scenario *scenario);
struct scenario_rule_view scenario_rule(const struct scenario *scenario, size_t index);
// Whether pattern `library:function` of a rule covers a function defined by a library file.
bool scenario_rule_covers(const struct scenario *scenario, size_t index, const char *library_file,
                          const char *function);
// If the rule makes `function` return what it certainly never returns: what it returns when it
// fails
// ("NULL", …). Otherwise NULL.
const char *scenario_rule_impossible_result(const struct scenario *scenario, size_t index,
                                            const char *function);
// Whether the rule gives a value to one function, of which the tables of this room know nothing.
bool scenario_rule_has_value(const struct scenario *scenario, size_t index);

// Whether some rule is about system calls (LIBRARY is WIRE_SYSTEM_CALLS).
bool scenario_names_system_calls(const struct scenario *scenario);
// Whether some rule is about library functions.
bool scenario_names_functions(const struct scenario *scenario);
// Makes rules that name no library rules about the system calls of the same name, for a program
// that has no library functions to intercept. `is_call` says which names are calls. *ret_other is a
// rule for which there is none, and nothing was changed; or NULL.
_must_check_ struct error *scenario_use_system_calls(struct scenario *scenario,
                                                     bool (*is_call)(const char *glob),
                                                     const char **ret_other);

// Whether a condition needs the seed: it draws random numbers, or a plug-in may.
bool scenario_uses_seed(const struct scenario *scenario);
bool scenario_uses_plugins(const struct scenario *scenario);
// The seed a scenario file asks for; false if none does.
bool scenario_seed(const struct scenario *scenario, uint64_t *ret_seed);

// A location named in caller(...) or stack(...); the numbers are the plan's query numbers.
enum scenario_query_kind {
    SCENARIO_QUERY_FUNCTION, // function, optionally in module
    SCENARIO_QUERY_MODULE,   // anywhere in module
    SCENARIO_QUERY_SITE,     // module + offset
    SCENARIO_QUERY_LINE,     // file:line
};
struct scenario_query {
    enum scenario_query_kind kind;
    const char *text;     // as written
    const char *module;   // glob over path, file name or stem; NULL = any
    const char *function; // name or glob
    const char *file;     // path suffix
    unsigned line;
    uint64_t offset; // link-time address of the call or of the instruction after it
};
size_t scenario_query_count(const struct scenario *scenario);
const struct scenario_query *scenario_query(const struct scenario *scenario, size_t index);

// A program variable named in var(...): [module!][function::]name followed by steps.
enum scenario_step_kind {
    SCENARIO_STEP_MEMBER,      // .name
    SCENARIO_STEP_ARROW,       // ->name
    SCENARIO_STEP_INDEX,       // [n]
    SCENARIO_STEP_DEREFERENCE, // prefix *
};
struct scenario_step {
    enum scenario_step_kind kind;
    const char *name;
    int64_t index;
};
struct scenario_variable {
    const char *text;
    const char *module;   // glob or NULL
    const char *function; // the frame it must be a local of, or NULL: innermost frame, then global
    const char *name;
    const struct scenario_step *steps; // applied in order
    size_t step_count;
};
size_t scenario_variable_count(const struct scenario *scenario);
const struct scenario_variable *scenario_variable(const struct scenario *scenario, size_t index);

// Plug-in triggers: files to load into the target. The name in plugin(NAME, …) must match a file
// given with scenario_add_plugin(), by its stem, or be found as NAME.so beside the scenario file or
// in the directories of ORDEAL_PLUGIN_PATH.
_must_check_ struct error *scenario_add_plugin(struct scenario *scenario, const char *path);
size_t scenario_plugin_count(const struct scenario *scenario);
const char *scenario_plugin_file(const struct scenario *scenario, size_t index);

// Calls from sanitizers' libraries, and all calls of valgrind's launcher, are left alone unless a
// condition names one of them or scenario_include_sanitizers() was called.
bool scenario_names_sanitizers(const struct scenario *scenario);
void scenario_include_sanitizers(struct scenario *scenario);

// Compiles everything to a plan (wire/plan.h), which the caller releases. Fails if a plug-in's file
// was not found.
_must_check_ struct error *scenario_compile(const struct scenario *scenario, uint64_t seed,
                                            struct buffer *ret_plan);

#endif
