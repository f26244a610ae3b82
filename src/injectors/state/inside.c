// SPDX-License-Identifier: GPL-3.0-or-later
// Faults that the runtime injects (runtime/stops.c), without a tracer: one in a trial, or many in a
// workload that forks for each. Only if all reference runs have shown that the runtime is in the
// program, and for faults that a signal handler can inject.
#include "injectors/state/internal.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "elf/object.h"
#include "trial/forking.h"

#include <stdlib.h>
#include <string.h>

// Executions before the last fault of a lot, at all stop addresses: each costs two signals.
#define COUNTED_MOST 200000u

// Whether a program may notice that an instruction is executed with the trap flag: those that store
// or load flags, or enter the kernel.
static bool shows_step(const unsigned char *code, size_t size)
{
    static const unsigned char prefixes[] = {0x66, 0x67, 0x2e, 0x36, 0x3e,
                                             0x26, 0x64, 0x65, 0xf2, 0xf3},
                               shown[] = {0x17, 0x8e, 0x9c, 0x9d, 0xcc, 0xcd, 0xcf, 0xf1};
    size_t at = 0;
    while (at < size && memchr(prefixes, code[at], sizeof prefixes) != NULL)
        at++;
    at += at < size && code[at] >> 4 == 4; // REX
    if (at == size)
        return true;
    return memchr(shown, code[at], sizeof shown) != NULL ||
           (code[at] == 0x0f && at + 1 < size && (code[at + 1] == 0x05 || code[at + 1] == 0x34));
}

bool upsets_fits_inside(const struct upsets *self, const struct wire_state_fault *fault)
{
    uint32_t index = flow_insn_at(self->program.image, fault->stop);
    size_t size;
    if (index == FLOW_NONE || fault->moment_ns != 0 || fault->permanent || fault->thread != 0 ||
        fault->system_call)
        return false;
    const struct isa_insn *insn = &self->program.image->insns.items[index];
    const unsigned char *code = state_program_code(&self->program, insn, &size);
    if (code == NULL || shows_step(code, insn->length))
        return false;
    if (fault->memory)
        return fault->read == WIRE_STATE_READ_ALWAYS && fault->instruction == 0;
    return fault->register_class == WIRE_STATE_GENERAL ||
           fault->register_class == WIRE_STATE_FLAGS ||
           (fault->register_class == WIRE_STATE_VECTOR && fault->size == 16 &&
            fault->register_number < 16);
}

static struct error *add_block(const struct upsets *self, uint64_t address,
                               struct wire_coverage_block *block)
{
    size_t size;
    const unsigned char *code = elf_object_code(dwarf_module_object(self->program.module), address,
                                                sizeof block->code, &size);
    if (code == NULL || size < sizeof block->code)
        return error_new("%s has no code at 0x%llx", self->program.path,
                         (unsigned long long)address);
    *block = (struct wire_coverage_block){.address = address, .flags = WIRE_BLOCK_STOP};
    memcpy(&block->code, code, sizeof block->code);
    return NULL;
}

// The program under its name, and under that of the file behind it.
static size_t name_modules(const struct upsets *self, uint32_t blocks,
                           struct wire_coverage_module modules[2])
{
    _cleanup_free_ char *real = realpath(self->program.path, NULL);
    const char *names[] = {self->program.path, real};
    size_t count = 0;
    for (size_t i = 0; i < 2; i++) {
        if (names[i] == NULL || strlen(names[i]) >= WIRE_MODULE_PATH ||
            (count != 0 && strcmp(modules[0].path, names[i]) == 0))
            continue;
        modules[count].first = 0;
        modules[count].count = blocks;
        strcpy(modules[count++].path, names[i]);
    }
    return count;
}

