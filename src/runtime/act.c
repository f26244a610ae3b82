// SPDX-License-Identifier: GPL-3.0-or-later
// What a rule that fires does to the call: delay, signal, shorter transfer, output parameters,
// errno, return value. Where the original is called first, the target sees the rest after it.
#include "runtime/decide.h"

#include "runtime/assembly/assembly.h"
#include "runtime/assembly/stubs.h"
#include "runtime/call.h"
#include "runtime/function.h"
#include "runtime/identity.h"
#include "runtime/journal.h"
#include "runtime/runtime.h"
#include "runtime/streams.h"
#include "runtime/system.h"

#include <errno.h>
#include <linux/fcntl.h>
#include <linux/stat.h>
#include <sys/socket.h>
#include <time.h>

static uint64_t short_count(const struct wire_rule *rule, uint64_t asked)
{
    if (rule->short_limit != 0)
        return asked < rule->short_limit ? asked : rule->short_limit;
    return asked / 2 != 0 ? asked / 2 : asked;
}

static const struct wire_out *outs_of(const struct wire_rule *rule)
{
    return (const struct wire_out *)plan_array(runtime.plan->outs) + rule->outs.offset;
}

// Where an output parameter is. `result` is NULL before the function has returned.
static bool find_output(const struct call_frame *frame, const struct wire_out *out,
                        const uint64_t *result, uint64_t *ret_address)
{
    if (out->argument == WIRE_OUT_RESULT && result == NULL)
        return false;
    uint64_t pointer = out->argument == WIRE_OUT_RESULT ? *result : frame->arguments[out->argument];
    for (uint32_t i = 0; i < out->steps; i++)
        if (!system_peek((const void *)(pointer + out->before[i]), &pointer, sizeof pointer))
            return false;
    *ret_address = pointer + out->offset;
    return true;
}

// What the function is about to overwrite.
static void keep_outputs(const struct call_frame *frame, const struct wire_rule *rule,
                         struct thread *thread)
{
    const struct wire_out *outs = outs_of(rule);
    thread->keeper = (uint64_t)frame;
    for (uint32_t i = 0; i < rule->outs.count; i++) {
        uint64_t address;
        thread->kept[i] = 0;
        if (outs[i].kind == WIRE_OUT_KEPT && find_output(frame, &outs[i], NULL, &address) &&
            !system_peek((const void *)address, &thread->kept[i], outs[i].width))
            thread->kept[i] = 0;
    }
}

static bool store_output(const struct call_frame *frame, const struct wire_out *out, uint64_t kept,
                         const uint64_t *result)
{
    uint64_t address, value = out->kind == WIRE_OUT_KEPT ? kept : out->value, old = 0;
    if (!find_output(frame, out, result, &address))
        return false;
    if (out->kind == WIRE_OUT_XOR) {
        if (!system_peek((const void *)address, &old, out->width))
            return false;
        value ^= old;
    }
    return system_poke((void *)address, &value, out->width);
}

static void store_outputs(const struct call_frame *frame, const struct wire_rule *rule,
                          const char *function, const uint64_t *result)
{
    const struct wire_out *outs = outs_of(rule);
    const struct thread *thread = thread_self();
    bool kept = thread->keeper == (uint64_t)frame;
    for (uint32_t i = 0; i < rule->outs.count; i++)
        if (!store_output(frame, &outs[i], kept ? thread->kept[i] : 0, result))
            journal_note(WIRE_NOTE_OUT_FAULT, function);
}

static void delay(uint64_t nanoseconds)
{
    struct {
        long seconds, nanoseconds;
    } left = {(long)(nanoseconds / 1000000000u), (long)(nanoseconds % 1000000000u)};
    const long interrupted = -4;
    while (SYSTEM_4(__NR_clock_nanosleep, CLOCK_MONOTONIC, 0, &left, &left) == interrupted)
        ;
}

