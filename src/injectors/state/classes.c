// SPDX-License-Identifier: GPL-3.0-or-later
// Upsets drawn uniformly over a run: over the program's own instructions that it executes, and the
// bits of general registers and condition flags. All moments from a change of a byte of a register
// to the next instruction that reads it are one class: the flip does the same at each, so one
// trial, just before that instruction, stands for all that are drawn of the class. What is
// overwritten before it is read does nothing, and needs no trial. While libraries run no upsets are
// drawn. A call of a library reads all registers that it may change, and leaves the others as they
// are.
#include "injectors/state/internal.h"

#include "base/cleanup.h"
#include "injector/inputs.h"
#include "isa/operands.h"
#include "stats/stats.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BYTES      (UPSET_GENERAL_BITS / 8) // each is a lane, and each flag
#define LANES      (BYTES + UPSET_FLAGS)
#define EVENTS     40 // of one instruction
#define NO_INSN    UINT32_MAX
#define STOP_FLAGS 0xd5 // those that calls overwrite: all but the direction

const uint8_t upset_flags[UPSET_FLAGS] = {0, 2, 4, 6, 7, 10, 11};

struct point {
    uint64_t moment; // before that instruction, counted over all inputs
    uint32_t bit;
};

struct event {
    uint8_t lane;
    bool reads; // otherwise it overwrites
};

struct insn_events {
    struct event items[EVENTS];
    unsigned count;
    bool known, repeats;
};

// An instruction of the trace that upsets may come before.
struct trace_step {
    uint32_t insn;
    bool away, back; // control leaves the code after it; and comes back to where the call returns
};

struct analysis {
    struct upsets *self;
    struct isa_decoder decoder;
    uint64_t code_start;
    size_t code_size;
    uint32_t *insn_at;      // by offset in the code: of instructions that count
    unsigned char *entries; // by offset: functions start there
    struct insn_events *events;
    uint64_t *executions; // by instruction
    // Of one input:
    const struct upset_trace *trace;
    size_t at;
    struct point *lanes[LANES]; // the points of each, by moment
    size_t left[LANES];
    uint64_t last[LANES];
    candidate_add *add;
    void *add_data;
    uint32_t input; // from 1; 0: there are no inputs
};

static void analysis_deinit(struct analysis *analysis)
{
    free(analysis->insn_at);
    free(analysis->entries);
    free(analysis->events);
    free(analysis->executions);
}

static struct error *analysis_init(struct upsets *self, struct analysis *analysis)
{
    const struct flow_image *image = self->program.image;
    uint64_t low = UINT64_MAX, high = 0;
    for (size_t i = 0; i < image->functions.count; i++) {
        const struct flow_function *function = &image->functions.items[i];
        low = function->start < low ? function->start : low;
        high = function->end > high ? function->end : high;
    }
    *analysis = (struct analysis){.self = self, .code_start = low};
    analysis->code_size = low < high ? high - low : 0;
    analysis->insn_at = malloc((analysis->code_size + 1) * sizeof *analysis->insn_at);
    analysis->entries = calloc(analysis->code_size + 1, 1);
    analysis->events = calloc(image->insns.count + 1, sizeof *analysis->events);
    analysis->executions = calloc(image->insns.count + 1, sizeof *analysis->executions);
    if (analysis->insn_at == NULL || analysis->entries == NULL || analysis->events == NULL ||
        analysis->executions == NULL)
        return error_no_memory();
    isa_decoder_init(&analysis->decoder);
    memset(analysis->insn_at, 0xff, (analysis->code_size + 1) * sizeof *analysis->insn_at);
    for (size_t i = 0; i < image->functions.count; i++)
        analysis->entries[image->functions.items[i].start - low] = 1;
    for (uint32_t i = 0; i < image->blocks.count; i++) {
        const struct flow_block *block = &image->blocks.items[i];
        for (uint32_t j = 0; upsets_uses_block(self, i) && j < block->count; j++) {
            uint64_t address = flow_address(image, &image->insns.items[block->first + j]);
            if (address - low < analysis->code_size)
                analysis->insn_at[address - low] = block->first + j;
        }
    }
    return NULL;
}

