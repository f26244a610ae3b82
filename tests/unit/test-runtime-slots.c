// SPDX-License-Identifier: GPL-3.0-or-later
// Slots whose function is made at the first call, where several threads make it at once. The
// runtime is no library that a test could be linked with: this is one file of it, and what it needs
// of the others is played here. What another thread does meanwhile happens in function_bound().
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/slots.c"

#include <string.h>

struct runtime runtime;
struct stub_slot runtime_slots[RUNTIME_SLOTS];
void *runtime_slot_real[RUNTIME_SLOTS];
const char runtime_stubs[RUNTIME_STUB_SIZE * 4];
// None that a reference could lead to already.
extern const char runtime_stub_end[1] __attribute__((alias("runtime_stubs")));
extern const char runtime_record_stubs[1] __attribute__((alias("runtime_stubs")));
extern const char runtime_record_stub_end[1] __attribute__((alias("runtime_stubs")));
extern const char runtime_caller_stubs[1] __attribute__((alias("runtime_stubs")));
extern const char runtime_caller_stub_end[1] __attribute__((alias("runtime_stubs")));

static struct function made = {.name = "f"};
static void (*meanwhile)(struct stub_slot *slot);

void runtime_gate_full(void) {}
void runtime_gate_sites(void) {}
void runtime_gate_sites_count(void) {}
void runtime_gate_record(void) {}
bool record_by_site(void)
{
    return false;
}
void rows_describe(const struct stub_slot *slot) {}
uint64_t random_mix(uint64_t value)
{
    return value;
}
bool text_equal(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}
void *arena_new(size_t size)
{
    return NULL;
}
void journal_note(enum wire_note note, const char *text) {}
struct module *module_at(uintptr_t address)
{
    return NULL;
}
void *symbol_programs_plt(const char *name)
{
    return NULL;
}
const struct hook *hook_find(const char *name)
{
    return NULL;
}
void *hook_real(void **real, const char *name)
{
    return NULL;
}
enum wanted function_wanted(const char *name)
{
    return WANTED;
}
bool function_same_library(const struct module *a, const struct module *b)
{
    return a == b;
}
struct function *function_of(const char *name, const struct module *library)
{
    assert_string_equal(name, "f");
    return &made;
}
void function_bound(struct function *function, struct stub_slot *slot)
{
    if (function->primary == NULL)
        function->primary = slot;
    if (meanwhile != NULL)
        meanwhile(slot);
}
bool record_is_all(const struct function *function)
{
    return true;
}
bool query_single_range(uint32_t query, uint64_t *ret_low, uint64_t *ret_length)
{
    return false;
}

static struct stub_slot *new_slot(void)
{
    static char real[2];
    static int count;
    const char *stub = slot_replacement("f", &real[count++], SLOT_RULES_AT_CALL, NULL);
    return &runtime_slots[(stub - runtime_stubs) / RUNTIME_STUB_SIZE];
}

// Through another version of the function, which has the same rules and the first slot's count.
static void first_call_elsewhere(struct stub_slot *slot)
{
    made.started = 1;
    slot_refresh_gate(made.primary);
    assert_string_equal((const char *)slot->low, "f"); // still needed by who comes through here
}

static void gates_wait_for_the_function(void **state)
{
    static struct wire_calls calls;
    runtime.calls = &calls;
    struct stub_slot *slot = new_slot();
    meanwhile = first_call_elsewhere;
    assert_ptr_equal(slot_make_function(slot), &made);
    meanwhile = NULL;
    assert_ptr_equal(slot->function, &made);
    assert_ptr_equal(slot->gate, runtime_gate_record);
    assert_int_equal(slot->low, 0);
    assert_ptr_equal(slot_make_function(slot), &made); // and no name is looked at
    // The other one has its function, too, and asks for every call.
    struct stub_slot *other = new_slot();
    assert_ptr_not_equal(other, slot);
    assert_ptr_equal(slot_make_function(other), &made);
    assert_ptr_equal(other->gate, runtime_gate_full);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(gates_wait_for_the_function)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