// Whether the original is called although the rule says what is returned. A close() that fails has
// closed. A close() that returns 0 without closing is a fault that the user asked for.
static bool is_performed(const struct function *function, const struct wire_rule *rule)
{
    uint8_t flags = function->traits != NULL ? function->traits->flags : 0;
    if ((rule->actions & WIRE_RETURN) == 0 || (flags & WIRE_TRAIT_NOT_CALLABLE) != 0)
        return false;
    if ((rule->actions & (WIRE_PERFORMED | WIRE_SKIPPED)) != 0)
        return (rule->actions & WIRE_PERFORMED) != 0;
    return (flags & WIRE_TRAIT_RELEASES) != 0 && rule->value[0] != 0;
}

// What a real failure leaves behind in the stream. With an errno it is an error; without one, a
// function that reads has met the end of the file.
static uint32_t stream_action(const struct wire_traits *traits, const struct wire_rule *rule)
{
    const uint32_t end_of_file = UINT32_MAX; // EOF, WEOF and the ssize_t -1 agree in 32 bits
    if (traits == NULL || traits->stream == 0 || (rule->actions & WIRE_RETURN) == 0)
        return 0;
    if ((rule->actions & WIRE_ERRNO) != 0)
        return WIRE_STREAM_ERROR;
    if ((traits->flags & WIRE_TRAIT_END_IS_0) != 0 && rule->value[0] == 0)
        return WIRE_STREAM_END;
    if ((traits->flags & WIRE_TRAIT_END_IS_EOF) != 0 && (uint32_t)rule->value[0] == end_of_file)
        return WIRE_STREAM_END;
    return 0;
}

// Touches only what is surely a stream of glibc.
static void mark_stream(const struct call_frame *frame, const struct wire_traits *traits,
                        uint32_t action)
{
    uint64_t stream;
    uint32_t flags;
    if (stream_of(frame, traits, &stream, &flags))
        stream_mark(stream, flags, action == WIRE_STREAM_ERROR ? STREAM_ERROR : STREAM_END);
}

// The actions as the journal shows them.
static uint32_t effective_actions(const struct call *call, const struct wire_rule *rule)
{
    const struct wire_traits *traits = call->function->traits;
    uint32_t actions = rule->actions & ~(uint32_t)(WIRE_PERFORMED | WIRE_SKIPPED), flags;
    uint64_t place;
    if (is_performed(call->function, rule))
        actions |= WIRE_PERFORMED;
    uint32_t stream = stream_action(traits, rule);
    if (stream != 0 && stream_of(call->frame, traits, &place, &flags))
        actions |= stream;
    return actions;
}

// How many words above the return address to hand on as arguments. Their number is not known; the
// stack's end limits it.
static uint64_t stack_words(const struct call_frame *frame)
{
    uint64_t words = 32;
    while (words > 0 && !system_can_read(frame->stack, words * 8))
        words = words > 2 ? words / 2 : 0;
    return words;
}

// A connection that was reset stays broken, for the peer, too.
static bool is_lost(const struct wire_traits *traits, const struct wire_rule *rule)
{
    const uint32_t failing = WIRE_RETURN | WIRE_ERRNO;
    return traits != NULL && (traits->flags & WIRE_TRAIT_CONNECTION) != 0 &&
           (rule->actions & failing) == failing && (rule->actions & WIRE_SKIPPED) == 0 &&
           (rule->error == ECONNRESET || rule->error == EPIPE || rule->error == ETIMEDOUT);
}

static bool socket_number(uint64_t descriptor, uint64_t *ret_number)
{
    const uint16_t type = 0170000, socket = 0140000;
    struct statx status;
    bool known = !system_failed(SYSTEM_6(__NR_statx, descriptor, "", AT_EMPTY_PATH,
                                         STATX_TYPE | STATX_INO, &status, 0)) &&
                 (status.stx_mode & type) == socket;
    *ret_number = known ? status.stx_ino : 0;
    return known;
}

