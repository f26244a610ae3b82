// SPDX-License-Identifier: GPL-3.0-or-later
// Counts calls by process, function, site and maybe stack, directly in the region: nothing is lost
// however the process dies. The rows of a thread stand together, on few pages. The thread finds
// them through a table of its own, which the kernel empties in a forked child. So a key may have
// several rows, and the reader adds them up. Tables of threads that are gone go to new threads,
// together with their row of counters (rows.h). Threads without such a row share one table.
#include "runtime/record.h"

#include "runtime/assembly/assembly.h"
#include "runtime/assembly/stubs.h"
#include "runtime/cache.h"
#include "runtime/call-path.h"
#include "runtime/call.h"
#include "runtime/descriptors.h"
#include "runtime/evaluate.h"
#include "runtime/function.h"
#include "runtime/identity.h"
#include "runtime/journal.h"
#include "runtime/memory.h"
#include "runtime/module.h"
#include "runtime/rows.h"
#include "runtime/runtime.h"
#include "runtime/streams.h"
#include "runtime/system.h"
#include "runtime/unwind.h"

#include <linux/mman.h>
#include <stddef.h>

#define NO_ROOM 0xffffffffu

// Assembly knows these layouts: see assembly.h. The count of an entry belongs to its key;
// record_forget() may make them differ by one call.
struct record_entry {
    uint64_t key; // 0: free, BUSY: being written
    uint64_t *count;
};
#define BUSY 1
// Open addressing. Behind the last entry are RECORD_NEIGHBOURS more that are never used: the
// assembly looks at that many in a row.
struct record_table {
    uint64_t mask; // of offsets into `entries`; 0: this is a new process
    uint64_t used;
    uint64_t row; // next of its rows in the region; at a multiple of WIRE_CALL_ROWS: it has none
    struct record_entry entries[];
};
_Static_assert(ASM_TABLE_MASK == offsetof(struct record_table, mask), "ASM_TABLE_MASK");
_Static_assert(ASM_TABLE_ENTRIES == offsetof(struct record_table, entries), "ASM_TABLE_ENTRIES");
_Static_assert(ASM_ENTRY_SIZE == sizeof(struct record_entry), "ASM_ENTRY_SIZE");
_Static_assert(1 << ASM_ENTRY_SHIFT == ASM_ENTRY_SIZE, "ASM_ENTRY_SHIFT");
_Static_assert(ASM_ENTRY_KEY == offsetof(struct record_entry, key), "ASM_ENTRY_KEY");
_Static_assert(ASM_ENTRY_COUNT == offsetof(struct record_entry, count), "ASM_ENTRY_COUNT");

_Static_assert(ASM_THREAD_RECORD == offsetof(struct thread, record), "ASM_THREAD_RECORD");

// A thread that calls little touches little memory: tables grow by eight.
static const uint32_t table_entries[4] = {RECORD_FIRST_ENTRIES, 4096, 32768, 262144};

// By row; the first is that of threads without one.
static struct row_table {
    struct record_table *table;
    uint32_t level; // of table_entries
} row_tables[ROW_COUNT];
static bool has_tables;
_Static_assert(sizeof(struct record_table) +
                       (RECORD_FIRST_ENTRIES + RECORD_NEIGHBOURS) * sizeof(struct record_entry) <=
                   RECORD_FIRST_SIZE,
               "the first table has its place");

void record_prepare(void)
{
    if ((runtime.region->options & WIRE_RECORD_CALLS) == 0 || runtime.region->calls == 0)
        return;
    if (runtime.process_room < RECORD_FIRST_SIZE) {
        journal_note(WIRE_NOTE_MEMORY, "the table of recorded calls");
        return;
    }
    runtime_thread.record = (struct record_table *)(runtime.process + 1);
    runtime.calls = region_at(runtime.region->calls);
    system_touch(runtime.calls);
    cache_prepare();
}

static size_t table_size(uint32_t level)
{
    return sizeof(struct record_table) +
           (table_entries[level] + RECORD_NEIGHBOURS) * sizeof(struct record_entry);
}

// NULL: there is no memory. Without WIPEONFORK a child would go on counting for its parent.
static struct record_table *table_new(uint32_t level)
{
    size_t size = table_size(level);
    void *memory = own_map(size);
    if (memory == NULL)
        return NULL;
    if (system_failed(SYSTEM_3(__NR_madvise, memory, (size + 4095) & ~4095ul, MADV_WIPEONFORK))) {
        own_unmap(memory, size);
        return NULL;
    }
    return memory;
}

static struct row_table *own_entry(void)
{
    return &row_tables[runtime_thread.row / ROW_SIZE];
}

