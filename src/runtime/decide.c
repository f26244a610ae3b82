// SPDX-License-Identifier: GPL-3.0-or-later
// What to do with one intercepted call: finds the rules that may apply, and the first one that
// fires.
#include "runtime/decide.h"

#include "runtime/assembly/stubs.h"
#include "runtime/call-path.h"
#include "runtime/call.h"
#include "runtime/clauses.h"
#include "runtime/credits.h"
#include "runtime/evaluate.h"
#include "runtime/fork.h"
#include "runtime/function.h"
#include "runtime/identity.h"
#include "runtime/record.h"
#include "runtime/rows.h"
#include "runtime/runtime.h"
#include "runtime/sites.h"
#include "runtime/slots.h"
#include "runtime/system.h"
#include "runtime/unwind.h"

bool decide_counts(const struct wire_rule *rule, uint64_t n)
{
    if (n < rule->count_first || n > rule->count_last)
        return false;
    return rule->count_step <= 1 || (n - rule->count_first) % rule->count_step == 0;
}

static bool gates_open(const struct wire_rule *rule, const struct call *call)
{
    return decide_counts(rule, call->occurrence) &&
           (rule->site == WIRE_NONE || query_matches(rule->site, call->frame->return_address));
}

// The lowest occurrence above n that some rule may fire at.
static uint64_t next_of_rule(const struct wire_rule *rule, uint64_t n)
{
    if (n < rule->count_first)
        return rule->count_first;
    uint64_t step = rule->count_step > 1 ? rule->count_step : 1;
    uint64_t next = rule->count_first + ((n - rule->count_first) / step + 1) * step;
    return next <= rule->count_last ? next : UINT64_MAX;
}

static uint32_t first_counted(const struct function *function, uint64_t occurrence)
{
    uint32_t low = 0, high = function->counted_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (runtime.rules[function->counted[middle]].count_first < occurrence)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint64_t next_occurrence(const struct function *function, uint64_t n)
{
    uint64_t next = UINT64_MAX;
    if (function->every_call || function->site_count != 0)
        return n + 1;
    for (uint32_t i = 0; i < function->general_count; i++) {
        uint64_t candidate = next_of_rule(&runtime.rules[function->general[i].rule], n);
        if (candidate < next)
            next = candidate;
    }
    uint32_t at = first_counted(function, n + 1);
    if (at < function->counted_count && runtime.rules[function->counted[at]].count_first < next)
        next = runtime.rules[function->counted[at]].count_first;
    return next;
}

// Lets the stub pass calls that no rule can want. Only the call that the mark waits for may move
// it: another thread may have drawn a lower number and not have come here yet.
static void move_quiet_mark(struct function *function, uint64_t occurrence)
{
    if (function->every_call || occurrence != atomic_load(&function->pending))
        return;
    uint64_t next = next_occurrence(function, occurrence);
    atomic_store(&function->pending, next);
    credits_until(function, occurrence, next);
}

static void first_call(struct function *function)
{
    if (!atomic_swap_if(&function->started, 0, 1))
        return;
    function_start(function);
    slot_refresh_gate(function->primary);
    if (runtime.calls != NULL && record_is_all(function))
        credits_for_recording(function);
    // From now on this does not change.
    bool looks_only = function->every_call && runtime.calls == NULL &&
                      (function->asks_after | function->starts_after) == 0;
    atomic_store(&function->only_general,
                 looks_only && function->general_count == function->rule_count);
    atomic_store(&function->only_by_site,
                 looks_only && function->site_count == function->rule_count);
}

// once and new_stack are decided last, when everything else holds, so that exactly one call wins.
static bool commit(const struct call *call, uint32_t rule)
{
    const struct wire_rule *r = &runtime.rules[rule];
    if (r->once && !atomic_swap_if(&runtime.rule_states[rule].once, 0, 1))
        return false;
    if (r->new_stack && !stack_set_add(stack_hash(call)))
        return false;
    return true;
}

// The rest, after its condition held.
__attribute__((noinline)) static bool takes_effect(const struct call *call, uint32_t rule)
{
    call_path_leave(call);
    return runtime.rules[rule].actions != 0 && commit(call, rule) &&
           (__builtin_expect(!fork_mode, 1) || fork_here(rule));
}

static inline bool rule_fires(const struct call *call, uint32_t rule)
{
    const struct wire_rule *r = &runtime.rules[rule];
    return gates_open(r, call) && (__builtin_expect(!fork_mode, 1) || fork_wants(rule)) &&
           evaluate(call, rule, r->code) && takes_effect(call, rule);
}

static bool site_fires(const struct call *call, const struct site *site)
{
    struct site alone = *site;
    alone.next = NULL;
    return clauses_choose_site(call, &alone) != NULL && takes_effect(call, site->rule);
}

bool decide_has_rule(const struct function *function, uint32_t rule)
{
    uint32_t low = 0, high = function->rule_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (function->rules[middle] < rule)
            low = middle + 1;
        else
            high = middle;
    }
    return low < function->rule_count && function->rules[low] == rule;
}

static inline uint32_t choose_by_site(const struct call *call)
{
    const struct site *site = sites_find(call->frame->return_address);
    for (; (site = clauses_choose_site(call, site)) != NULL; site = site->next)
        if (takes_effect(call, site->rule))
            return site->rule;
    return WIRE_NONE;
}

static inline uint32_t choose_general(const struct call *call)
{
    const struct rule_check *check = call->function->general,
                            *end = check + call->function->general_count;
    for (; (check = clauses_choose(call, check, end)) < end; check++)
        if (takes_effect(call, check->rule))
            return check->rule;
    return WIRE_NONE;
}