static bool is_given(uint64_t number)
{
    const struct wire_region *region = runtime.region;
    uint32_t count = region->inherited_socket_count;
    for (uint32_t i = 0; i < count && i < WIRE_INHERITED_SOCKETS; i++)
        if (region->inherited_sockets[i] == number)
            return true;
    return count > WIRE_INHERITED_SOCKETS;
}

// Shuts the connection down, unless the target inherited the socket. The shell, the service manager
// or the controller have such sockets, too, and theirs must stay usable.
__attribute__((noinline)) static void lose_connection(uint64_t descriptor)
{
    const uint64_t standard = 3;
    uint64_t own, given;
    if (!socket_number(descriptor, &own) || is_given(own))
        return;
    for (uint64_t i = 0; i < standard; i++)
        if (socket_number(i, &given) && given == own)
            return;
    SYSTEM_2(__NR_shutdown, descriptor, SHUT_RDWR);
}

// `result` is the function's own, or NULL if it was not called.
static enum decision finish(struct call_frame *frame, const struct function *function,
                            const struct wire_rule *rule, const uint64_t *result)
{
    uint64_t *arguments = frame->arguments;
    uint32_t stream = stream_action(function->traits, rule);
    if (stream != 0)
        mark_stream(frame, function->traits, stream);
    if (is_lost(function->traits, rule) && !runtime.filtered)
        lose_connection(arguments[0]);
    if ((rule->actions & WIRE_OUT) != 0)
        store_outputs(frame, rule, function->name, result);
    if ((rule->actions & WIRE_ERRNO) != 0 && __errno_location != NULL)
        *__errno_location() = rule->error;
    if ((rule->actions & WIRE_RETURN) == 0)
        return DECIDE_PASS;
    arguments[0] = rule->value[0];
    arguments[1] = rule->value[1];
    switch (rule->value_kind) {
    case WIRE_VALUE_FLOAT:
    case WIRE_VALUE_DOUBLE:
        return DECIDE_FLOATING;
    case WIRE_VALUE_LONG_DOUBLE:
        return function->traits != NULL && (function->traits->flags & WIRE_TRAIT_COMPLEX_LONG) != 0
                   ? DECIDE_COMPLEX
                   : DECIDE_LONG_DOUBLE;
    default:
        arguments[1] = (uint64_t)((int64_t)rule->value[0] >> 63);
        return DECIDE_INTEGER;
    }
}

// What an argument points to, if it is a pointer.
static void look_behind(const struct call_frame *frame, struct thread *thread)
{
    thread->words_known = 0;
    for (uint32_t i = 0; i < WIRE_ARGUMENTS; i++)
        if (system_peek((const void *)frame->arguments[i], &thread->words[i], 8))
            thread->words_known |= 1u << i;
}

// Threads have one observed call at a time: what is called inside belongs to the outermost.
static void begin_observing(const struct call *call)
{
    if (call_is_inside(call))
        return;
    look_behind(call->frame, call->thread);
    call->thread->observed = (uint64_t)call->frame;
    call->thread->observed_occurrence = call->occurrence;
}

static enum decision end_observing(struct call_frame *frame, uint32_t rule, uint64_t result,
                                   uint64_t high)
{
    struct thread *thread = thread_self();
    if (thread->observed == (uint64_t)frame) {
        uint64_t before[WIRE_ARGUMENTS];
        uint32_t known = thread->words_known, changed = 0;
        memcpy(before, thread->words, sizeof before);
        look_behind(frame, thread);
        for (uint32_t i = 0; i < WIRE_ARGUMENTS; i++)
            if ((known & thread->words_known) >> i & 1 && before[i] != thread->words[i])
                changed |= 1u << i;
        thread->observed = 0;
        const struct function *function = runtime_slots[frame->slot & FRAME_SLOT_MASK].function;
        journal_result(thread, function, rule, result, changed);
    }
    frame->arguments[0] = result;
    frame->arguments[1] = high;
    return DECIDE_AS_IS;
}