// The table that threads share does not grow, and so is large.
static void make_table(struct row_table *entry)
{
    const uint32_t level = entry == row_tables ? 2 : 0;
    struct record_table *table = table_new(level);
    if (table == NULL)
        return;
    has_tables = true;
    entry->level = level;
    if (!atomic_swap_if(&entry->table, NULL, table))
        own_unmap(table, table_size(level));
}

// Without a row of its own a thread leaves `record` empty, so that all its calls come here.
static struct record_table *find_table(uint32_t *ret_level)
{
    struct thread *self = &runtime_thread;
    struct row_table *entry = own_entry();
    if (self->record == NULL) {
        if (atomic_load(&entry->table) == NULL)
            make_table(entry);
        if (self->row == 0 || entry->table == NULL) {
            *ret_level = entry->level;
            return entry->table;
        }
        self->record_level = entry->level;
        atomic_store(&self->record, entry->table);
    }
    *ret_level = self->record_level;
    return self->record;
}

// The table of the thread and the number of its entries. NULL: there is none.
static struct record_table *table_now(uint32_t *ret_entries)
{
    uint32_t level;
    struct record_table *table = find_table(&level);
    if (table == NULL)
        return NULL;
    *ret_entries = table_entries[level];
    if (atomic_load(&table->mask) == 0)
        atomic_store(&table->mask, (table_entries[level] - 1) * sizeof(struct record_entry));
    return table;
}

static uint32_t home_of(uint64_t key, uint32_t entries)
{
    return (uint32_t)(key * RECORD_MULTIPLIER >> RECORD_HASH_SHIFT) & (entries - 1);
}

// How large a table is, it says itself: its owner may just be putting a larger one in its place.
static void forget(struct record_table *table)
{
    if (table == NULL)
        return;
    const uint64_t last = atomic_load(&table->mask) / sizeof(struct record_entry);
    for (uint64_t i = 0; i <= last; i++)
        if (table->entries[i].key != 0)
            atomic_store(&table->entries[i].key, 0);
    atomic_store(&table->used, 0);
}

void record_forget(void)
{
    if (runtime.calls == NULL)
        return;
    forget((struct record_table *)(runtime.process + 1));
    for (uint32_t row = 0; row < ROW_COUNT; row++)
        forget(atomic_load(&row_tables[row].table));
}

// The child has its parent's memory, and one of its threads. Tables are empty by now.
void record_after_fork(void)
{
    if (runtime.calls == NULL)
        return;
    if (has_tables) // else the page is not touched
        memset(row_tables, 0, sizeof row_tables);
    if (runtime_thread.record != (struct record_table *)(runtime.process + 1))
        *own_entry() = (struct row_table){runtime_thread.record, runtime_thread.record_level};
}

bool record_by_site(void)
{
    return runtime.calls != NULL &&
           (runtime.region->options & (WIRE_RECORD_STACKS | WIRE_RECORD_INSIDE)) == 0;
}

// Such calls are told apart by the stream, not by the place in the C library that makes them.
static bool writes_stream(const struct function *function)
{
    return function->traits != NULL && (function->traits->flags & WIRE_TRAIT_STREAM_WRITE) != 0;
}

bool record_is_all(const struct function *function)
{
    if (!record_by_site() || writes_stream(function))
        return false;
    for (uint32_t i = 0; i < function->rule_count; i++)
        if (runtime.rules[function->rules[i]].actions != 0)
            return false;
    return true;
}

static uint32_t process_row(void)
{
    struct process *process = runtime.process;
    if (process->recorded != 0)
        return process->recorded;
    uint32_t index = atomic_add(&runtime.calls->processes, 1);
    if (index >= WIRE_CALL_PROCESSES) {
        process->recorded = NO_ROOM;
        return NO_ROOM;
    }
    struct wire_call_process *row = &runtime.calls->process[index];
    system_touch(row);
    row->state = WIRE_RECORD_OPEN;
    row->number = process->number;
    row->ancestry = runtime.ancestry;
    row->pid = process_pid();
    text_copy(row->program, sizeof row->program, runtime.invoked);
    if (!atomic_swap_if(&process->recorded, 0, index + 1)) // another thread was faster
        return process->recorded;
    atomic_store(&row->state, WIRE_RECORD_COMPLETE);
    return index + 1;
}

static uint32_t function_add(const struct function *function, uint32_t library)
{
    uint32_t index = atomic_add(&runtime.calls->functions, 1);
    if (index >= WIRE_CALL_FUNCTIONS)
        return NO_ROOM;
    struct wire_call_function *row = &runtime.calls->function[index];
    row->state = WIRE_RECORD_OPEN;
    row->library = library;
    text_copy(row->name, sizeof row->name, function->name);
    atomic_store(&row->state, WIRE_RECORD_COMPLETE);
    return index + 1;
}