// ---- What an instruction does to each byte ----

static void add_event(struct insn_events *events, unsigned lane, bool reads)
{
    for (unsigned i = 0; i < events->count; i++)
        if (events->items[i].lane == lane) {
            events->items[i].reads |= reads;
            return;
        }
    if (events->count < EVENTS)
        events->items[events->count++] = (struct event){(uint8_t)lane, reads};
}

static void add_bytes(struct insn_events *events, unsigned number, unsigned first_bit,
                      unsigned bits, bool reads)
{
    for (unsigned byte = first_bit / 8; byte < 8 && byte * 8 < first_bit + bits; byte++)
        add_event(events, number * 8 + byte, reads);
}

static void add_flags(struct insn_events *events, unsigned mask, bool reads)
{
    for (unsigned i = 0; i < UPSET_FLAGS; i++)
        if ((mask >> upset_flags[i] & 1) != 0)
            add_event(events, BYTES + i, reads);
}

// By DWARF numbers: rax, and what system calls take: rdi, rsi, rdx, r10, r8, r9. They overwrite rcx
// and r11.
static void add_system_call(struct insn_events *events)
{
    static const uint8_t taken[] = {0, 5, 4, 1, 10, 8, 9};
    for (unsigned i = 0; i < sizeof taken; i++)
        add_bytes(events, taken[i], 0, 64, true);
    add_bytes(events, 2, 0, 64, false);
    add_bytes(events, 11, 0, 64, false);
}

static const struct insn_events *events_of(struct analysis *analysis, uint32_t insn)
{
    const struct state_program *program = &analysis->self->program;
    const struct isa_insn *item = &program->image->insns.items[insn];
    struct insn_events *events = &analysis->events[insn];
    struct isa_reads reads;
    size_t size;
    if (events->known)
        return events;
    events->known = true;
    const unsigned char *code = state_program_code(program, item, &size);
    if (code == NULL ||
        !isa_reads(&analysis->decoder, code, size, flow_address(program->image, item), &reads))
        return events;
    events->repeats = reads.repeats;
    for (size_t i = 0; i < reads.count; i++) {
        const struct isa_read *read = &reads.items[i];
        if (read->kind == ISA_READ_GENERAL)
            add_bytes(events, read->number, read->first_bit, read->bits, true);
        else if (read->kind == ISA_READ_FLAGS)
            add_flags(events, read->flags, true);
    }
    for (size_t i = 0; i < reads.change_count; i++)
        add_bytes(events, reads.changes[i].number, reads.changes[i].first_bit,
                  reads.changes[i].bits, !reads.changes[i].always);
    add_flags(events, reads.flags_written, reads.flags_may_stay);
    if (reads.system_call)
        add_system_call(events);
    return events;
}

// ---- The trace, step by step ----

static uint32_t insn_of(const struct analysis *analysis, uint32_t address)
{
    uint64_t offset = address - analysis->code_start;
    return address != WIRE_STATE_AWAY && offset < analysis->code_size ? analysis->insn_at[offset]
                                                                      : NO_INSN;
}

static bool next_step(struct analysis *analysis, struct trace_step *step)
{
    const struct upset_trace *trace = analysis->trace;
    size_t *at = &analysis->at;
    while (*at < trace->count && insn_of(analysis, trace->items[*at]) == NO_INSN)
        ++*at;
    if (*at >= trace->count)
        return false;
    uint32_t address = trace->items[(*at)++];
    *step = (struct trace_step){.insn = insn_of(analysis, address)};
    // A string instruction is stepped once for each element.
    if (events_of(analysis, step->insn)->repeats)
        while (*at < trace->count && trace->items[*at] == address)
            ++*at;
    for (; *at < trace->count && insn_of(analysis, trace->items[*at]) == NO_INSN; ++*at)
        step->away = true;
    step->away |= *at >= trace->count;
    step->back = *at < trace->count && !analysis->entries[trace->items[*at] - analysis->code_start];
    return true;
}