// The first rule, in the user's order, that fires; WIRE_NONE if none does. Rules for this site and
// for this occurrence are looked up, the others are checked one by one; all three lists ascend.
static uint32_t choose(const struct call *call)
{
    const struct function *function = call->function;
    if (function->site_count == function->rule_count)
        return choose_by_site(call);
    if (function->general_count == function->rule_count)
        return choose_general(call);
    const struct site *site =
        function->site_count != 0 ? sites_find(call->frame->return_address) : NULL;
    uint32_t counted_at = first_counted(function, call->occurrence), general_at = 0;
    for (;;) {
        uint32_t counted = WIRE_NONE, general = WIRE_NONE;
        if (counted_at < function->counted_count &&
            runtime.rules[function->counted[counted_at]].count_first == call->occurrence)
            counted = function->counted[counted_at];
        if (general_at < function->general_count)
            general = function->general[general_at].rule;
        uint32_t other = counted < general ? counted : general;
        bool fires;
        if (site != NULL && site->rule < other) {
            other = site->rule;
            fires = site_fires(call, site);
            site = site->next;
        } else if (other == WIRE_NONE) {
            return WIRE_NONE;
        } else {
            fires = rule_fires(call, other);
            counted_at += other == counted;
            general_at += other == general;
        }
        if (fires)
            return other;
    }
}

// Whether no rule needs a check while calls are recorded. The rules of a reference run only watch;
// the rule of a recorded trial is checked until it has fired, if it has `once`, or always.
static bool is_only_recorded(const struct call *call)
{
    const struct function *function = call->function;
    for (uint32_t i = 0; i < function->general_count; i++)
        if (runtime.rules[function->general[i].rule].actions != 0)
            return false;
    const struct site *site =
        function->site_count != 0 ? sites_find(call->frame->return_address) : NULL;
    for (; site != NULL; site = site->next)
        if (atomic_load(&runtime.rule_states[site->rule].once) == 0)
            return false;
    return function->counted_count == 0;
}

// after(): windows open on one function's calls and count another's.
static void count_windows(const struct call *call)
{
    const struct function *function = call->function;
    uint32_t *since = call->thread->since;
    for (uint32_t i = 0; i < WIRE_AFTER_MAX && function->asks_after >> i != 0; i++)
        if ((function->asks_after >> i & 1) != 0 && since[i] != 0 && since[i] != UINT32_MAX)
            since[i]++;
}

static void open_windows(const struct call *call)
{
    const struct function *function = call->function;
    for (uint32_t i = 0; i < WIRE_AFTER_MAX && function->starts_after >> i != 0; i++)
        if ((function->starts_after >> i & 1) != 0)
            call->thread->since[i] = 1;
}

// The general case: recording, windows of after(), rules of all kinds.
__attribute__((noinline)) static uint32_t choose_by_all(struct call *call)
{
    struct function *function = call->function;
    if (!atomic_load(&function->started))
        first_call(function);
    if (runtime.calls != NULL) {
        // Where threads have credits, or stubs that only record, the slot's count is none of calls.
        // Elsewhere it is, and no two threads draw the same number.
        if (function_has_rows(function) &&
            (atomic_load(&function->credit_limit) != 0 || record_is_all(function)))
            call->occurrence = rows_calls(function) + (call->thread->row == 0);
        record_call(call);
    }
    if (function->asks_after != 0)
        count_windows(call);
    uint32_t rule = runtime.calls != NULL && is_only_recorded(call) ? WIRE_NONE : choose(call);
    if (function->starts_after != 0)
        open_windows(call);
    move_quiet_mark(function, call->occurrence);
    if (atomic_load(&function->credit_limit) != 0)
        credits_refill(function);
    return rule;
}

__attribute__((hot)) enum decision runtime_decide(struct call_frame *frame)
{
    struct stub_slot *slot = &runtime_slots[frame->slot];
    uint64_t earlier = frame->target;
    frame->target = (uint64_t)slot->original;
    uint64_t row = runtime_thread.row;
    struct thread *thread = thread_self();
    struct function *function = slot->function;
    if (__builtin_expect(thread->row == 0 || frame->slot >= ROW_SLOTS, 0))
        function_count_outside(function);
    else if (!function->late && (function->always_asked || __builtin_expect(row == 0, 0)))
        rows_count_call(thread->row, frame->slot);
    if (!runtime.armed || thread->guard != 0) {
        if (function->late)
            rows_count_late(function, thread->row, frame->slot);
        return DECIDE_PASS;
    }
    if (__builtin_expect(slot != function->primary, 0)) {
        if (function->primary == NULL)
            function = slot_make_function(slot);
        if (function == NULL)
            return DECIDE_PASS;
        // Another version of the symbol: count where the first does.
        if (slot != function->primary && !function->late)
            earlier = atomic_add(&function->primary->count, 1);
    }
    struct call_cache cache = {0};
    struct call call = {frame, function, thread, earlier + 1, &cache};
    uint32_t rule = atomic_load(&function->only_general)   ? choose_general(&call)
                    : atomic_load(&function->only_by_site) ? choose_by_site(&call)
                                                           : choose_by_all(&call);
    call_path_leave(&call);
    if (function->late && rule == WIRE_NONE)
        rows_count_late(function, thread->row, frame->slot);
    else if (function->late)
        call.occurrence = rows_draw(function, thread->row, frame->slot);
    return rule != WIRE_NONE ? act(&call, rule) : DECIDE_PASS;
}