static struct error *fill_stops(const struct upsets *self, const struct upset_branch *branches,
                                size_t count, struct wire_coverage_block *blocks,
                                struct wire_stop *stops, size_t *ret_blocks)
{
    size_t made = 0;
    for (size_t i = 0; i < count; i++) {
        const struct wire_state_fault *fault = &branches[i].plan;
        if (made == 0 || blocks[made - 1].address != fault->stop)
            TRY(add_block(self, fault->stop, &blocks[made++]));
        stops[i].block = (uint32_t)made - 1;
        stops[i].fault = *fault;
    }
    *ret_blocks = made;
    return NULL;
}

struct error *upsets_make_stops(struct upsets *self, const struct upset_branch *branches,
                                size_t count)
{
    struct wire_coverage_module modules[2] = {0};
    _cleanup_free_ struct wire_coverage_block *blocks = calloc(count + 1, sizeof *blocks);
    _cleanup_free_ struct wire_stop *stops = calloc(count + 1, sizeof *stops);
    size_t block_count;
    if (blocks == NULL || stops == NULL)
        return error_no_memory();
    TRY(fill_stops(self, branches, count, blocks, stops, &block_count));
    self->module_count = name_modules(self, (uint32_t)block_count, modules);
    cover_file_close(&self->stops);
    TRY(cover_file_create(modules, self->module_count, blocks, block_count, &self->stops));
    return cover_file_add_stops(&self->stops, stops, count);
}

void upsets_note_runtime(struct upsets *self, const struct wire_view *view)
{
    bool seen = false;
    for (size_t i = 0; view != NULL && i < self->module_count && i < view->region->mark_count; i++)
        seen |= view->marks[i] != 0;
    self->missed |= !seen;
    self->seen |= seen;
}

static uint64_t crash_ns(const struct wire_view *view)
{
    for (uint32_t i = 0; i < view->record_count; i++)
        if (view->journal[i].state == WIRE_RECORD_COMPLETE &&
            view->journal[i].kind == WIRE_RECORD_CRASH)
            return view->journal[i].time_ns;
    return 0;
}

bool upsets_read_stop(const struct upsets *self, const struct wire_view *view, size_t stop,
                      struct wire_state_result *ret_result)
{
    struct wire_state_result result = {0};
    if (view->region->mark_count != cover_file_marks(&self->stops))
        return false;
    const uint32_t *marks = cover_file_stop(&self->stops, view->marks, stop);
    uint32_t state = marks[WIRE_STOP_STATE];
    if (state > WIRE_STOP_ACTIVATED)
        return false;
    result.injected = state >= WIRE_STOP_INJECTED;
    result.activation = state == WIRE_STOP_ACTIVATED ? WIRE_STATE_ACTIVATED
                        : cover_file_read(&self->stops, stop) == WIRE_STATE_READ_NEVER
                            ? WIRE_STATE_UNKNOWN
                            : WIRE_STATE_NOT_ACTIVATED;
    result.injected_ns = self->start_ns + marks[WIRE_STOP_INJECTED_US] * 1000ull;
    if (state == WIRE_STOP_ACTIVATED) {
        result.activated_ns = result.injected_ns;
        uint64_t crashed = crash_ns(view);
        result.crashed_ns = crashed != 0 ? self->start_ns + crashed : 0;
    }
    *ret_result = result;
    return true;
}

// ---- Trials that fork ----

void upsets_forget_branches(struct upsets *self)
{
    for (size_t i = 0; i < self->branch_count; i++)
        state_fault_deinit(&self->branches[i].fault);
    free(TAKE(self->branches));
    self->branch_count = 0;
}

static const char *obstacle(void *data)
{
    const struct upsets *self = data;
    return upsets_works_inside(self) ? NULL : "the runtime cannot be loaded into the program";
}

static int by_stop(const void *a, const void *b)
{
    const struct wire_state_fault *x = &((const struct upset_branch *)a)->plan,
                                  *y = &((const struct upset_branch *)b)->plan;
    if (x->stop != y->stop)
        return x->stop < y->stop ? -1 : 1;
    return (x->count > y->count) - (x->count < y->count);
}