static uint64_t count_steps(struct analysis *analysis, const struct upset_trace *trace)
{
    struct trace_step step;
    uint64_t count = 0;
    analysis->trace = trace;
    for (analysis->at = 0; next_step(analysis, &step);)
        count++;
    return count;
}

// ---- Classes ----

static struct error *add_class(struct analysis *analysis, unsigned lane, unsigned bit,
                               uint64_t weight, uint32_t insn)
{
    struct upsets *self = analysis->self;
    const struct flow_image *image = self->program.image;
    struct state_fault fault = {.count = analysis->executions[insn], .input = analysis->input};
    if (lane < BYTES) {
        fault.reg = state_register_general(lane / 8);
        bit += lane % 8 * 8;
    } else {
        fault.reg = state_register_flags();
        bit = upset_flags[lane - BYTES];
    }
    fault.bits[bit / 8] = (unsigned char)(1u << bit % 8);
    self->drawn.classes++;
    return upsets_add(self, &fault, flow_address(image, &image->insns.items[insn]), (double)weight,
                      analysis->add, analysis->add_data);
}

// A byte is read or overwritten by the instruction at `moment`.
static struct error *close_class(struct analysis *analysis, const struct event *event,
                                 uint64_t moment, uint32_t insn)
{
    unsigned lane = event->lane;
    uint64_t hits[8] = {0}, width = lane < BYTES ? 8 : 1;
    struct upset_draw *drawn = &analysis->self->drawn;
    if (event->reads) {
        drawn->all_classes += width;
        drawn->read += (double)(moment + 1 - analysis->last[lane]) * (double)width;
    }
    analysis->last[lane] = moment + 1;
    for (; analysis->left[lane] != 0 && analysis->lanes[lane]->moment <= moment;
         analysis->lanes[lane]++, analysis->left[lane]--)
        hits[lane < BYTES ? analysis->lanes[lane]->bit % 8 : 0]++;
    for (unsigned bit = 0; bit < width; bit++) {
        if (!event->reads)
            drawn->unread += hits[bit];
        else if (hits[bit] != 0)
            TRY(add_class(analysis, lane, bit, hits[bit], insn));
    }
    return NULL;
}

// Registers by DWARF number that a called function may change: all but rbx, rbp, rsp, r12 to r15.
static bool is_scratch(unsigned number)
{
    return number < 3 || number == 4 || number == 5 || (number >= 8 && number <= 11);
}

static struct error *close_classes_away(struct analysis *analysis, const struct trace_step *step,
                                        uint64_t moment)
{
    for (unsigned lane = 0; lane < LANES; lane++) {
        bool flag = lane >= BYTES;
        const struct event event = {(uint8_t)lane, !flag};
        if (flag ? (STOP_FLAGS >> upset_flags[lane - BYTES] & 1) != 0
                 : !step->back || is_scratch(lane / 8))
            TRY(close_class(analysis, &event, moment, step->insn));
    }
    return NULL;
}

// Without classes: every point that is due, at the instruction that is about to be executed.
static struct error *add_points(struct analysis *analysis, uint64_t moment, uint32_t insn)
{
    for (unsigned lane = 0; lane < LANES; lane++)
        for (; analysis->left[lane] != 0 && analysis->lanes[lane]->moment == moment;
             analysis->lanes[lane]++, analysis->left[lane]--)
            TRY(add_class(analysis, lane, lane < BYTES ? analysis->lanes[lane]->bit % 8 : 0, 1,
                          insn));
    return NULL;
}

