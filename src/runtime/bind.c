// SPDX-License-Identifier: GPL-3.0-or-later
// Rewrites the import slots of modules: finds the references the plan names, learns where they were
// bound to, and points them at stubs. Everything here runs under the loader's lock or before main.
#include "runtime/runtime.h"

#include "wire/names.h"

#include <linux/mman.h>

static struct function *functions;
static struct function *function_buckets[256]; // by name
static uint32_t slots_used;
static uint32_t first_slot_table[512];          // most processes need no more
static uint32_t *slot_table = first_slot_table; // slot + 1 by real address, open addressing
static uint32_t slot_table_size = 512;          // at least twice as many as there are slots

struct function *bind_functions(void)
{
    return functions;
}

static bool is_stub(const void *address)
{
    return (const char *)address >= runtime_stubs && (const char *)address < runtime_stub_end;
}

static void *stub_of(const struct slot *slot)
{
    return (void *)(runtime_stubs + (slot - runtime_slots) * RUNTIME_STUB_SIZE);
}

// Patterns.

static const struct wire_pattern *pattern_at(uint32_t index)
{
    return (const struct wire_pattern *)plan_array(runtime.plan->patterns) + index;
}

static bool pattern_takes(const struct wire_pattern *pattern, const struct module *library)
{
    if ((pattern->flags & WIRE_OUTSIDE) != 0 && library != NULL && library->system)
        return false;
    return pattern->library == 0 ||
           (library != NULL && module_is_named(library, plan_string(pattern->library)));
}

typedef bool each_pattern(uint32_t pattern, void *context); // false: that is enough

static bool patterns_exact(const char *name, uint32_t flags, each_pattern *each, void *context)
{
    const struct wire_plan *plan = runtime.plan;
    const uint32_t *table = plan_array(plan->exact_hash);
    uint32_t mask = plan->exact_hash.count - 1;
    if (plan->exact_hash.count != 0)
        for (uint32_t at = wire_hash(name) & mask; table[at] != 0; at = (at + 1) & mask) {
            const struct wire_pattern *pattern = pattern_at(table[at] - 1);
            if ((pattern->flags & flags) == flags && text_equal(plan_string(pattern->name), name) &&
                !each(table[at] - 1, context))
                return false;
        }
    return true;
}

// Calls `each` for every pattern that names this function, until it returns false.
static void patterns_named(const char *name, each_pattern *each, void *context)
{
    const struct wire_plan *plan = runtime.plan;
    char plain[WIRE_PLAIN_NAME];
    if (name[0] == '\0' || !patterns_exact(name, 0, each, context))
        return;
    if ((plan->uses & WIRE_USE_VARIANTS) != 0 && wire_is_decorated(name, text_length(name)))
        for (size_t state = 0; wire_plain_name(name, &state, plain);)
            if (!text_equal(plain, name) && !patterns_exact(plain, WIRE_VARIANTS, each, context))
                return;
    const uint32_t *globs = plan_array(plan->globs);
    for (uint32_t i = 0; i < plan->globs.count; i++) {
        const char *glob = plan_string(pattern_at(globs[i])->name);
        bool all = glob[0] == '*' && glob[1] == '\0';
        if ((all || text_glob(glob, name)) && !each(globs[i], context))
            return;
    }
}

enum wanted {
    WANTED_NOT,
    WANTED_OUTSIDE, // where a call leaves its module
    WANTED,
};

static bool note_wanted(uint32_t pattern, void *context)
{
    enum wanted *wanted = context;
    bool outside = (pattern_at(pattern)->flags & WIRE_OUTSIDE) != 0;
    *wanted = outside ? WANTED_OUTSIDE : WANTED;
    return outside;
}

static enum wanted is_wanted(const char *name)
{
    enum wanted wanted = WANTED_NOT;
    patterns_named(name, note_wanted, &wanted);
    return wanted;
}

// Functions: the rules of all patterns that take them, in the user's order.

struct gathering {
    const struct module *library;
    uint32_t *rules;
    uint32_t count;
    uint32_t pattern;
    uint32_t patterns[64]; // for after(); more than enough for one name
    uint32_t pattern_count;
};

