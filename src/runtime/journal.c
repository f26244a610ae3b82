// SPDX-License-Identifier: GPL-3.0-or-later
// The journal: records in the region, each reserved with one atomic addition and marked complete by
// its last store. A record is complete before the target sees anything of the injection, so nothing
// is lost however the target dies.
#include "runtime/journal.h"

#include "runtime/assembly/stubs.h"
#include "runtime/call.h"
#include "runtime/function.h"
#include "runtime/identity.h"
#include "runtime/module.h"
#include "runtime/runtime.h"
#include "runtime/signals.h"
#include "runtime/streams.h"
#include "runtime/system.h"
#include "runtime/unwind.h"

#include <ucontext.h>

// A record for a crash when the journal is full. A program that loops over a failing call fills it
// long before it dies, and how it dies matters most.
static struct wire_record *take_late(void)
{
    struct wire_region *region = runtime.region;
    struct wire_record *late =
        (struct wire_record *)region_at(region->journal) + region->journal_capacity;
    for (uint32_t i = 0; i < WIRE_LATE_CRASHES; i++)
        if (atomic_swap_if(&late[i].state, WIRE_RECORD_EMPTY, WIRE_RECORD_OPEN))
            return &late[i];
    return NULL;
}

// The head goes up before `fired`, and `fired` before the record is complete. So wherever the
// target dies, every count has a record, complete or not, and every complete record is counted.
static struct wire_record *journal_open(enum wire_record_kind kind, uint64_t *fired)
{
    struct wire_region *region = runtime.region;
    thread_self(); // a child that was cloned has no number before
    uint64_t index = atomic_add(&region->journal_head, 1);
    if (fired != NULL)
        atomic_add(fired, 1);
    struct wire_record *record = NULL;
    if (index < region->journal_capacity)
        record = (struct wire_record *)region_at(region->journal) + index;
    else if (kind == WIRE_RECORD_CRASH)
        record = take_late();
    if (record == NULL)
        return NULL;
    record->state = WIRE_RECORD_OPEN;
    record->kind = (uint16_t)kind;
    record->pid = process_pid();
    record->tid = thread_tid();
    record->time_ns = clock_now() - region->start_ns;
    record->process_number = runtime.process->number;
    text_copy(record->process_name, sizeof record->process_name, runtime.invoked);
    return record;
}

static void journal_close(struct wire_record *record)
{
    atomic_store(&record->state, WIRE_RECORD_COMPLETE);
}

uint64_t journal_frame(uint64_t pc)
{
    struct module *module = module_at(pc);
    uint32_t index = module != NULL ? module_index(module) : WIRE_FRAME_UNKNOWN;
    return index != WIRE_FRAME_UNKNOWN ? WIRE_FRAME(index, pc - module->bias)
                                       : WIRE_FRAME(WIRE_FRAME_UNKNOWN, pc);
}

struct frames {
    uint64_t *items;
    uint32_t count, room;
    uint32_t cut; // enum wire_cut
    uint32_t
        fault; // the outermost frame that a fault interrupted, with its handler further in; or 0
};

// Whether the walk has just left the handler of a fault; its frame was at sp. The signal's number
// is not always there, but the processor's last trap is. A made-up context may be taken for a
// fault, and a division by zero, which is trap 0, for none.
static bool leaves_fault(const struct walk *walk, uint64_t sp)
{
    const uint64_t traps = 1 << 6 | 1 << 13 | 1 << 14 | 1 << 16 | 1 << 17 | 1 << 19;
    const ucontext_t *context = (const ucontext_t *)sp;
    uint64_t trap;
    return walk->exact &&
           system_peek(&context->uc_mcontext.gregs[REG_TRAPNO], &trap, sizeof trap) && trap < 32 &&
           (traps >> trap & 1) != 0;
}

// Adds frames from where the walk is outwards. Frames of the runtime, a gate that performs a call,
// are left out.
static void frames_from(struct walk *walk, struct frames *frames)
{
    for (;;) {
        uint64_t sp = walk->sp;
        if (frames->count == 0 || module_at(walk->pc) != runtime.self)
            frames->items[frames->count++] = journal_frame(walk->pc);
        if (!walk_next(walk)) {
            frames->cut = walk->finished ? WIRE_CUT_NOT : WIRE_CUT_UNFINISHED;
            return;
        }
        if (frames->count == frames->room) {
            frames->cut = WIRE_CUT_FULL;
            return;
        }
        if (leaves_fault(walk, sp))
            frames->fault = frames->count;
    }
}

uint32_t journal_frames(const struct call_frame *frame, uint64_t *frames, uint32_t room,
                        uint32_t *ret_cut)
{
    struct walk walk;
    struct frames all = {.items = frames, .room = room};
    walk_start(&walk, frame);
    frames_from(&walk, &all);
    *ret_cut = all.cut;
    return all.count;
}

static void capture_strings(struct wire_record *record, const struct call *call)
{
    const struct wire_pattern *pattern =
        (const struct wire_pattern *)plan_array(runtime.plan->patterns) + call->function->pattern;
    uint32_t next = 0;
    for (uint32_t i = 0; i < WIRE_ARGUMENTS && next < WIRE_CAPTURED_STRINGS; i++)
        if ((pattern->string_arguments >> i & 1) != 0)
            system_peek_text((const char *)call->frame->arguments[i], record->strings[next++],
                             WIRE_CAPTURED_SIZE);
}

