// SPDX-License-Identifier: GPL-3.0-or-later
// Counts calls by process, function, site and maybe stack, straight into the region: nothing is
// lost however the process dies. A row is found through a cache of this process, which the kernel
// empties in a forked child; where threads, signals or processes get in each other's way, a key
// takes a second row, and the reader adds them up.
#include "runtime/runtime.h"

#include <linux/mman.h>

#define CACHE_LINES 16384
#define CACHE_WAYS  4    // of a line of 64 bytes
#define PROBES      4096 // code that only calls has several rows for each of its slots
#define NO_ROOM     0xffffffffu

// The assembly of record.S knows this layout. An entry is never replaced by another, so that its
// count belongs to its key; record_forget() may make them differ by one call.
struct cached {
    uint64_t key; // 0: free, BUSY: being written
    uint64_t *count;
};
#define BUSY 1
struct cached (*runtime_record_cache)[CACHE_WAYS] __attribute__((visibility("hidden")));

void record_prepare(void)
{
    if ((runtime.region->options & WIRE_RECORD_CALLS) == 0 || runtime.region->calls == 0)
        return;
    const size_t size = CACHE_LINES * sizeof(struct cached[CACHE_WAYS]);
    long memory = SYSTEM_6(__NR_mmap, 0, size, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    // Without this a child would go on counting for its parent.
    if (system_failed(memory) ||
        system_failed(SYSTEM_3(__NR_madvise, memory, size, MADV_WIPEONFORK))) {
        journal_note(WIRE_NOTE_MEMORY, "the cache of recorded calls");
        return;
    }
    runtime_record_cache = (struct cached(*)[CACHE_WAYS])memory;
    runtime.calls = region_at(runtime.region->calls);
}

void record_forget(void)
{
    if (runtime_record_cache == NULL)
        return;
    for (uint32_t i = 0; i < CACHE_LINES; i++)
        for (uint32_t way = 0; way < CACHE_WAYS; way++)
            if (runtime_record_cache[i][way].key != 0)
                atomic_store(&runtime_record_cache[i][way].key, 0);
}

bool record_is_all(const struct function *function)
{
    for (uint32_t i = 0; i < function->rule_count; i++)
        if (runtime.rules[function->rules[i]].actions != 0)
            return false;
    return (runtime.region->options & WIRE_RECORD_STACKS) == 0;
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
    row->state = WIRE_RECORD_OPEN;
    row->number = process->number;
    row->pid = system_pid();
    text_copy(row->program, sizeof row->program, runtime.invoked);
    if (!atomic_swap_if(&process->recorded, 0, index + 1)) // another thread was faster
        return process->recorded;
    atomic_store(&row->state, WIRE_RECORD_COMPLETE);
    return index + 1;
}

static uint32_t function_row(struct function *function)
{
    if (function->recorded != 0)
        return function->recorded;
    struct module *definer = (struct module *)function->library;
    uint32_t library = definer != NULL ? module_index(definer) : WIRE_FRAME_UNKNOWN;
    uint32_t start = wire_hash(function->name), index = NO_ROOM;
    for (uint32_t i = 0; i < WIRE_CALL_FUNCTIONS && index == NO_ROOM; i++) {
        uint32_t at = (start + i) % WIRE_CALL_FUNCTIONS;
        struct wire_call_function *row = &runtime.calls->function[at];
        if (atomic_swap_if(&row->state, WIRE_RECORD_EMPTY, WIRE_RECORD_OPEN)) {
            row->library = library;
            text_copy(row->name, sizeof row->name, function->name);
            atomic_store(&row->state, WIRE_RECORD_COMPLETE);
            index = at + 1;
        } else if (atomic_load(&row->state) == WIRE_RECORD_COMPLETE && row->library == library &&
                   text_equal(row->name, function->name)) {
            index = at + 1;
        }
    }
    atomic_store(&function->recorded, index);
    return index;
}

static struct wire_call *row_of(uint32_t process, uint32_t function, uint64_t site, uint64_t stack,
                                uint64_t occurrence)
{
    // Not spread evenly: rows of sites close together stand on the same page.
    uint64_t hash = process * 1021ull + WIRE_FRAME_MODULE(site) * 97ull +
                    (WIRE_FRAME_OFFSET(site) >> 7) +
                    (random_mix(stack) & (stack != 0 ? 0xffff : 0));
    for (uint32_t i = 0; i < PROBES; i++) {
        struct wire_call *row = &runtime.calls->rows[(hash + i) % WIRE_CALLS];
        if (atomic_swap_if(&row->state, WIRE_RECORD_EMPTY, WIRE_RECORD_OPEN)) {
            row->process = process;
            row->function = function;
            row->site = site;
            row->stack = stack;
            row->first = occurrence;
            atomic_store(&row->state, WIRE_RECORD_COMPLETE);
            return row;
        }
        if (atomic_load(&row->state) == WIRE_RECORD_COMPLETE && row->process == process &&
            row->function == function && row->site == site && row->stack == stack)
            return row;
    }
    return NULL;
}

// A line for 64 bytes of code: few pages for a process that runs little of it.
static struct cached *cache_line(uint64_t key)
{
    return runtime_record_cache[(key >> 6) % CACHE_LINES];
}

static struct cached *cache_find(uint64_t key)
{
    struct cached *line = cache_line(key);
    for (uint32_t i = 0; i < CACHE_WAYS; i++)
        if (atomic_load(&line[i].key) == key)
            return &line[i];
    return NULL;
}

// Nobody waits: not a signal handler for the thread it interrupted.
static void cache_put(uint64_t key, uint64_t *count)
{
    struct cached *line = cache_line(key);
    for (uint32_t i = 0; i < CACHE_WAYS; i++) {
        if (!atomic_swap_if(&line[i].key, 0, BUSY))
            continue;
        line[i].count = count;
        atomic_store(&line[i].key, key);
        return;
    }
}

void record_call(const struct call *call)
{
    const struct call_frame *frame = call->frame;
    bool by_stack = (runtime.region->options & WIRE_RECORD_STACKS) != 0;
    uint64_t key = frame->return_address | frame->slot << 48;
    if (by_stack) {
        uint64_t pcs[WIRE_FRAMES];
        uint32_t count = walk_collect(frame, pcs, WIRE_FRAMES);
        key = frame->slot << 48; // the first of them is the return address
        for (uint32_t i = 0; i < count; i++)
            key = random_mix(key ^ pcs[i]);
        key |= 1;
    }
    struct cached *entry = cache_find(key);
    if (entry != NULL) {
        atomic_add(entry->count, 1);
        return;
    }
    uint32_t process = process_row(), function = function_row(call->function);
    struct wire_call *row = NULL;
    if (process != NO_ROOM && function != NO_ROOM)
        row = row_of(process - 1, function - 1, journal_frame(frame->return_address),
                     by_stack ? stack_hash(frame) : 0, call->occurrence);
    if (row == NULL) {
        atomic_add(&runtime.calls->lost, 1);
        return;
    }
    atomic_add(&row->count, 1);
    cache_put(key, &row->count);
}