static bool count_rules(uint32_t index, void *context)
{
    struct gathering *all = context;
    const struct wire_pattern *pattern = pattern_at(index);
    if (!pattern_takes(pattern, all->library))
        return true;
    if (all->pattern_count < 64)
        all->patterns[all->pattern_count++] = index;
    const uint32_t *refs = (const uint32_t *)plan_array(runtime.plan->rule_refs);
    for (uint32_t i = 0; i < pattern->rule_refs.count; i++) {
        if (all->rules != NULL)
            all->rules[all->count] = refs[pattern->rule_refs.offset + i];
        all->count++;
    }
    if (pattern->rule_refs.count != 0 || all->pattern == WIRE_NONE)
        all->pattern = index;
    return true;
}

typedef bool earlier(uint32_t a, uint32_t b);

static bool by_number(uint32_t a, uint32_t b)
{
    return a < b;
}

static bool by_occurrence(uint32_t a, uint32_t b)
{
    uint64_t x = runtime.rules[a].count_first, y = runtime.rules[b].count_first;
    return x != y ? x < y : a < b;
}

// Heap sort: a scenario may hold ten thousand rules for one function.
static void sort(uint32_t *items, uint32_t count, earlier *before)
{
    for (uint32_t end = count, start = count / 2; end > 1;) {
        if (start > 0) {
            start--;
        } else {
            end--;
            uint32_t top = items[0];
            items[0] = items[end];
            items[end] = top;
        }
        uint32_t root = start;
        for (uint32_t child; (child = 2 * root + 1) < end; root = child) {
            if (child + 1 < end && before(items[child], items[child + 1]))
                child++;
            if (!before(items[root], items[child]))
                break;
            uint32_t swapped = items[root];
            items[root] = items[child];
            items[child] = swapped;
        }
    }
}

static bool is_sorted(const uint32_t *items, uint32_t count, earlier *before)
{
    for (uint32_t i = 1; i < count; i++)
        if (before(items[i], items[i - 1]))
            return false;
    return true;
}

// Rules of one kind, out of all of a function; the list of all where that is the same.
static const uint32_t *pick(const struct function *function, uint32_t count,
                            bool (*is_kind)(const struct wire_rule *rule))
{
    if (count == function->rule_count || count == 0)
        return function->rules;
    uint32_t *list = arena_new(count * sizeof *list), at = 0;
    for (uint32_t i = 0; list != NULL && i < function->rule_count; i++)
        if (is_kind(&runtime.rules[function->rules[i]]))
            list[at++] = function->rules[i];
    return list;
}

static bool is_by_site(const struct wire_rule *rule)
{
    return rule->site != WIRE_NONE && rule->site_exact;
}

static bool is_counted(const struct wire_rule *rule)
{
    return !is_by_site(rule) && rule->count_first == rule->count_last;
}

static bool is_general(const struct wire_rule *rule)
{
    return !is_by_site(rule) && !is_counted(rule);
}

static const uint32_t *by_occurrence_first(const uint32_t *list, uint32_t count)
{
    if (list == NULL || is_sorted(list, count, by_occurrence))
        return list;
    uint32_t *sorted = arena_new(count * sizeof *sorted);
    if (sorted == NULL)
        return NULL;
    memcpy(sorted, list, count * sizeof *sorted);
    sort(sorted, count, by_occurrence);
    return sorted;
}

// Splits the rules by how a call finds them: by its site, by its occurrence, or one after another.
static bool classify(struct function *function)
{
    for (uint32_t i = 0; i < function->rule_count; i++) {
        const struct wire_rule *rule = &runtime.rules[function->rules[i]];
        function->site_count += is_by_site(rule);
        function->counted_count += is_counted(rule);
        function->general_count += is_general(rule);
        function->every_call |=
            rule->count_first <= 1 && rule->count_step <= 1 && rule->count_last == UINT64_MAX;
    }
    function->general = pick(function, function->general_count, is_general);
    function->counted = by_occurrence_first(pick(function, function->counted_count, is_counted),
                                            function->counted_count);
    return function->general != NULL && function->counted != NULL;
}

static void note_windows(struct function *function, const struct gathering *all)
{
    const struct wire_after *afters = plan_array(runtime.plan->afters);
    for (uint32_t i = 0; i < runtime.plan->afters.count && i < WIRE_AFTER_MAX; i++) {
        for (uint32_t p = 0; p < all->pattern_count; p++)
            if (afters[i].pattern == all->patterns[p])
                function->starts_after |= 1u << i;
        for (uint32_t r = 0; r < function->rule_count; r++)
            if (function->rules[r] == afters[i].rule)
                function->asks_after |= 1u << i;
    }
    function->every_call |= function->starts_after != 0 || function->asks_after != 0;
}

