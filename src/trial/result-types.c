// SPDX-License-Identifier: GPL-3.0-or-later
// Compares the values of rules with the types that functions return. An injected value goes into
// the registers of a number. What is returned elsewhere would be whatever happened to be there.
#include "trial/result-types.h"

#include "base/cleanup.h"
#include "dwarf/results.h"
#include "trial/linkage.h"

#include <string.h>

static void close_module(struct dwarf_module **module)
{
    dwarf_module_close(*module);
}

static enum dwarf_result result_in(const char *path, const char *function)
{
    _cleanup_(close_module) struct dwarf_module *module = NULL;
    _cleanup_error_ struct error *unreadable = dwarf_module_open(path, &module);
    return unreadable == NULL ? dwarf_result_of(module, function) : DWARF_RESULT_UNKNOWN;
}

// What the library says, else what the callers were compiled with.
static enum dwarf_result result_of(const struct linkage *linkage, const char *function)
{
    size_t definer = linkage_definer(linkage, function, NULL);
    enum dwarf_result result = DWARF_RESULT_UNKNOWN;
    if (definer != LINKAGE_UNDEFINED)
        result = result_in(linkage->modules.items[definer].path, function);
    for (size_t i = 0; i < linkage->modules.count && result == DWARF_RESULT_UNKNOWN; i++) {
        const struct linkage_module *module = &linkage->modules.items[i];
        for (size_t k = 0; k < module->imports.count; k++)
            if (strcmp(module->imports.items[k].name, function) == 0) {
                result = result_in(module->path, function);
                break;
            }
    }
    return result;
}

static struct error *check(const char *text, const char *function, enum dwarf_result result)
{
    switch (result) {
    case DWARF_RESULT_MEMORY:
        return error_new("the rule '%s' cannot be carried out: %s returns a structure in memory, "
                         "not a value; let it be called and change its fields, or fail another "
                         "function",
                         text, function);
    case DWARF_RESULT_MIXED:
        return error_new("the rule '%s' cannot be carried out: %s returns a structure of integers "
                         "and floating point numbers, and a value would be only a part of it",
                         text, function);
    case DWARF_RESULT_COMPLEX_LONG:
        return error_new("the rule '%s' cannot be carried out: %s returns complex long double, "
                         "which can be injected only into functions of the C library",
                         text, function);
    default:
        return NULL;
    }
}

struct error *result_types_check(const struct scenario *scenario, const char *command)
{
    _cleanup_(linkage_deinit) struct linkage linkage = {0};
    const char *last = NULL;
    size_t checked = 0, count = scenario_rule_count(scenario);
    for (size_t i = 0; i < count && checked < RESULT_TYPES_CHECKED; i++) {
        const struct scenario_rule_view rule = scenario_rule(scenario, i);
        if (!scenario_rule_has_value(scenario, i) ||
            (last != NULL && strcmp(last, rule.function) == 0))
            continue;
        last = rule.function;
        if (checked++ == 0) {
            _cleanup_error_ struct error *unreadable = linkage_find(command, &linkage);
            if (unreadable != NULL) // the trial itself will tell
                return NULL;
        }
        TRY(check(rule.text, rule.function, result_of(&linkage, rule.function)));
    }
    return NULL;
}
