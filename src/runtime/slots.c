// SPDX-License-Identifier: GPL-3.0-or-later
// Slots of stubs: one per address that a function was bound to, so that pointers to it stay equal.
// Also what stands in a reference instead of that address, and the gates that calls pass.
#include "runtime/slots.h"

#include "runtime/assembly/assembly.h"
#include "runtime/assembly/stubs.h"
#include "runtime/evaluate.h"
#include "runtime/function.h"
#include "runtime/hooks.h"
#include "runtime/identity.h"
#include "runtime/journal.h"
#include "runtime/module.h"
#include "runtime/record.h"
#include "runtime/rows.h"
#include "runtime/runtime.h"
#include "runtime/symbol.h"
#include "runtime/system.h"

static uint32_t slots_used;
static uint32_t first_slot_table[512];          // most processes need no more
static uint32_t *slot_table = first_slot_table; // slot + 1 by real address, open addressing
static uint32_t slot_table_size = 512;          // at least twice the number of slots in use

static bool is_stub(const void *address)
{
    const char *at = address;
    return (at >= runtime_stubs && at < runtime_stub_end) ||
           (at >= runtime_record_stubs && at < runtime_record_stub_end) ||
           (at >= runtime_caller_stubs && at < runtime_caller_stub_end);
}

static void *stub_of(const struct stub_slot *slot)
{
    // A function stays what it is here: pointers to it must stay equal.
    if (rows_have(slot) && record_by_site())
        return (void *)(runtime_record_stub_end - (slot - runtime_slots + 1) * RECORD_STUB_SIZE);
    if (rows_have(slot) && slot->function->by_range)
        return (void *)(runtime_caller_stubs + (slot - runtime_slots) * CALLER_STUB_SIZE);
    return (void *)(runtime_stubs + (slot - runtime_slots) * RUNTIME_STUB_SIZE +
                    slot->function->stub_entry);
}

static void **real_of(const struct stub_slot *slot)
{
    return &runtime_slot_real[slot - runtime_slots];
}

// Writes to the page first: reading it before writing would cost two faults.
void slots_prepare(void)
{
    *(volatile uint32_t *)first_slot_table = 0;
}

// Stands for the function of a slot that was not called yet: most functions that a program imports
// it never calls. Only the name is known, which stands in the slot's `low`.
static const struct function placeholder;

// Reads the name before the function. `low` changes its meaning only after the function was made:
// if the function is still the placeholder, `low` was a name.
static struct function *look_at(const struct stub_slot *slot, const char **ret_name)
{
    *ret_name = (const char *)atomic_load(&slot->low);
    return atomic_load(&slot->function);
}

static bool is_for(const struct stub_slot *slot, const char *name, const void *real)
{
    const char *its_name;
    if (*real_of(slot) != real)
        return false;
    const struct function *function = look_at(slot, &its_name);
    if (function == &placeholder) // its module is never unloaded
        return text_equal(its_name, name);
    return text_equal(function->name, name) &&
           function_same_library(function->library, module_at((uintptr_t)real));
}

static uint32_t *slot_entry(const char *name, const void *real)
{
    uint32_t mask = slot_table_size - 1;
    uint32_t at = (uint32_t)random_mix((uintptr_t)real) & mask;
    while (slot_table[at] != 0) {
        if (is_for(&runtime_slots[slot_table[at] - 1], name, real))
            break;
        at = (at + 1) & mask;
    }
    return &slot_table[at];
}

static bool slot_table_grow(void)
{
    uint32_t size = 4 * slot_table_size;
    uint32_t *table = arena_new(size * sizeof *table);
    if (table == NULL)
        return false;
    for (uint32_t i = 0; i < slots_used; i++) {
        uint32_t at = (uint32_t)random_mix((uintptr_t)runtime_slot_real[i]);
        while (table[at & (size - 1)] != 0)
            at++;
        table[at & (size - 1)] = i + 1;
    }
    slot_table = table;
    slot_table_size = size;
    return true;
}

struct function *slot_make_function(struct stub_slot *slot)
{
    const char *name;
    struct function *function = look_at(slot, &name);
    if (function != &placeholder)
        return function;
    function = function_of(name, module_at((uintptr_t)*real_of(slot)));
    if (function == NULL) {
        atomic_store(&slot->quiet_until, UINT64_MAX);
        return NULL;
    }
    function_bound(function, slot);
    // The function may have been called through another slot already: then this slot's gate is
    // still to be set. A swap, because a store could be reordered after the load of `started`.
    if (atomic_swap_if(&slot->function, (struct function *)&placeholder, function) &&
        atomic_load(&function->started))
        slot_refresh_gate(slot);
    rows_describe(slot);
    return function;
}

