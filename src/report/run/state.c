// SPDX-License-Identifier: GPL-3.0-or-later
// Sentences and JSON about a fault in a register or in memory.
#include "report/run/state.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "report/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *activation_name(uint32_t activation)
{
    static const char *const names[] = {"not-activated", "activated", "overwritten", "unknown"};
    return activation <= WIRE_STATE_UNKNOWN ? names[activation] : "unknown";
}

static const char *problem_name(uint32_t problem)
{
    static const char *const names[] = {"none", "no-register", "no-memory", "no-stub", "same"};
    return problem <= WIRE_STATE_SAME ? names[problem] : "none";
}

#define HEX_SIZE (2 * WIRE_STATE_BYTES + 3)

// The value as a number: the last byte in memory is the highest one.
static const char *put_hex(const unsigned char *bytes, uint32_t size, char text[HEX_SIZE])
{
    char *at = text + sprintf(text, "0x");
    while (size > 1 && bytes[size - 1] == 0)
        size--;
    at += sprintf(at, "%x", bytes[size - 1]);
    while (--size != 0 && size <= WIRE_STATE_BYTES)
        at += sprintf(at, "%02x", bytes[size - 1]);
    return text;
}

static void close_symbolizer(struct dwarf_symbolizer **symbolizer)
{
    dwarf_symbolizer_free(*symbolizer);
}

// Names are the target's: nothing of them may reach the terminal raw.
static struct error *put_word(struct buffer *text, const char *before, const char *word,
                              const char *after)
{
    TRY(buffer_printf(text, "%s", before));
    TRY(text_put(text, word, SIZE_MAX, 0));
    return buffer_printf(text, "%s", after);
}

static struct error *put_place(const char *file, uint64_t address, struct buffer *text)
{
    _cleanup_(close_symbolizer) struct dwarf_symbolizer *symbolizer = NULL;
    TRY(dwarf_symbolizer_new(&symbolizer));
    struct dwarf_position position = dwarf_symbolizer_find(symbolizer, file, address);
    TRY(buffer_printf(text, "0x%" PRIx64, address));
    if (position.symbol != NULL)
        TRY(put_word(text, " in ", position.symbol, ""));
    if (position.file == NULL)
        return NULL;
    TRY(put_word(text, " at ", position.file, ""));
    return buffer_printf(text, ":%u", position.line);
}

static struct error *put_place_in_library(const struct wire_state_result *result,
                                          struct buffer *text)
{
    TRY(put_place(result->module, result->place, text));
    return put_word(text, " of ", file_base_name(result->module), "");
}

static struct error *put_not_injected(const struct report_state *state, struct buffer *text)
{
    const struct wire_state_result *result = state->result;
    if (result->programs == 0)
        return put_word(text,
                        state->library ? "not injected: no process loaded "
                                       : "not injected: no process ran ",
                        state->program, "\n");
    switch (result->problem) {
    case WIRE_STATE_NO_REGISTER:
        return buffer_printf(text, "not injected: this processor does not have the register, or "
                                   "refuses the value\n");
    case WIRE_STATE_NO_MEMORY:
        return buffer_printf(text, "not injected: there is no memory at that address\n");
    case WIRE_STATE_NO_STUB:
        return buffer_printf(text, "not injected: the program's code could not be changed\n");
    case WIRE_STATE_SAME:
        return buffer_printf(text, "not injected: the value is the same with the fault\n");
    default:
        if (state->plan->moment_ns != 0)
            return buffer_printf(text, "not injected: the program used %.6f s of processor time\n",
                                 clock_seconds(result->used_ns));
        // The stub's count ends with the process.
        return buffer_printf(text, result->executions == 0 && state->plan->counter.size == 0
                                       ? "not injected: the stop address was not executed\n"
                                       : "not injected: the stop address was not executed so "
                                         "often\n");
    }
}

// Of a register at a moment.
static struct error *put_steps(const struct wire_state_result *result, struct buffer *text)
{
    uint64_t between = result->steps - 1;
    const char *s = between == 1 ? "" : "s";
    switch (result->activation) {
    case WIRE_STATE_ACTIVATED:
        return buffer_printf(text, "activated: it was read %" PRIu64 " instruction%s later\n",
                             between, s);
    case WIRE_STATE_OVERWRITTEN:
        return buffer_printf(text,
                             "not activated: it was overwritten %" PRIu64
                             " instruction%s later, before it was read\n",
                             between, s);
    default:
        return buffer_printf(text,
                             "activation is not known: the next instructions, %" PRIu64
                             " of them, do not say whether it was read\n",
                             result->steps);
    }
}

static struct error *put_activation(const struct report_state *state, struct buffer *text)
{
    const struct wire_state_result *result = state->result;
    const char *kernel = result->by_kernel ? " by a system call" : "";
    if (result->steps != 0)
        return put_steps(result, text);
    switch (result->activation) {
    case WIRE_STATE_ACTIVATED:
        return state->plan->memory
                   ? buffer_printf(text, "activated: it was read%s%s\n", kernel,
                                   state->plan->instruction != 0 ? " or executed" : "")
                   : buffer_printf(text, "activated: the instruction there has read it\n");
    case WIRE_STATE_OVERWRITTEN:
        return buffer_printf(text, "not activated: it was overwritten%s before it was read\n",
                             kernel);
    case WIRE_STATE_NOT_ACTIVATED:
        return buffer_printf(text, "not activated: it was neither read nor overwritten\n");
    default:
        return buffer_printf(text, "activation is not known: %s\n",
                             state->plan->memory ? "the memory could not be watched"
                             : state->plan->moment_ns != 0
                                 ? "nobody has watched the register"
                                 : "the instruction there does not read it");
    }
}