// The rules that count_rules() has counted, ascending; of one pattern they stand in the plan.
static const uint32_t *gather(const char *name, struct gathering *all)
{
    const uint32_t *refs = (const uint32_t *)plan_array(runtime.plan->rule_refs);
    if (all->pattern_count == 1)
        return refs + pattern_at(all->patterns[0])->rule_refs.offset;
    uint32_t *rules = arena_new(all->count * sizeof *rules + 1);
    if (rules == NULL)
        return NULL;
    *all = (struct gathering){.library = all->library, .rules = rules, .pattern = WIRE_NONE};
    patterns_named(name, count_rules, all);
    if (!is_sorted(rules, all->count, by_number))
        sort(rules, all->count, by_number);
    return rules;
}

static struct function *function_new(const char *name, const struct module *library)
{
    struct gathering all = {.library = library, .pattern = WIRE_NONE};
    patterns_named(name, count_rules, &all);
    if (all.pattern_count == 0)
        return NULL;
    struct function *function = arena_new(sizeof *function);
    const uint32_t *rules = gather(name, &all);
    size_t size = text_length(name) + 1;
    char *copy = arena_new(size);
    if (function == NULL || rules == NULL || copy == NULL) {
        journal_note(WIRE_NOTE_MEMORY, name);
        return NULL;
    }
    memset(function, 0, sizeof *function);
    memcpy(copy, name, size);
    function->name = copy;
    function->library = library;
    function->habit = wire_habit_find(name);
    function->rules = rules;
    function->rule_count = all.count;
    function->pattern = all.pattern;
    function->pending = 1;
    if (!classify(function)) {
        journal_note(WIRE_NOTE_MEMORY, name);
        return NULL;
    }
    note_windows(function, &all);
    function->every_call |= runtime.calls != NULL;
    for (uint32_t i = 0; i < all.pattern_count; i++)
        atomic_add(&runtime.pattern_states[all.patterns[i]].bound, 1);
    return function;
}

// The same build at the same path, perhaps loaded again somewhere else.
static bool same_library(const struct module *a, const struct module *b)
{
    return a == b || (a != NULL && b != NULL && a->fingerprint == b->fingerprint &&
                      text_equal(a->path, b->path));
}

static struct function *function_of(const char *name, const struct module *library)
{
    struct function **bucket = &function_buckets[wire_hash(name) % 256];
    for (struct function *f = *bucket; f != NULL; f = f->next_in_bucket)
        if (same_library(f->library, library) && text_equal(f->name, name))
            return f;
    struct function *function = function_new(name, library);
    if (function != NULL) {
        function->next_in_bucket = *bucket;
        *bucket = function;
    }
    return function;
}

// A page that is read first and then written costs two faults.
void bind_prepare(void)
{
    *(volatile uint32_t *)first_slot_table = 0;
}

// Slots: one per address a function was bound to, so that pointers to it stay equal.

