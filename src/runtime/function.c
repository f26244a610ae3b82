// SPDX-License-Identifier: GPL-3.0-or-later
// Functions of the plan: which names its patterns take, which rules apply to a function, how a call
// finds them, and how many calls there were.
#include "runtime/function.h"

#include "runtime/assembly/stubs.h"
#include "runtime/clauses.h"
#include "runtime/credits.h"
#include "runtime/journal.h"
#include "runtime/module.h"
#include "runtime/record.h"
#include "runtime/rows.h"
#include "runtime/runtime.h"
#include "runtime/streams.h"
#include "runtime/system.h"
#include "wire/name-regex.h"
#include "wire/names.h"

#define BUCKETS 256
static struct function *function_buckets[BUCKETS]; // by name
static struct function *last_bound; // a list of those that have a slot, perhaps not all

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
        bool fits =
            all || (wire_is_regex(glob) ? wire_regex_fits(glob, name) : text_glob(glob, name));
        if (fits && !each(globs[i], context))
            return;
    }
}

static bool note_wanted(uint32_t pattern, void *context)
{
    enum wanted *wanted = context;
    bool outside = (pattern_at(pattern)->flags & WIRE_OUTSIDE) != 0;
    *wanted = outside ? WANTED_OUTSIDE : WANTED;
    return outside;
}

enum wanted function_wanted(const char *name)
{
    enum wanted wanted = WANTED_NOT;
    patterns_named(name, note_wanted, &wanted);
    return wanted;
}

bool function_is_named(const char *name)
{
    enum wanted wanted = WANTED_NOT;
    patterns_exact(name, 0, note_wanted, &wanted);
    return wanted == WANTED;
}

// Functions: the rules of all patterns that take a function, in the user's order.

struct rule_list {
    const struct module *library;
    uint32_t *rules;
    uint32_t count;
    uint32_t pattern;
    uint32_t patterns[64]; // for after(); more than enough for one name
    uint32_t pattern_count;
};