// The row of a function. Processes share these rows; two that come at the same time may both add
// the same function.
static uint32_t function_row(struct function *function)
{
    if (function->recorded != 0)
        return function->recorded;
    struct module *definer = (struct module *)function->library;
    uint32_t library = definer != NULL ? module_index(definer) : WIRE_FRAME_UNKNOWN;
    uint32_t at = wire_hash(function->name), index = 0;
    for (uint32_t i = 0; i < WIRE_CALL_NAMES && index == 0; i++, at++) {
        uint32_t *name = &runtime.calls->names[at % WIRE_CALL_NAMES];
        uint32_t known = atomic_load(name);
        if (known == 0) {
            index = function_add(function, library);
            if (index != NO_ROOM)
                atomic_swap_if(name, 0, index);
        } else if (known <= WIRE_CALL_FUNCTIONS) {
            const struct wire_call_function *row = &runtime.calls->function[known - 1];
            if (row->library == library && text_equal(row->name, function->name))
                index = known;
        }
    }
    index = index != 0 ? index : NO_ROOM;
    atomic_store(&function->recorded, index);
    return index;
}

static struct wire_call *row_new(struct record_table *table)
{
    uint64_t *next = &table->row;
    for (;;) {
        uint64_t at = atomic_load(next);
        if (at % WIRE_CALL_ROWS != 0) {
            if (atomic_swap_if(next, at, at + 1))
                return &runtime.calls->rows[at];
            continue;
        }
        if (atomic_load(&runtime.calls->taken) >=
            WIRE_CALLS) // adding without end would wrap around
            return NULL;
        uint32_t first = atomic_add(&runtime.calls->taken, WIRE_CALL_ROWS);
        if (first > WIRE_CALLS - WIRE_CALL_ROWS)
            return NULL;
        if (atomic_swap_if(next, at, first + 1ull))
            return &runtime.calls->rows[first];
    }
}

static struct record_entry *table_find(struct record_table *table, uint32_t entries, uint64_t key)
{
    for (uint32_t at = home_of(key, entries);; at++) {
        struct record_entry *entry = &table->entries[at & (entries - 1)];
        uint64_t found = atomic_load(&entry->key);
        if (found == key)
            return entry;
        if (found == 0)
            return NULL;
    }
}

// Without waiting: a signal handler could wait for the thread it interrupted.
static void table_put(struct record_table *table, uint32_t entries, uint64_t key, uint64_t *count)
{
    atomic_add(&table->used, 1);
    for (uint32_t at = home_of(key, entries);; at++) {
        struct record_entry *entry = &table->entries[at & (entries - 1)];
        if (atomic_load(&entry->key) != 0 || !atomic_swap_if(&entry->key, 0, BUSY))
            continue;
        entry->count = count;
        atomic_store(&entry->key, key);
        return;
    }
}

// A key that a signal handler adds meanwhile is not copied, and gets another row later.
static struct record_table *table_grow(struct record_table *old, uint32_t *entries)
{
    struct thread *self = &runtime_thread;
    uint32_t level = self->record_level + 1;
    if (self->record != old || level == sizeof table_entries / sizeof *table_entries ||
        runtime.filtered || !atomic_swap_if(&self->record_growing, 0, 1))
        return old;
    struct record_table *table = table_new(level);
    if (table == NULL)
        return old; // `record_growing` stays set: it is not tried again
    table->mask = (table_entries[level] - 1) * sizeof(struct record_entry);
    table->row = old->row;
    for (uint32_t k = 0; k < *entries; k++)
        if (old->entries[k].key > BUSY)
            table_put(table, table_entries[level], old->entries[k].key, old->entries[k].count);
    *entries = table_entries[level];
    self->record_level = level;
    atomic_store(&self->record, table);
    if (self->row != 0) {
        has_tables = true;
        *own_entry() = (struct row_table){table, level};
    }
    forget(old); // stubs may still know entries of it
    atomic_store(&self->record_growing, 0);
    return table;
}

// The place of a call, and its stack; a count of 0 where stacks are not told apart.
struct stack {
    uint64_t place; // what the call returns to, or where its stream was opened
    uint64_t hash;  // without frames: of a stack that is told apart all the same, or 0
    uint32_t count;
    uint64_t pcs[WIRE_FRAMES];
};