// Leaves out those that would take too many executions to get to.
static void keep_near(struct upsets *self, bool *suits)
{
    uint64_t left = COUNTED_MOST;
    size_t kept = 0;
    for (size_t i = 0; i < self->branch_count; i++) {
        struct upset_branch *branch = &self->branches[i];
        const struct wire_state_fault *before = kept != 0 ? &self->branches[kept - 1].plan : NULL;
        uint64_t more = branch->plan.count;
        if (before != NULL && before->stop == branch->plan.stop)
            more -= before->count;
        if (more > left) {
            state_fault_deinit(&branch->fault);
            continue;
        }
        left -= more;
        suits[branch->shot] = true;
        self->branches[kept++] = *branch;
    }
    self->branch_count = kept;
}

static struct error *take_shots(struct upsets *self, const struct fork_shot *shots, size_t count,
                                bool *suits)
{
    upsets_forget_branches(self);
    self->branches = calloc(count + 1, sizeof *self->branches);
    if (self->branches == NULL)
        return error_no_memory();
    for (size_t i = 0; i < count; i++) {
        struct upset_branch *branch = &self->branches[self->branch_count];
        const struct source source = source_whole("fault", shots[i].spec, strlen(shots[i].spec));
        suits[i] = false;
        branch->shot = i;
        TRY(state_fault_parse(&source, &branch->fault));
        self->branch_count++;
        if (branch->fault.library == NULL)
            TRY(state_program_resolve(&self->program, &branch->fault, &source, &branch->plan));
        if (branch->fault.library != NULL || !upsets_fits_inside(self, &branch->plan))
            state_fault_deinit(&self->branches[--self->branch_count].fault);
    }
    qsort(self->branches, self->branch_count, sizeof *self->branches, by_stop);
    keep_near(self, suits);
    return NULL;
}

static struct error *prepare_branches(void *data, struct shot *shot, const struct fork_shot *shots,
                                      size_t count, bool *suits)
{
    struct upsets *self = data;
    self->is_reference = false;
    self->input = shot->input < self->inputs ? shot->input : 0;
    self->inside = self->forking = true;
    TRY(take_shots(self, shots, count, suits));
    TRY(upsets_make_stops(self, self->branches, self->branch_count));
    TRY(upsets_prepare_runtime(self, shot, true));
    self->visible[0] = runtime_session_file(self->session);
    self->visible[1] = runtime_session_coverage(self->session);
    self->visible[2] = NULL;
    shot->visible = self->visible;
    shot->fixed_addresses = true;
    return NULL;
}

static struct forking *forking_of(void *data)
{
    const struct upsets *self = data;
    return runtime_session_forking(self->session);
}

static size_t which(void *data, uint32_t rule)
{
    const struct upsets *self = data;
    return rule < self->branch_count ? self->branches[rule].shot : 0;
}

static struct error *observe_branch(void *data, const char *root, size_t index,
                                    struct observation *observation)
{
    struct upsets *self = data;
    struct wire_view view;
    struct wire_state_result result;
    size_t stop = 0;
    TRY(runtime_session_end_branch(self->session, &view));
    TRY(journal_reader_begin(self->reader, root));
    TRY(journal_reader_observe(self->reader, &view, self->no_rules, observation));
    while (stop < self->branch_count && self->branches[stop].shot != index)
        stop++;
    if (observation->damage != WIRE_DAMAGE_NONE || stop == self->branch_count)
        return NULL;
    if (!upsets_read_stop(self, &view, stop, &result)) {
        observation->damage = WIRE_DAMAGE_MARK;
        return NULL;
    }
    const struct upset_branch *branch = &self->branches[stop];
    return upsets_observe(self, &branch->fault, &branch->plan, &result, observation);
}

const struct injector_forks upsets_forks = {
    .obstacle = obstacle,
    .prepare = prepare_branches,
    .forking = forking_of,
    .which = which,
    .observe = observe_branch,
};
