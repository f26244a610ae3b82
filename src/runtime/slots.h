// SPDX-License-Identifier: GPL-3.0-or-later
// Which stub stands for which function, and pointing the imports of modules at stubs.
#ifndef ORDEAL_RUNTIME_SLOTS_H
#define ORDEAL_RUNTIME_SLOTS_H

#include "runtime/assembly/stubs.h"

#include <stdbool.h>

// ---- slots.c ----

struct function;
struct hook;

enum slot_rules {
    SLOT_NO_RULES,
    SLOT_RULES,
    SLOT_RULES_AT_CALL, // there are some; they are looked for at the first call; the name stays
};

void slots_prepare(void); // before anything is bound
// What to put in place of a function found under a name, or NULL if no rule or hook wants it.
void *slot_pointer(const char *name, void *real, bool with_rules);
void *slot_replacement(const char *name, void *real, enum slot_rules rules,
                       const struct hook *hook);
// A call comes through a slot whose function was not made yet. NULL: no rule is about it.
struct function *slot_make_function(struct stub_slot *slot);
void slots_make_functions(void); // all that were not made yet
// Chooses the cheapest gate that lets no call of interest pass.
void slot_refresh_gate(struct stub_slot *slot);
void slots_refresh_gates(void);
uint32_t slots_count(void);
// NULL: not made yet.
struct function *slot_function(const struct stub_slot *slot);

// ---- bind.c ----

struct module;

void bind_module(struct module *module);
// While a module is bound: writes to a place in it, also where the loader made it read-only.
void bind_write(const struct module *module, void **place, void *value);
void bind_report_unresolved(void);
// References without a type (to a library the module was not linked with) may lead to data.
bool bind_is_code(const void *address);

#endif