// A hash of slot and stack. The first frame is the return address. Two stacks have different keys,
// as far as 63 bits tell.
static uint64_t stack_key(const struct stack *stack, uint64_t slot)
{
    uint64_t key = slot << RECORD_SLOT_SHIFT;
    for (uint32_t i = 0; i < stack->count; i++)
        key = (key ^ stack->pcs[i]) * RECORD_MULTIPLIER ^ key >> 29;
    return random_mix(key) | 2;
}

// NULL: there is no room.
static uint64_t *new_count(struct record_table *table, const struct call *call,
                           const struct stack *stack)
{
    uint32_t process = process_row(), function = function_row(call->function);
    if (process == NO_ROOM || function == NO_ROOM)
        return NULL;
    struct wire_call *row = row_new(table);
    if (row == NULL)
        return NULL;
    system_touch(row);
    row->state = WIRE_RECORD_OPEN;
    row->process = process - 1;
    row->function = function - 1;
    row->site = journal_frame(stack->place);
    row->stack = stack->count != 0 ? frames_hash(stack->pcs, stack->count) : stack->hash;
    row->first = call->occurrence;
    row->count = 1;
    atomic_store(&row->state, WIRE_RECORD_COMPLETE);
    return &row->count;
}

// Counts the call. Returns the counter, or NULL.
static uint64_t *count_call(const struct call *call, const struct stack *stack, uint64_t key)
{
    uint32_t entries;
    struct record_table *table = table_now(&entries);
    if (table == NULL) {
        atomic_add(&runtime.calls->lost, 1);
        return NULL;
    }
    struct record_entry *entry = table_find(table, entries, key);
    if (entry != NULL) {
        atomic_add(entry->count, 1);
        return entry->count;
    }
    if (table->used >= entries / 2)
        table = table_grow(table, &entries);
    uint64_t *count = table->used < entries / 8 * 7 ? new_count(table, call, stack) : NULL;
    if (count != NULL)
        table_put(table, entries, key, count);
    else
        atomic_add(&runtime.calls->lost, 1);
    return count;
}

// Not inlined: frames need room on the stack, and most calls come by a known path.
__attribute__((noinline)) static uint64_t *count_stack(const struct call *call)
{
    struct stack stack;
    stack.place = call->frame->return_address;
    stack.count = stack_collect(call, stack.pcs);
    return count_call(call, &stack, stack_key(&stack, call->frame->slot));
}

// A call path takes a fifth of a page: a process that makes few calls does without.
#define WALKS_FIRST 2048
static uint32_t stacks_walked;

static uint64_t *record_stack(const struct call *call)
{
    struct call_path *path = NULL;
    if (atomic_load(&stacks_walked) < WALKS_FIRST)
        atomic_add(&stacks_walked, 1);
    else
        path = call_path_of(call);
    if (path == NULL || !call_path_is_whole(path, call))
        return count_stack(call);
    // The counter must be this process's: a forked child has rows of its own.
    if (path->recorded != NULL && path->recorded_slot == call->frame->slot &&
        path->recorded_by == runtime.process->key) {
        atomic_add(path->recorded, 1);
    } else {
        path->recorded = count_stack(call);
        path->recorded_slot = call->frame->slot;
        path->recorded_by = runtime.process->key;
        call_path_depends_on_all(path);
    }
    return path->recorded;
}

static uint64_t *record_site(const struct call *call)
{
    struct stack none;
    none.place = call->frame->return_address;
    none.hash = none.count = 0;
    return count_call(call, &none,
                      call->frame->return_address | call->frame->slot << RECORD_SLOT_SHIFT);
}

// The hash of a module's path, as the controller knows it.
static uint64_t name_of(struct module *module)
{
    uint32_t index = module->path_hash == 0 ? module_index(module) : WIRE_FRAME_UNKNOWN;
    if (index != WIRE_FRAME_UNKNOWN) {
        const struct wire_module *entry =
            (const struct wire_module *)region_at(runtime.region->modules) + index;
        size_t size = 0;
        while (size < WIRE_MODULE_PATH && entry->path[size] != '\0')
            size++;
        module->path_hash = wire_fingerprint(entry->path, size);
    }
    return module->path_hash;
}

static bool is_stackless(const struct function *function, uint64_t return_address)
{
    const struct wire_span stackless = runtime.plan->stackless;
    const uint64_t *places = plan_array(stackless);
    struct module *module = module_at(return_address);
    if (module == NULL)
        return false;
    uint64_t place =
        wire_place(function->stackless, name_of(module), return_address - module->bias);
    uint64_t at = place >> 32;
    for (uint32_t i = 0; i < stackless.count; i++, at++) {
        uint64_t found = places[at & (stackless.count - 1)];
        if (found == place || found == 0)
            return found != 0;
    }
    return false;
}