static uint64_t opening_of(const struct call *call)
{
    uint64_t stream;
    uint32_t flags;
    if (!stream_of(call->frame, call->function->traits, &stream, &flags))
        return 0;
    uint64_t place = stream_opening(stream).place;
    return place != 0 ? journal_frame(place) : 0;
}

void journal_injection(const struct call *call, uint32_t rule, uint32_t actions,
                       uint64_t short_value)
{
    const struct wire_rule *r = &runtime.rules[rule];
    // A rule never fires more often than its functions are called.
    function_publish_call(call->function, call->occurrence);
    struct wire_record *record =
        journal_open(WIRE_RECORD_INJECTION, &runtime.rule_states[rule].fired);
    if (record == NULL)
        return;
    record->rule = rule;
    record->thread_number = call->thread->number;
    record->actions = actions;
    record->error = r->error;
    record->value[0] = (r->actions & WIRE_SHORT) != 0 ? short_value : r->value[0];
    record->value[1] = r->value[1];
    record->occurrence = call->occurrence;
    record->stream = opening_of(call);
    memcpy(record->arguments, call->frame->arguments, sizeof record->arguments);
    text_copy(record->function, sizeof record->function, call->function->name);
    capture_strings(record, call);
    struct module *library = (struct module *)call->function->library;
    record->library = library != NULL ? module_index(library) : WIRE_FRAME_UNKNOWN;
    record->frame_count =
        (uint16_t)journal_frames(call->frame, record->frames, WIRE_FRAMES, &record->frames_cut);
    journal_close(record);
}

void journal_result(const struct thread *thread, const struct function *function, uint32_t rule,
                    uint64_t result, uint32_t changed)
{
    struct wire_record *record = journal_open(WIRE_RECORD_RESULT, NULL);
    if (record == NULL)
        return;
    record->rule = rule;
    record->thread_number = thread->number;
    record->actions = changed;
    record->occurrence = thread->observed_occurrence;
    text_copy(record->function, sizeof record->function, function->name);
    record->value[0] = result;
    record->error = __errno_location != NULL ? *__errno_location() : 0;
    memcpy(record->arguments, thread->words, sizeof record->arguments);
    journal_close(record);
}

// After a jump to an address without code, mostly a call of a null pointer, the caller's address is
// on top of the stack.
static bool step_over_bad_jump(struct walk *walk)
{
    uint64_t caller;
    if (!walk->exact || module_at(walk->pc) != NULL ||
        !system_peek((const void *)walk->sp, &caller, 8) || module_at(caller) == NULL)
        return false;
    walk->pc = caller;
    walk->sp += 8;
    walk->exact = false;
    return true;
}

void journal_crash(const struct crash *crash)
{
    struct thread *self = thread_self();
    struct wire_record *record = journal_open(WIRE_RECORD_CRASH, NULL);
    if (record == NULL)
        return;
    record->thread_number = self->number;
    record->error = crash->signal;
    record->actions = crash->flags;
    record->value[0] = crash->address;
    record->value[1] = (uint64_t)crash->sender;
    struct walk walk;
    struct frames frames = {.items = record->frames, .room = WIRE_FRAMES};
    if (walk_interrupted(&walk, crash->context)) {
        record->frames[0] = journal_frame(walk.pc);
        frames.count = step_over_bad_jump(&walk);
        frames_from(&walk, &frames);
    }
    record->frame_count = (uint16_t)frames.count;
    record->frames_cut = frames.cut;
    record->occurrence = frames.fault;
    journal_close(record);
}

void journal_note(enum wire_note note, const char *text)
{
    // The same note a thousand times must not push injections out of the journal.
    static uint32_t written[WIRE_NOTES];
    if (atomic_add(&written[note], 1) >= 16)
        return;
    struct wire_record *record = journal_open(WIRE_RECORD_NOTE, NULL);
    if (record == NULL)
        return;
    record->note = note;
    text_copy(record->text, sizeof record->text, text);
    journal_close(record);
}

// Each program is recorded once per trial, up to a limit: the records only serve warnings. Returns
// its number in the table, or WIRE_NONE.
static uint32_t exec_number(const char *path, bool *ret_new)
{
    uint64_t hash = wire_fingerprint(path, text_length(path)) | 1;
    for (uint32_t i = 0; i < WIRE_EXECS; i++) {
        uint32_t number = (uint32_t)((hash + i) % WIRE_EXECS);
        uint64_t *entry = &runtime.programs->execs[number];
        *ret_new = atomic_load(entry) != hash && atomic_swap_if(entry, 0, hash);
        if (*ret_new || atomic_load(entry) == hash)
            return number;
    }
    return WIRE_NONE;
}

uint32_t journal_exec(const char *path)
{
    bool is_new;
    uint32_t number = exec_number(path, &is_new);
    if (number == WIRE_NONE)
        return WIRE_NONE;
    uint32_t *known = &runtime.programs->exec_records[number];
    struct wire_record *record = is_new ? journal_open(WIRE_RECORD_EXEC, NULL) : NULL;
    if (record != NULL) {
        text_copy(record->text, sizeof record->text, path);
        journal_close(record);
        struct wire_record *first = region_at(runtime.region->journal);
        atomic_store(known, (uint32_t)(record - first) + 1);
    }
    return atomic_load(known) - 1; // 0 - 1 is WIRE_NONE
}