static struct error *walk(struct analysis *analysis, uint64_t moment)
{
    struct trace_step step;
    memset(analysis->executions, 0,
           analysis->self->program.image->insns.count * sizeof *analysis->executions);
    for (unsigned lane = 0; lane < LANES; lane++)
        analysis->last[lane] = moment;
    for (analysis->at = 0; next_step(analysis, &step); moment++) {
        analysis->executions[step.insn]++;
        if (analysis->self->each_point) {
            TRY(add_points(analysis, moment, step.insn));
            continue;
        }
        const struct insn_events *events = events_of(analysis, step.insn);
        for (unsigned i = 0; i < events->count; i++)
            if (events->items[i].reads || !step.away)
                TRY(close_class(analysis, &events->items[i], moment, step.insn));
        if (step.away)
            TRY(close_classes_away(analysis, &step, moment));
    }
    return NULL;
}

// ---- Points ----

static int by_lane(const void *a, const void *b)
{
    const struct point *x = a, *y = b;
    unsigned lane_x = x->bit < BYTES * 8 ? x->bit / 8 : x->bit - BYTES * 7,
             lane_y = y->bit < BYTES * 8 ? y->bit / 8 : y->bit - BYTES * 7;
    if (lane_x != lane_y)
        return lane_x < lane_y ? -1 : 1;
    return (x->moment > y->moment) - (x->moment < y->moment);
}

// Sorts the points of [first, end) of moments to the front, by lane and moment, and says where each
// lane begins. Returns their number.
static size_t share_out(struct analysis *analysis, struct point *points, size_t count,
                        uint64_t first, uint64_t end)
{
    size_t mine = 0;
    for (size_t i = 0; i < count; i++)
        if (points[i].moment >= first && points[i].moment < end) {
            struct point swapped = points[mine];
            points[mine++] = points[i];
            points[i] = swapped;
        }
    if (mine != 0)
        qsort(points, mine, sizeof *points, by_lane);
    memset(analysis->left, 0, sizeof analysis->left);
    for (size_t i = mine; i-- > 0;) {
        uint32_t bit = points[i].bit;
        unsigned lane = bit < BYTES * 8 ? bit / 8 : bit - BYTES * 7;
        analysis->lanes[lane] = &points[i];
        analysis->left[lane]++;
    }
    return mine;
}

struct error *upsets_draw(struct upsets *self, candidate_add *add, void *add_data)
{
    _cleanup_(analysis_deinit) struct analysis analysis = {0};
    struct upset_draw *drawn = &self->drawn;
    TRY(analysis_init(self, &analysis));
    analysis.add = add;
    analysis.add_data = add_data;
    *drawn = (struct upset_draw){.points = drawn->points, .bits = UPSET_BITS};
    for (uint32_t input = 0; input < self->inputs; input++)
        drawn->instructions += count_steps(&analysis, &self->traces[input]);
    if (drawn->instructions == 0)
        return error_new("the reference runs execute none of the program's own code");
    _cleanup_free_ struct point *points = calloc(drawn->points + 1, sizeof *points);
    if (points == NULL)
        return error_no_memory();
    struct stats_random random = stats_random_start(self->setup.seed, UPSET_STREAM);
    for (uint64_t i = 0; i < drawn->points; i++)
        points[i] = (struct point){stats_random_below(&random, drawn->instructions),
                                   (uint32_t)stats_random_below(&random, UPSET_BITS)};
    uint64_t first = 0;
    struct point *rest = points;
    size_t left = drawn->points;
    for (uint32_t input = 0; input < self->inputs; input++) {
        uint64_t count = count_steps(&analysis, &self->traces[input]);
        size_t mine = share_out(&analysis, rest, left, first, first + count);
        analysis.input = inputs_count(self->setup.inputs) != 0 ? input + 1 : 0;
        TRY(walk(&analysis, first));
        for (unsigned lane = 0; lane < LANES; lane++)
            drawn->unread += analysis.left[lane]; // nothing comes after them
        first += count;
        rest += mine;
        left -= mine;
    }
    return NULL;
}
