// SPDX-License-Identifier: GPL-3.0-or-later
// The virtual clock, and calls that wait.
#include "observe/virtual.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS      1000000000ull
#define TICKS_PER_S    100u
#define RESTARTS_BLOCK 516 // ERESTART_RESTARTBLOCK: restart_syscall() will go on with it
#define LONGEST_S      (UINT64_MAX / SECOND_NS / 4)
#define USAGE_WORDS    18u // of struct rusage

// Times of i386 have words of 4 bytes, except in calls that were made for the year 2038.
static size_t word_size(const struct tracer_call *call)
{
    return call->i386 && strstr(call->call->name, "64") == NULL ? 4 : 8;
}

static bool write_words(const struct tracer_task *task, size_t size, uint64_t address,
                        const int64_t *words, size_t count)
{
    unsigned char bytes[USAGE_WORDS * 8];
    for (size_t i = 0; i < count; i++)
        memcpy(bytes + i * size, &words[i], size);
    return tracer_write(task, address, bytes, count * size);
}

static bool read_words(const struct tracer_task *task, size_t size, uint64_t address,
                       int64_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int64_t wide = 0;
        int32_t narrow = 0;
        void *word = size == 4 ? (void *)&narrow : (void *)&wide;
        if (tracer_read(task, address + i * size, word, size) != size)
            return false;
        words[i] = size == 4 ? narrow : wide;
    }
    return true;
}

static bool read_duration(const struct tracer_task *task, const struct tracer_call *call,
                          uint64_t address, bool microseconds, uint64_t *ret_ns)
{
    int64_t words[2];
    if (!read_words(task, word_size(call), address, words, 2) || words[0] < 0 || words[1] < 0)
        return false;
    uint64_t seconds = (uint64_t)words[0] < LONGEST_S ? (uint64_t)words[0] : LONGEST_S;
    *ret_ns = seconds * SECOND_NS + (uint64_t)words[1] % SECOND_NS * (microseconds ? 1000 : 1);
    return true;
}

// An absolute time of the virtual clock becomes one of the system's that is as far away. What the
// wait takes is then `wait_ns`.
static void move_deadline(const struct tracer_task *task, struct virtual_task *state,
                          const struct tracer_call *call, uint64_t address, clockid_t clock)
{
    uint64_t deadline_ns, now_ns = virtual_clock_start_s(clock) * SECOND_NS + state->now_ns;
    struct timespec real;
    size_t size = word_size(call);
    unsigned char bytes[16];
    if (!read_duration(task, call, address, false, &deadline_ns) ||
        syscall(SYS_clock_gettime, clock, &real) < 0)
        return;
    state->wait_ns = deadline_ns > now_ns ? deadline_ns - now_ns : 1;
    uint64_t until_ns = (uint64_t)real.tv_sec * SECOND_NS + (uint64_t)real.tv_nsec + state->wait_ns;
    int64_t seconds = (int64_t)(until_ns / SECOND_NS), rest = (int64_t)(until_ns % SECOND_NS);
    memcpy(bytes, &seconds, size);
    memcpy(bytes + size, &rest, size);
    virtual_patch(task, state, address, bytes, 2 * size);
}

static void begin_sleep(const struct tracer_task *task, struct virtual_task *state,
                        const struct tracer_call *call)
{
    const uint64_t *arguments = call->arguments;
    if (strcmp(call->call->name, "nanosleep") == 0)
        read_duration(task, call, arguments[0], false, &state->wait_ns);
    else if ((arguments[1] & TIMER_ABSTIME) == 0)
        read_duration(task, call, arguments[2], false, &state->wait_ns);
    else if ((int)arguments[0] >= 0)
        move_deadline(task, state, call, arguments[2], (clockid_t)arguments[0]);
}

static bool takes_timeval(const struct tracer_call *call)
{
    return strcmp(call->call->name, "select") == 0 || strcmp(call->call->name, "_newselect") == 0;
}

// What is left of the time would differ from run to run: the patch keeps the old value.
static void begin_timeout(const struct tracer_task *task, struct virtual_task *state,
                          const struct tracer_call *call, const struct virtual_call *facts)
{
    unsigned char bytes[16];
    uint64_t address = call->arguments[facts->argument];
    size_t size = 2 * word_size(call);
    if (!read_duration(task, call, address, takes_timeval(call), &state->wait_ns))
        return;
    if (tracer_read(task, address, bytes, size) == size)
        virtual_patch(task, state, address, bytes, size);
}

static void begin_deadline(const struct tracer_task *task, struct virtual_task *state,
                           const struct tracer_call *call, const struct virtual_call *facts)
{
    uint64_t operation = call->arguments[1];
    bool date = (operation & FUTEX_CLOCK_REALTIME) != 0 ||
                (operation & (uint64_t)FUTEX_CMD_MASK) == FUTEX_LOCK_PI;
    move_deadline(task, state, call, call->arguments[facts->argument],
                  date ? CLOCK_REALTIME : CLOCK_MONOTONIC);
}

// Which clock a timer has is not known here; both start far from each other.
static void begin_timer(const struct tracer_task *task, struct virtual_task *state,
                        const struct tracer_call *call)
{
    uint64_t address = call->arguments[2] + 2 * word_size(call), value_ns;
    if ((call->arguments[1] & TIMER_ABSTIME) == 0 ||
        !read_duration(task, call, address, false, &value_ns) || value_ns == 0)
        return;
    move_deadline(task, state, call, address,
                  value_ns / SECOND_NS >= VIRTUAL_START_S / 2 ? CLOCK_REALTIME : CLOCK_MONOTONIC);
    state->wait_ns = 0; // it does not wait
}