// Not at every call: the same descriptor from the same place is mostly the same thing.
static void record_kind(struct wire_call *row, uint64_t descriptor)
{
    if (row->descriptor == (uint16_t)descriptor && (row->count & (row->count - 1)) != 0)
        return;
    uint32_t kind = descriptor_kind((int32_t)descriptor);
    uint32_t found = WIRE_KIND_LOOKED | (kind != WIRE_NONE ? 1u << kind : 0);
    if (kind == WIRE_FD_SOCKET && descriptor_is_connection((int32_t)descriptor))
        found |= 1u << WIRE_FD_CONNECTION;
    if ((row->kinds & WIRE_KIND_LOOKED) != 0 && row->descriptor != (uint16_t)descriptor)
        found |= WIRE_KIND_SEVERAL;
    row->descriptor = (uint16_t)descriptor;
    __atomic_fetch_or(&row->kinds, (uint16_t)found, __ATOMIC_RELAXED);
}

static void record_condition(struct wire_call *row, const struct call *call, uint32_t rule)
{
    const uint32_t found =
        evaluate(call, rule, runtime.rules[rule].code) ? WIRE_KIND_HELD : WIRE_KIND_NOT_HELD;
    __atomic_fetch_or(&row->kinds, (uint16_t)found, __ATOMIC_RELAXED);
}

static struct wire_call *row_of(uint64_t *count)
{
    return (struct wire_call *)((char *)count - offsetof(struct wire_call, count));
}

static void record_stream_write(const struct call *call)
{
    struct stack none;
    uint64_t stream = call->frame->arguments[0];
    const struct stream_opening opening = stream_opening(stream);
    // Of a stream that is not known there is only the place in the C library.
    none.place = opening.place != 0 ? opening.place : call->frame->return_address;
    none.hash = opening.stack;
    none.count = 0;
    uint64_t key = (call->frame->slot << RECORD_SLOT_SHIFT ^ none.place) * RECORD_MULTIPLIER;
    uint64_t *count = count_call(call, &none, random_mix(key ^ none.hash) | 2);
    if (count == NULL)
        return;
    struct wire_call *row = row_of(count);
    row->stream = opening.place != 0 ? row->site : 0;
    if (call->occurrence > row->last)
        row->last = call->occurrence;
    int64_t descriptor = stream_descriptor(stream);
    record_kind(row, (uint64_t)descriptor);
    // The command's standard output is a pipe of the controller, which stands for any other file.
    if (row->count == 1 && descriptor == 1 && runtime.programs->output == descriptor_inode(1))
        __atomic_fetch_or(&row->kinds, (uint16_t)(1u << WIRE_FD_FILE), __ATOMIC_RELAXED);
}

// The stream of a place's first call stands for all.
static void record_opening(struct wire_call *row, const struct call *call)
{
    const uint32_t reads = WIRE_TRAIT_END_IS_0 | WIRE_TRAIT_END_IS_EOF;
    const struct wire_traits *traits = call->function->traits;
    uint64_t stream;
    uint32_t flags;
    if (row->stream != 0 || (traits->flags & reads) != 0 ||
        !stream_of(call->frame, traits, &stream, &flags))
        return;
    const struct stream_opening opening = stream_opening(stream);
    row->stream = opening.place != 0 ? journal_frame(opening.place) : 0;
}

static uint64_t inside_rows; // of calls inside an observed one, so far

void record_call(const struct call *call)
{
    struct function *function = call->function;
    if ((runtime.region->options & WIRE_RECORD_INSIDE) != 0) {
        struct call inside = *call;
        if (!call_is_inside(call))
            return;
        inside.occurrence = atomic_add(&function->inside, 1) + 1;
        uint64_t *count = record_site(&inside);
        if (count != NULL && *count == 1)
            row_of(count)->stack = atomic_add(&inside_rows, 1) + 1;
        return;
    }
    if (writes_stream(function)) {
        record_stream_write(call);
        return;
    }
    if ((runtime.region->options & WIRE_RECORD_STACKS) == 0) {
        record_site(call);
        return;
    }
    bool stackless =
        function->stackless != 0 && is_stackless(function, call->frame->return_address);
    uint64_t *count = stackless ? record_site(call) : record_stack(call);
    if (function->condition != 0 && count != NULL)
        record_condition(row_of(count), call, function->condition - 1);
    if (function->descriptor != 0 && count != NULL)
        record_kind(row_of(count), call->frame->arguments[function->descriptor - 1]);
    if (function->traits != NULL && count != NULL)
        record_opening(row_of(count), call);
}