void slots_make_functions(void)
{
    for (uint32_t i = 0; i < slots_used; i++)
        if (atomic_load(&runtime_slots[i].function) == &placeholder)
            slot_make_function(&runtime_slots[i]);
}

struct function *slot_function(const struct stub_slot *slot)
{
    struct function *function = atomic_load(&slot->function);
    return function != &placeholder ? function : NULL;
}

uint32_t slots_count(void)
{
    return atomic_load(&slots_used);
}

static struct stub_slot *slot_of(const char *name, void *real, const struct hook *hook,
                                 bool at_call)
{
    uint32_t *entry = slot_entry(name, real);
    if (*entry != 0)
        return &runtime_slots[*entry - 1];
    if (2 * slots_used >= slot_table_size && slot_table_grow())
        entry = slot_entry(name, real);
    if (slots_used == RUNTIME_SLOTS || slots_used + 1 == slot_table_size) {
        runtime.out_of_room = true;
        journal_note(WIRE_NOTE_NO_SLOTS, name);
        return NULL;
    }
    struct function *function =
        at_call ? (struct function *)&placeholder : function_of(name, module_at((uintptr_t)real));
    if (function == NULL)
        return NULL;
    struct stub_slot *slot = &runtime_slots[slots_used];
    *real_of(slot) = real;
    slot->original = slot->next = hook != NULL ? hook->replacement : real;
    slot->gate = (void *)runtime_gate_full;
    slot->length = UINT64_MAX;
    slot->function = function;
    if (at_call)
        slot->low = (uint64_t)name;
    else
        function_bound(function, slot);
    *entry = ++slots_used;
    rows_describe(slot);
    return slot;
}

void *slot_replacement(const char *name, void *real, enum slot_rules rules, const struct hook *hook)
{
    if (is_stub(real) || symbol_programs_plt(name) == real)
        return NULL;
    if (hook != NULL && hook_real(hook->real, hook->name) != real)
        hook = NULL; // another function of that name
    struct stub_slot *slot =
        rules != SLOT_NO_RULES ? slot_of(name, real, hook, rules == SLOT_RULES_AT_CALL) : NULL;
    if (slot != NULL)
        return stub_of(slot);
    return hook != NULL ? hook->replacement : NULL;
}

void *slot_pointer(const char *name, void *real, bool with_rules)
{
    with_rules = with_rules && function_wanted(name) != WANTED_NOT;
    return slot_replacement(name, real, with_rules ? SLOT_RULES : SLOT_NO_RULES, hook_find(name));
}

// Gates.

// Takes no lock: a signal handler may make a function's first call while the thread holds one. The
// order of the stores lets a concurrent call be checked once too often, never passed.
static void watch_callers(struct stub_slot *slot, uint64_t low, uint64_t length)
{
    atomic_store(&slot->length, UINT64_MAX);
    atomic_store(&slot->low, low);
    atomic_store(&slot->length, length);
}

void slot_refresh_gate(struct stub_slot *slot)
{
    struct function *function = atomic_load(&slot->function);
    uint64_t low, length;
    if (function ==
        &placeholder) // `low` still holds its name; slot_make_function() calls this again
        return;
    atomic_store(&slot->gate, (void *)runtime_gate_full);
    watch_callers(slot, 0, UINT64_MAX);
    if (!function->started || slot != function->primary || function->starts_after != 0 ||
        function->asks_after != 0)
        return;
    if (runtime.calls != NULL) {
        if (record_is_all(function))
            atomic_store(&slot->gate, (void *)runtime_gate_record);
        return;
    }
    if (function->site_count == function->rule_count && function->rule_count != 0) {
        atomic_store(&slot->gate, function->late ? (void *)runtime_gate_sites_count
                                                 : (void *)runtime_gate_sites);
    } else if (function->rule_count == 1) {
        const struct wire_rule *rule = &runtime.rules[function->rules[0]];
        if (rule->site != WIRE_NONE && query_single_range(rule->site, &low, &length))
            watch_callers(slot, low, length);
    }
}

void slots_refresh_gates(void)
{
    for (uint32_t i = 0; i < slots_used; i++)
        slot_refresh_gate(&runtime_slots[i]);
}