static uint32_t *slot_entry(const char *name, const void *real)
{
    const struct module *library = module_at((uintptr_t)real);
    uint32_t mask = slot_table_size - 1;
    uint32_t at = (uint32_t)random_mix((uintptr_t)real) & mask;
    while (slot_table[at] != 0) {
        const struct slot *slot = &runtime_slots[slot_table[at] - 1];
        if (slot->real == real && text_equal(slot->function->name, name) &&
            same_library(slot->function->library, library))
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
    memset(table, 0, size * sizeof *table);
    for (uint32_t i = 0; i < slots_used; i++) {
        uint32_t at = (uint32_t)random_mix((uintptr_t)runtime_slots[i].real);
        while (table[at & (size - 1)] != 0)
            at++;
        table[at & (size - 1)] = i + 1;
    }
    slot_table = table;
    slot_table_size = size;
    return true;
}

static struct slot *slot_of(const char *name, void *real, const struct hook *hook)
{
    uint32_t *entry = slot_entry(name, real);
    if (*entry != 0)
        return &runtime_slots[*entry - 1];
    if (2 * slots_used >= slot_table_size && slot_table_grow())
        entry = slot_entry(name, real);
    if (slots_used == RUNTIME_SLOTS || slots_used + 1 == slot_table_size) {
        journal_note(WIRE_NOTE_NO_SLOTS, name);
        return NULL;
    }
    struct function *function = function_of(name, module_at((uintptr_t)real));
    if (function == NULL)
        return NULL;
    struct slot *slot = &runtime_slots[slots_used];
    slot->real = real;
    slot->original = hook != NULL ? hook->replacement : real;
    slot->gate = (void *)runtime_gate_full;
    slot->length = UINT64_MAX;
    slot->function = function;
    if (function->primary == NULL) {
        function->primary = slot;
        function->next = functions;
        atomic_store(&functions, function);
    }
    *entry = ++slots_used;
    return slot;
}

static void *replacement_of(const char *name, void *real, bool with_rules, const struct hook *hook)
{
    if (is_stub(real) || symbol_programs_plt(name) == real)
        return NULL;
    if (hook != NULL && hook_real(hook->real, hook->name) != real)
        hook = NULL; // another function of that name
    struct slot *slot = with_rules ? slot_of(name, real, hook) : NULL;
    if (slot != NULL)
        return stub_of(slot);
    return hook != NULL ? hook->replacement : NULL;
}

void *bind_pointer(const char *name, void *real, bool with_rules)
{
    return replacement_of(name, real, with_rules && is_wanted(name) != WANTED_NOT, hook_find(name));
}

// Relocations.

// A PLT slot the loader has not bound yet still points back into its own module.
static bool is_unbound(const struct module *module, const Elf64_Sym *symbol, void *value)
{
    uintptr_t address = (uintptr_t)value;
    return module->low <= address && address < module->high &&
           !(symbol->st_shndx != SHN_UNDEF && module->bias + symbol->st_value == address);
}

static bool is_function(const Elf64_Sym *symbol)
{
    unsigned type = ELF64_ST_TYPE(symbol->st_info);
    return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
}

static uint32_t flags_at(const struct module *module, const void *address)
{
    for (uint32_t i = 0; i < module->header_count; i++) {
        const Elf64_Phdr *header = &module->headers[i];
        uintptr_t start = module->bias + header->p_vaddr;
        if (header->p_type == PT_LOAD && (uintptr_t)address - start < header->p_memsz)
            return header->p_flags;
    }
    return 0;
}

bool bind_is_code(const void *address)
{
    const struct module *owner = module_at((uintptr_t)address);
    return owner == NULL || (flags_at(owner, address) & PF_X) != 0;
}

// Pages that the loader sealed are opened with the first write, since most modules need none.
static bool opened;

static bool open_sealed(const struct module *module)
{
    size_t size = module->relro_high - module->relro_low;
    if (!opened &&
        system_failed(SYSTEM_3(__NR_mprotect, module->relro_low, size, PROT_READ | PROT_WRITE))) {
        journal_note(WIRE_NOTE_DISARMED, module->path);
        return false;
    }
    opened = true;
    return true;
}

// Text relocations put addresses into pages that may not be written.
static void write_place(const struct module *module, void **place, void *value)
{
    uint32_t flags = flags_at(module, place);
    if ((uintptr_t)place - module->relro_low < module->relro_high - module->relro_low &&
        !open_sealed(module))
        return;
    if ((flags & PF_W) != 0) {
        *place = value;
        return;
    }
    uintptr_t page = (uintptr_t)place & ~4095ul;
    size_t size = ((uintptr_t)(place + 1) - page + 4095) & ~4095ul;
    int executable = (flags & PF_X) != 0 ? PROT_EXEC : 0;
    if (system_failed(SYSTEM_3(__NR_mprotect, page, size, PROT_READ | PROT_WRITE | executable)))
        return;
    *place = value;
    SYSTEM_3(__NR_mprotect, page, size, PROT_READ | executable);
}

// Versions that the module in hand needs of the C library: by bit, the first 64.
static uint64_t system_versions;

static void note_system_versions(const struct module *module)
{
    system_versions = 0;
    const Elf64_Verneed *need = module->versions != NULL ? module->needed_versions : NULL;
    for (; need != NULL; need = (const Elf64_Verneed *)((const char *)need + need->vn_next)) {
        const Elf64_Vernaux *name = (const Elf64_Vernaux *)((const char *)need + need->vn_aux);
        bool is_system = wire_is_system(module->strings + need->vn_file);
        for (uint16_t i = 0; is_system && i < need->vn_cnt; i++) {
            if ((name->vna_other & 0x7fff) < 64)
                system_versions |= 1ull << (name->vna_other & 63);
            name = (const Elf64_Vernaux *)((const char *)name + name->vna_next);
        }
        if (need->vn_next == 0)
            break;
    }
}

// Saves looking for it.
static bool is_of_system(const struct module *module, uint32_t symbol)
{
    uint16_t version = module->versions != NULL ? module->versions[symbol] & 0x7fff : 0;
    return version < 64 && (system_versions >> version & 1) != 0;
}

static bool is_inside(const struct module *module, const void *address)
{
    return (uintptr_t)address - module->low < module->high - module->low;
}

static void bind_slot(struct module *module, const Elf64_Rela *relocation, bool plt)
{
    uint32_t index = (uint32_t)ELF64_R_SYM(relocation->r_info);
    const Elf64_Sym *symbol = &module->symbols[index];
    const char *name = module->strings + symbol->st_name;
    void **place = (void **)(module->bias + relocation->r_offset);
    if (!is_function(symbol))
        return;
    const struct hook *hook = hook_find(name);
    enum wanted wanted = is_wanted(name);
    if (wanted == WANTED_OUTSIDE && is_of_system(module, index))
        wanted = WANTED_NOT;
    void *real = *place;
    if ((hook == NULL && wanted == WANTED_NOT) || real == NULL)
        return; // without an address: an undefined weak reference, which the program tests for
    if (plt && is_unbound(module, symbol, real)) {
        struct symbol_query query = {.name = name, .version = symbol_version(module, index)};
        real = symbol_find(module, query);
        if (real == NULL) {
            if (ELF64_ST_BIND(symbol->st_info) != STB_WEAK)
                module->unresolved = name; // its library may come later
            return;
        }
    }
    if (wanted == WANTED_OUTSIDE && is_inside(module, real))
        wanted = WANTED_NOT;
    void *replacement =
        bind_is_code(real)
            ? replacement_of(name, real, wanted != WANTED_NOT && !module->spared, hook)
            : NULL;
    if (replacement != NULL)
        write_place(module, place, replacement);
}

static void bind_list(struct module *module, const Elf64_Rela *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t type = (uint32_t)ELF64_R_TYPE(list[i].r_info);
        if (type == R_X86_64_JUMP_SLOT)
            bind_slot(module, &list[i], true);
        else if (type == R_X86_64_GLOB_DAT)
            bind_slot(module, &list[i], false);
        else if (type == R_X86_64_64 && list[i].r_addend == 0)
            bind_slot(module, &list[i], false);
    }
}

