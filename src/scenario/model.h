// SPDX-License-Identifier: GPL-3.0-or-later
// The inside of a scenario: a plan that is being built. Everything that a rule refers to gets its
// number while the rule is read. So errors can show the user's own text, and compiling is only
// layout.
#ifndef ORDEAL_SCENARIO_MODEL_H
#define ORDEAL_SCENARIO_MODEL_H

#include "scenario/scenario.h"
#include "scenario/source.h"
#include "scenario/tables.h"
#include "scenario/texts.h"
#include "wire/plan.h"

// Bounds on what a scenario may hold, against hostile or broken input.
#define SCENARIO_FILE_LIMIT    (64u << 20)
#define SCENARIO_RULE_LIMIT    1000000u
#define SCENARIO_CODE_LIMIT    4096u // instructions of one condition
#define SCENARIO_NEST_LIMIT    64u   // parentheses within parentheses, mappings within mappings
#define SCENARIO_LAST_ARGUMENT 64u

struct pattern {
    struct text name, library;
    const struct prototype *prototype; // or NULL
    bool is_glob;
    uint32_t flags;     // enum wire_pattern_flag beyond WIRE_GLOB
    unsigned arguments; // beyond the prototype: the highest that a rule mentions
    unsigned string_arguments;
    uint32_t rule_count;
};

struct rule {
    struct text text, condition, action, name, class_text;
    uint32_t pattern;
    struct wire_rule wire;
};

struct plugin {
    struct text name, instance; // instance "": stands alone
    struct text directory;      // of the scenario file that named it, or ""
    uint32_t file;              // index of plugin_files, or WIRE_NONE
    const char *missing;        // what to say, and where, if no file turns up
    struct wire_span parameters;
};

struct scenario {
    struct arena arena;
    struct strings strings;
    struct map pattern_map, query_map, variable_map, plugin_map;
    ARRAY(struct pattern) patterns;
    ARRAY(struct rule) rules;
    ARRAY(struct wire_instruction) code;
    ARRAY(struct wire_stack) stacks;
    ARRAY(uint32_t) stack_items;
    ARRAY(uint64_t) stackless; // wire_place()
    ARRAY(struct wire_out) outs;
    ARRAY(struct plugin) plugins;
    ARRAY(struct wire_parameter) parameters;
    ARRAY(struct wire_after) afters;
    ARRAY(struct scenario_query) queries;
    ARRAY(struct scenario_variable) variables;
    ARRAY(struct text) plugin_files; // absolute paths
    struct text directory;           // of the scenario file being read
    uint32_t uses;                   // enum wire_use
    unsigned xml_files;              // read so far
    bool has_seed;
    uint64_t seed;
};

_must_check_ struct error *scenario_text(struct scenario *scenario, const char *chars, size_t size,
                                         struct text *ret_text);
_must_check_ struct error *scenario_text_of(struct scenario *scenario, const struct buffer *buffer,
                                            struct text *ret_text);
// Gives a pattern its number; equal patterns have the same number.
_must_check_ struct error *scenario_intern_pattern(struct scenario *scenario, struct text library,
                                                   struct text name, uint32_t *ret_index);
// Splits and checks `[LIBRARY:]NAME`, read from `source` at `offset`.
_must_check_ struct error *scenario_split_pattern(struct scenario *scenario,
                                                  const struct source *source, size_t offset,
                                                  struct text word, bool quoted,
                                                  struct text *ret_library, struct text *ret_name);
// Keeps an error, and takes it over, in case the plug-in's file is never found.
_must_check_ struct error *scenario_note_missing(struct scenario *scenario, struct plugin *plugin,
                                                 struct error *error);
// Looks for the file of a plug-in instance. It is no error if it is not found yet.
_must_check_ struct error *scenario_find_plugin(struct scenario *scenario, struct plugin *plugin);

#endif