bool call_is_inside(const struct call *call)
{
    struct thread *thread = call->thread;
    if (thread->observed != 0 && (uint64_t)call->frame >= thread->observed)
        thread->observed = 0;
    return thread->observed != 0;
}

// The call keeps its result; only what the rule does comes after it.
static enum decision finish_after(struct call_frame *frame, const struct function *function,
                                  const struct wire_rule *rule, uint64_t result, uint64_t high)
{
    if ((rule->actions & WIRE_OUT) != 0)
        store_outputs(frame, rule, function->name, &result);
    if ((rule->actions & WIRE_ERRNO) != 0 && __errno_location != NULL)
        *__errno_location() = rule->error;
    if ((rule->actions & WIRE_DELAY) != 0)
        delay(rule->delay_ns);
    frame->arguments[0] = result;
    frame->arguments[1] = high;
    return DECIDE_AS_IS;
}

static bool is_after(const struct function *function, const struct wire_rule *rule)
{
    return (rule->actions & WIRE_AFTER) != 0 &&
           (function->traits == NULL || (function->traits->flags & WIRE_TRAIT_NOT_CALLABLE) == 0);
}

enum decision runtime_performed(struct call_frame *frame, uint64_t result, uint64_t high)
{
    uint32_t number = (uint32_t)(frame->slot >> FRAME_RULE_SHIFT);
    const struct wire_rule *rule = &runtime.rules[number];
    if ((rule->actions & WIRE_OBSERVE) != 0)
        return end_observing(frame, number, result, high);
    const struct function *function = runtime_slots[frame->slot & FRAME_SLOT_MASK].function;
    if ((rule->actions & WIRE_RETURN) == 0)
        return finish_after(frame, function, rule, result, high);
    enum decision decision = finish(frame, function, rule, &result);
    if ((rule->actions & (WIRE_AFTER | WIRE_DELAY)) == (WIRE_AFTER | WIRE_DELAY))
        delay(rule->delay_ns);
    return decision;
}

enum decision act(const struct call *call, uint32_t number)
{
    const struct wire_rule *rule = &runtime.rules[number];
    struct call_frame *frame = call->frame;
    uint64_t shortened = short_count(rule, frame->arguments[rule->short_argument]);
    // The process may die before it publishes its calls the next time.
    if (call->function->rule_count <= 64)
        function_publish(call->function);
    journal_injection(call, number, effective_actions(call, rule), shortened);
    ordeal_injection(call->function->name, call->occurrence, number);
    bool performed = is_performed(call->function, rule) ||
                     ((rule->actions & WIRE_RETURN) == 0 && is_after(call->function, rule));
    // What is not called has no end that something could come after.
    if ((rule->actions & WIRE_DELAY) != 0 && !(performed && is_after(call->function, rule)))
        delay(rule->delay_ns);
    if ((rule->actions & WIRE_SIGNAL) != 0)
        SYSTEM_3(__NR_tgkill, system_pid(), system_tid(), rule->signal);
    if ((rule->actions & WIRE_SHORT) != 0)
        frame->arguments[rule->short_argument] = shortened;
    if ((rule->actions & WIRE_OBSERVE) != 0)
        begin_observing(call);
    else if (!performed)
        return finish(frame, call->function, rule, NULL);
    else if ((rule->actions & WIRE_OUT) != 0)
        keep_outputs(frame, rule, call->thread);
    if ((rule->actions & WIRE_ERRNO) != 0 && call->function->traits != NULL &&
        (call->function->traits->flags & WIRE_TRAIT_DROPS_BUFFER) != 0)
        stream_lose_buffer(frame->arguments[0]); // it could not be written
    frame->slot |= stack_words(frame) << FRAME_WORDS_SHIFT | (uint64_t)number << FRAME_RULE_SHIFT;
    return DECIDE_PERFORM;
}