static bool count_rules(uint32_t index, void *context)
{
    struct rule_list *all = context;
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

// The rules for one exact occurrence; the list of all rules if that is the same.
static const uint32_t *pick_counted(const struct function *function)
{
    uint32_t count = function->counted_count;
    if (count == function->rule_count || count == 0)
        return function->rules;
    uint32_t *list = arena_new(count * sizeof *list), at = 0;
    for (uint32_t i = 0; list != NULL && i < function->rule_count; i++)
        if (is_counted(&runtime.rules[function->rules[i]]))
            list[at++] = function->rules[i];
    return list;
}

// The rules to check on every call. Their clauses stand behind them, so that both are in few lines
// of memory.
static const struct rule_check *rule_checks_of(const struct function *function)
{
    size_t room = 0;
    uint32_t at = 0;
    for (uint32_t i = 0; i < function->rule_count; i++) {
        const struct wire_rule *rule = &runtime.rules[function->rules[i]];
        if (is_general(rule))
            room += sizeof(struct rule_check) +
                    (rule->code.count != 0 ? rule->code.count : 1) * sizeof(struct clause);
    }
    struct rule_check *checks = arena_new(room + 1), *check = checks;
    struct clause *clauses = (struct clause *)(checks + function->general_count);
    for (uint32_t i = 0; checks != NULL && i < function->rule_count; i++) {
        const struct wire_rule *rule = &runtime.rules[function->rules[i]];
        if (!is_general(rule))
            continue;
        bool counted =
            rule->count_first > 1 || rule->count_step > 1 || rule->count_last != UINT64_MAX;
        *check++ = (struct rule_check){.rule = function->rules[i],
                                       .site = rule->site,
                                       .clauses = at,
                                       .counted = counted,
                                       .gated = counted || rule->site != WIRE_NONE};
        at += clauses_of(rule, clauses + at);
    }
    return checks;
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

// Another function with the same list of rules, which is one pattern's in the plan: what follows
// from the list is shared. A glob may take thousands of functions, with as many rules, and they
// mostly come one after another.
static const struct function *find_alike(const struct function *function)
{
    const struct function *other = atomic_load(&last_bound);
    for (uint32_t i = 0; i < 16 && other != NULL; i++, other = other->next)
        if (other->rules == function->rules && other->rule_count == function->rule_count &&
            other->pattern == function->pattern)
            return other;
    return NULL;
}

// Splits the rules by how a call finds them: by its site, by its occurrence, or by checking one
// after another.
static bool classify(struct function *function)
{
    const struct function *alike = find_alike(function);
    if (alike != NULL) {
        function->site_count = alike->site_count;
        function->counted_count = alike->counted_count;
        function->general_count = alike->general_count;
        function->every_call = alike->every_call;
        function->general = alike->general;
        function->counted = alike->counted;
        return true;
    }
    for (uint32_t i = 0; i < function->rule_count; i++) {
        const struct wire_rule *rule = &runtime.rules[function->rules[i]];
        function->site_count += is_by_site(rule);
        function->counted_count += is_counted(rule);
        function->general_count += is_general(rule);
        function->every_call |=
            rule->count_first <= 1 && rule->count_step <= 1 && rule->count_last == UINT64_MAX;
    }
    function->general = rule_checks_of(function);
    function->counted = by_occurrence_first(pick_counted(function), function->counted_count);
    return function->general != NULL && function->counted != NULL;
}

static void note_windows(struct function *function, const struct rule_list *all)
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

// The rules that count_rules() has counted, ascending. Those of a single pattern stand in the plan.
static const uint32_t *collect_rules(const char *name, struct rule_list *all)
{
    const uint32_t *refs = (const uint32_t *)plan_array(runtime.plan->rule_refs);
    if (all->pattern_count == 1)
        return refs + pattern_at(all->patterns[0])->rule_refs.offset;
    uint32_t *rules = arena_new(all->count * sizeof *rules + 1);
    if (rules == NULL)
        return NULL;
    *all = (struct rule_list){.library = all->library, .rules = rules, .pattern = WIRE_NONE};
    patterns_named(name, count_rules, all);
    if (!is_sorted(rules, all->count, by_number))
        sort(rules, all->count, by_number);
    return rules;
}

// Whether some rule does something to the calls, and does not only watch them.
static bool has_actions(const struct function *function)
{
    for (uint32_t i = 0; i < function->rule_count; i++)
        if (runtime.rules[function->rules[i]].actions != 0)
            return true;
    return false;
}

static void note_recorded(struct function *function)
{
    for (uint32_t i = 0; i < function->rule_count; i++) {
        const struct wire_rule *rule = &runtime.rules[function->rules[i]];
        if (rule->descriptor != 0)
            function->descriptor = rule->descriptor;
        if (rule->actions == 0 && rule->code.count != 0)
            function->condition = function->rules[i] + 1;
        if (rule->stackless != 0)
            function->stackless = wire_hash(function->name);
    }
}

// Whether no rule asks for the number of a call before it fires. Walks of the stack are kept under
// that number, too (last-walk.c).
static bool is_free_of_numbers(const struct function *function)
{
    for (uint32_t i = 0; i < function->rule_count; i++) {
        const struct wire_rule *rule = &runtime.rules[function->rules[i]];
        if (rule->count_first > 1 || rule->count_step > 1 || rule->count_last != UINT64_MAX ||
            rule->new_stack)
            return false;
        for (uint32_t at = 0; at < rule->code.count; at++)
            switch (runtime.code[rule->code.offset + at].op) {
            case WIRE_OP_COUNT:
            case WIRE_OP_STACK:
            case WIRE_OP_NEW_STACK:
            case WIRE_OP_VARIABLE:
            case WIRE_OP_AFTER:
            case WIRE_OP_REMOTE:
            case WIRE_OP_PLUGIN:
                return false;
            default:
                break;
            }
    }
    return function->starts_after == 0 && function->asks_after == 0;
}

// Rules about callers have gates that pass calls without asking. So stubs or gates count those, and
// where a number may be wanted, the stub counts all calls.
static void choose_entry(struct function *function)
{
    bool callers = false;
    if (!function->in_rows || runtime.calls != NULL)
        return;
    for (uint32_t i = 0; i < function->rule_count; i++)
        callers |= runtime.rules[function->rules[i]].site != WIRE_NONE;
    function->late = function->every_call && is_free_of_numbers(function);
    function->always_asked = function->every_call && !callers;
    function->by_range =
        function->late && callers && function->rule_count == 1 && function->site_count == 0;
    if (function->late)
        function->stub_entry = RUNTIME_STUB_GATED; // where no number is drawn
    else if (function->always_asked)
        function->stub_entry = RUNTIME_STUB_ASKED;
    else if (function->every_call || function->site_count != 0)
        function->stub_entry = RUNTIME_STUB_COUNTED;
}

static struct function *no_memory(const char *name)
{
    runtime.out_of_room = true;
    journal_note(WIRE_NOTE_MEMORY, name);
    return NULL;
}

static struct function *function_new(const char *name, const struct module *library)
{
    struct rule_list all = {.library = library, .pattern = WIRE_NONE};
    patterns_named(name, count_rules, &all);
    if (all.pattern_count == 0)
        return NULL;
    struct function *function = arena_new(sizeof *function);
    const uint32_t *rules = collect_rules(name, &all);
    size_t size = text_length(name) + 1;
    char *copy = arena_new(size);
    if (function == NULL || rules == NULL || copy == NULL)
        return no_memory(name);
    memcpy(copy, name, size);
    function->name = copy;
    function->library = library;
    function->rules = rules;
    function->rule_count = all.count;
    function->traits = has_actions(function) || (runtime.calls != NULL && streams_are_known())
                           ? wire_traits_find(name)
                           : NULL;
    function->pattern = all.pattern;
    function->pending = 1;
    if (!classify(function))
        return no_memory(name);
    note_windows(function, &all);
    if (runtime.calls != NULL) {
        function->every_call = true;
        note_recorded(function);
    }
    function->in_rows = rows_on() && all.pattern_count <= WIRE_COUNT_PATTERNS;
    choose_entry(function);
    function->patterns[0] = function->patterns[1] = WIRE_NONE;
    for (uint32_t i = 0; i < all.pattern_count; i++) {
        atomic_add(&runtime.pattern_states[all.patterns[i]].bound, 1);
        if (function->in_rows)
            function->patterns[i] = all.patterns[i];
    }
    return function;
}

bool function_same_library(const struct module *a, const struct module *b)
{
    return a == b || (a != NULL && b != NULL && a->fingerprint == b->fingerprint &&
                      text_equal(a->path, b->path));
}

// Two threads, or a signal handler and the code it interrupted, may ask for the same function at
// once: if the bucket has changed meanwhile, look again.
struct function *function_of(const char *name, const struct module *library)
{
    struct function **bucket = &function_buckets[wire_hash(name) % BUCKETS], *fresh = NULL;
    for (;;) {
        struct function *first = atomic_load(bucket);
        for (struct function *f = first; f != NULL; f = f->next_in_bucket)
            if (function_same_library(f->library, library) && text_equal(f->name, name))
                return f;
        if (fresh == NULL)
            fresh = function_new(name, library);
        if (fresh == NULL)
            return NULL;
        fresh->next_in_bucket = first;
        if (atomic_swap_if(bucket, first, fresh))
            return fresh;
    }
}

void function_bound(struct function *function, struct stub_slot *slot)
{
    struct function *first;
    atomic_add(&function->slots, 1);
    if (atomic_load(&function->primary) == NULL && !rows_have(slot)) { // nobody has called it yet
        function->in_rows = function->always_asked = function->late = function->by_range = false;
        function->stub_entry = 0;
    }
    if (!atomic_swap_if(&function->primary, NULL, slot))
        return;
    do
        function->next = first = atomic_load(&last_bound);
    while (!atomic_swap_if(&last_bound, first, function));
}

static void add_reached(const struct function *function, uint64_t calls)
{
    for (uint32_t i = 0; i < function->rule_count; i++)
        atomic_add(&runtime.rule_states[function->rules[i]].reached, calls);
}

// Stubs that only record count in rows, also where no pattern can be told there.
bool function_has_rows(const struct function *function)
{
    return rows_on() && rows_have(function->primary) &&
           (function->in_rows || record_is_all(function));
}

void function_publish(struct function *function)
{
    if (function->in_rows)
        return;
    uint64_t calls =
        function_has_rows(function) ? rows_calls(function) : atomic_load(&function->primary->count);
    uint64_t before;
    do {
        before = atomic_load(&function->published);
        if (calls <= before)
            return;
    } while (!atomic_swap_if(&function->published, before, calls));
    add_reached(function, calls - before);
}

// Of `uncounted`, the rest of which is a number of processes.
#define SOME_LOST (1u << 31)
static uint32_t some_have_no_row; // threads

static void note_lost(struct function *function)
{
    for (uint32_t i = 0; function->in_rows && i < function->rule_count; i++) {
        uint32_t *uncounted = &runtime.rule_states[function->rules[i]].uncounted;
        if ((atomic_load(uncounted) & SOME_LOST) == 0)
            __atomic_fetch_or(uncounted, SOME_LOST, __ATOMIC_RELAXED);
    }
}

static void note_lost_if_called(struct function *function)
{
    if (atomic_load(&function->started) != 0)
        note_lost(function);
}

// Whoever comes later, the thread or the function, finds the other, as in rows.c.
void functions_lose_calls(void)
{
    __atomic_fetch_or(&some_have_no_row, 1, __ATOMIC_SEQ_CST);
    functions_each(note_lost_if_called);
}

void function_count_outside(struct function *function)
{
    if (!function->in_rows)
        return;
    add_reached(function, 1);
    if (!rows_have_ended())
        note_lost(function);
}

// Calls that are not counted in rows are added to the region now and then. Until the process has
// done so for the last time, there may be more of them.
static void note_uncounted(struct function *function, uint32_t more)
{
    for (uint32_t i = 0; i < function->rule_count; i++)
        atomic_add(&runtime.rule_states[function->rules[i]].uncounted, more);
}

void function_start(struct function *function)
{
    function_publish(function);
    if (!function->in_rows)
        note_uncounted(function, 1);
    else if (atomic_load(&some_have_no_row) != 0)
        note_lost(function);
}

static void end(struct function *function)
{
    function_publish(function);
    if (!function->in_rows && atomic_swap_if(&function->started, 1, 2))
        note_uncounted(function, -1u);
}

void functions_end(void)
{
    functions_each(end);
}

// A child that was forked behind our back is noticed at its first call, which is counted by then as
// if it were the parent's.
void function_publish_call(struct function *function, uint64_t occurrence)
{
    function_publish(function);
    if (!function->in_rows && occurrence <= atomic_load(&function->forgotten)) {
        atomic_store(&function->forgotten, 0);
        add_reached(function, 1);
    }
}

// Walks the buckets, which a function enters before it
// gets a slot: another thread may fork between any two steps.
void functions_each(void (*each)(struct function *function))
{
    for (uint32_t i = 0; i < BUCKETS; i++)
        for (struct function *f = atomic_load(&function_buckets[i]); f != NULL;
             f = f->next_in_bucket)
            if (atomic_load(&f->primary) != NULL)
                each(f);
}

void functions_publish(void)
{
    functions_each(function_publish);
}

static void forget_earlier_calls(struct function *function)
{
    credits_after_fork(function);
    function->published = function->forgotten =
        function_has_rows(function) ? function->inherited : atomic_load(&function->primary->count);
    if (!function->in_rows && function->started == 1)
        note_uncounted(function, 1);
}

void functions_after_fork(void)
{
    functions_each(forget_earlier_calls);
    credits_forked();
}