void bind_module(struct module *module)
{
    module->unresolved = NULL;
    if (module->symbols == NULL || module->strings == NULL)
        return;
    opened = false;
    note_system_versions(module);
    bind_list(module, module->relocations, module->relocation_count);
    bind_list(module, module->plt_relocations, module->plt_relocation_count);
    if (opened)
        SYSTEM_3(__NR_mprotect, module->relro_low, module->relro_high - module->relro_low,
                 PROT_READ);
}

// Gates.

// Takes no lock: a signal handler may make a function's first call while the thread holds one. A
// thread that reads in between looks at a call too many.
static void watch_callers(struct slot *slot, uint64_t low, uint64_t length)
{
    atomic_store(&slot->length, UINT64_MAX);
    atomic_store(&slot->low, low);
    atomic_store(&slot->length, length);
}

void bind_refresh_gate(struct slot *slot)
{
    struct function *function = slot->function;
    uint64_t low, length;
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
        atomic_store(&slot->gate, (void *)runtime_gate_sites);
    } else if (function->rule_count == 1) {
        const struct wire_rule *rule = &runtime.rules[function->rules[0]];
        if (rule->site != WIRE_NONE && query_single_range(rule->site, &low, &length))
            watch_callers(slot, low, length);
    }
}

void bind_refresh_gates(void)
{
    for (uint32_t i = 0; i < slots_used; i++)
        bind_refresh_gate(&runtime_slots[i]);
}

void bind_publish_function(struct function *function)
{
    uint64_t calls = atomic_load(&function->primary->count);
    uint64_t before = atomic_load(&function->published);
    if (calls <= before || !atomic_swap_if(&function->published, before, calls))
        return;
    for (uint32_t i = 0; i < function->rule_count; i++)
        atomic_add(&runtime.rule_states[function->rules[i]].reached, calls - before);
}

void bind_publish_counts(void)
{
    for (struct function *f = functions; f != NULL; f = f->next)
        bind_publish_function(f);
}

void bind_report_unresolved(void)
{
    for (size_t i = 0; i < runtime.modules->count; i++)
        if (runtime.modules->modules[i]->unresolved != NULL)
            journal_note(WIRE_NOTE_UNRESOLVED_SYMBOL, runtime.modules->modules[i]->unresolved);
}