struct error *report_state_text(const struct report_state *state, struct buffer *text)
{
    const struct wire_state_result *result = state->result;
    char before[HEX_SIZE], after[HEX_SIZE];
    TRY(buffer_printf(text, "\n  fault: %s\n    ", state->fault));
    if (result->injected == 0)
        return put_not_injected(state, text);
    TRY(buffer_printf(text, "injected %" PRIu64 " %s after %.6f s, in ", result->injected,
                      result->injected == 1 ? "time" : "times",
                      clock_seconds(result->injected_ns - state->start_ns)));
    TRY(text_put(text, result->program, strnlen(result->program, sizeof result->program), 0));
    TRY(buffer_printf(text, " (process %u, thread %u), ", result->pid, result->tid));
    if (state->plan->moment_ns != 0)
        TRY(buffer_printf(text, "at %.6f s of processor time, ", clock_seconds(result->used_ns)));
    TRY(buffer_printf(text, "before "));
    if (state->plan->moment_ns == 0)
        TRY(put_place(state->program, state->plan->stop, text));
    else if (result->place_in_program != 0)
        TRY(put_place(state->program, result->place, text));
    else if (result->module[0] != '\0')
        TRY(put_place_in_library(result, text));
    else
        TRY(buffer_printf(text, "0x%" PRIx64 ", outside of all files", result->place));
    TRY(buffer_printf(text, "\n    %s became %s\n    ",
                      put_hex(result->before, state->plan->size, before),
                      put_hex(result->after, state->plan->size, after)));
    TRY(put_activation(state, text));
    if (result->crash_signal == 0)
        return NULL;
    TRY(buffer_printf(text, "    crashed %.6f s later by SIG%s, ",
                      clock_seconds(result->crashed_ns - result->injected_ns),
                      sigabbrev_np((int)result->crash_signal) != NULL
                          ? sigabbrev_np((int)result->crash_signal)
                          : "?"));
    if (result->crash_in_program)
        TRY(put_place(state->program, result->crash_place, text));
    else
        TRY(buffer_printf(text, "at 0x%" PRIx64, result->crash_place));
    return buffer_printf(text, "\n");
}

void report_state_json(const struct report_state *state, struct json_builder *builder,
                       json_t *parent)
{
    const struct wire_state_result *result = state->result;
    char value[HEX_SIZE];
    json_t *fault = json_add_object(builder, parent, "state");
    json_add_string(builder, fault, "fault", state->fault);
    json_add_string(builder, fault, "program", state->program);
    if (state->plan->moment_ns == 0)
        json_add_format(builder, fault, "stop", "0x%" PRIx64, state->plan->stop);
    json_add_integer(builder, fault, "programs", result->programs);
    json_add_integer(builder, fault, "injected", result->injected);
    json_add_integer(builder, fault, "traps", result->traps);
    json_add_string(builder, fault, "counted", state->plan->counter.size != 0 ? "stub" : "trap");
    json_add_string(builder, fault, "problem", problem_name(result->problem));
    if (result->injected == 0)
        return;
    if (state->plan->moment_ns != 0) {
        json_add_real(builder, fault, "used_s", clock_seconds(result->used_ns));
        json_add_format(builder, fault, result->place_in_program != 0 ? "stop" : "place",
                        "0x%" PRIx64, result->place);
        if (result->module[0] != '\0')
            json_add_string(builder, fault, "library", result->module);
    }
    json_add_string(builder, fault, "activation", activation_name(result->activation));
    if (result->steps != 0)
        json_add_integer(builder, fault, "instructions", result->steps);
    json_add_bool(builder, fault, "by_kernel", result->by_kernel != 0);
    json_add_string(builder, fault, "before", put_hex(result->before, state->plan->size, value));
    json_add_string(builder, fault, "after", put_hex(result->after, state->plan->size, value));
    json_add_integer(builder, fault, "process", result->pid);
    json_add_integer(builder, fault, "thread", result->tid);
    json_add_string(builder, fault, "task", result->task);
    json_add_real(builder, fault, "injected_s",
                  clock_seconds(result->injected_ns - state->start_ns));
    if (result->activated_ns != 0)
        json_add_real(builder, fault, "activated_s",
                      clock_seconds(result->activated_ns - state->start_ns));
    if (result->crash_signal == 0)
        return;
    json_add_integer(builder, fault, "crash_signal", result->crash_signal);
    json_add_real(builder, fault, "crashed_s", clock_seconds(result->crashed_ns - state->start_ns));
    json_add_format(builder, fault, "crash_address", "0x%" PRIx64, result->crash_address);
    json_add_format(builder, fault, result->crash_in_program ? "crash_offset" : "crash_place",
                    "0x%" PRIx64, result->crash_place);
}