static void answer_time(const struct tracer_task *task, struct virtual_task *state,
                        const struct tracer_call *call, const struct virtual_call *facts,
                        struct tracer_order *order)
{
    const uint64_t *arguments = call->arguments;
    size_t size = word_size(call);
    int64_t words[USAGE_WORDS] = {0};
    if (facts->kind == VIRTUAL_CLOCK && (int)arguments[0] >= VIRTUAL_MOST_CLOCKS)
        return; // the kernel says that there is none
    uint64_t now_ns = virtual_read_clock(state);
    order->skip = true;
    if (facts->kind == VIRTUAL_CLOCK || facts->kind == VIRTUAL_TIMEVAL) {
        bool timeval = facts->kind == VIRTUAL_TIMEVAL;
        words[0] =
            (int64_t)((timeval ? VIRTUAL_START_S : virtual_clock_start_s((int)arguments[0])) +
                      now_ns / SECOND_NS);
        words[1] = (int64_t)(now_ns % SECOND_NS / (timeval ? 1000 : 1));
        if (arguments[!timeval] != 0 && !write_words(task, size, arguments[!timeval], words, 2))
            order->result = -EFAULT;
    } else if (facts->kind == VIRTUAL_SECONDS) {
        words[0] = order->result = (int64_t)(VIRTUAL_START_S + now_ns / SECOND_NS);
        if (arguments[0] != 0)
            write_words(task, size, arguments[0], words, 1);
    } else if (facts->kind == VIRTUAL_TICKS) {
        words[0] = (int64_t)(now_ns / (SECOND_NS / TICKS_PER_S));
        order->result = (int64_t)(VIRTUAL_UP_S * TICKS_PER_S) + words[0];
        if (arguments[0] != 0)
            write_words(task, size, arguments[0], words, 4);
    } else {
        words[0] = (int64_t)(now_ns / SECOND_NS);
        words[1] = (int64_t)(now_ns % SECOND_NS / 1000);
        write_words(task, size, arguments[1], words, USAGE_WORDS);
    }
}

void virtual_time_begin(const struct tracer_task *task, struct virtual_task *state,
                        const struct tracer_call *call, const struct virtual_call *facts,
                        struct tracer_order *order)
{
    if (facts->kind != VIRTUAL_RESTART)
        state->wait_ns = 0;
    switch (facts->kind) {
    case VIRTUAL_MACHINE:
        order->stop_at_end = true;
        return;
    case VIRTUAL_SLEEP:
        begin_sleep(task, state, call);
        break;
    case VIRTUAL_RESTART:
        break;
    case VIRTUAL_MILLISECONDS:
        state->wait_ns = (uint32_t)call->arguments[facts->argument] * 1000000ull;
        break;
    case VIRTUAL_TIMEOUT:
        begin_timeout(task, state, call, facts);
        break;
    case VIRTUAL_DEADLINE:
        begin_deadline(task, state, call, facts);
        break;
    case VIRTUAL_TIMER:
        begin_timer(task, state, call);
        break;
    default:
        answer_time(task, state, call, facts, order);
    }
    order->stop_at_end |= state->wait_ns != 0;
}

// struct sysinfo: nothing of it that changes all the time. Half of the memory is free.
static void end_machine(const struct tracer_task *task, const struct tracer_call *call)
{
    enum { UPTIME, LOADS, TOTAL = 4, FREE, SHARED, BUFFERS, SWAP, FREE_SWAP, WORDS };
    size_t size = word_size(call);
    int64_t words[WORDS];
    uint16_t processes = 1;
    if (call->result != 0 || !read_words(task, size, call->arguments[0], words, WORDS))
        return;
    words[UPTIME] = VIRTUAL_UP_S;
    memset(&words[LOADS], 0, 3 * sizeof *words);
    words[FREE] = (int64_t)((size == 4 ? (uint32_t)words[TOTAL] : (uint64_t)words[TOTAL]) / 2);
    words[SHARED] = words[BUFFERS] = 0;
    words[FREE_SWAP] = words[SWAP];
    write_words(task, size, call->arguments[0], words, WORDS);
    tracer_write(task, call->arguments[0] + WORDS * size, &processes, sizeof processes);
}

void virtual_time_end(const struct tracer_task *task, struct virtual_task *state,
                      const struct tracer_call *call, const struct virtual_call *facts)
{
    static const int64_t none[2];
    if (facts->kind == VIRTUAL_MACHINE) {
        end_machine(task, call);
        return;
    }
    if (call->result == -RESTARTS_BLOCK)
        return; // restart_syscall() goes on
    bool timed_out =
        call->result == 0 ? facts->kind != VIRTUAL_DEADLINE : call->result == -ETIMEDOUT;
    if (timed_out) {
        state->now_ns += state->wait_ns;
        state->waited_ns += state->wait_ns;
        if (facts->kind == VIRTUAL_TIMEOUT && strcmp(call->call->name, "epoll_pwait2") != 0)
            write_words(task, word_size(call), call->arguments[facts->argument], none, 2);
    }
    state->wait_ns = 0;
}
