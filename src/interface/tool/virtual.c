// SPDX-License-Identifier: GPL-3.0-or-later
// Clocks, random numbers and what the kernel puts into a program that differs from run to run, as
// observe/virtual.h has them: the clock starts at a fixed time and advances when it is read and
// when somebody has waited. Process numbers are the system's.
#include "interface/tool/tool.h"
#include "observe/inside/virtual-clock.h"

#include <elf.h>
#include <errno.h>
#include <libvex_guest_amd64.h>
#include <pub_tool_aspacemgr.h>
#include <pub_tool_libcbase.h>
#include <pub_tool_libcfile.h>
#include <pub_tool_libcproc.h>
#include <pub_tool_machine.h>
#include <pub_tool_mallocfree.h>
#include <pub_tool_options.h>
#include <pub_tool_threadstate.h>
#include <pub_tool_vki.h>
#include <pub_tool_vkiscnums.h>

// In the core's library but not in its public headers: what the kernel gave the program, and the
// path of a descriptor.
extern UWord *VG_(client_auxv);
extern Bool VG_(resolve_filename)(Int descriptor, const HChar **ret_path);

#define SECOND_NS   1000000000ull
#define TICKS_PER_S 100u
#define LONGEST_S   (~0ull / SECOND_NS / 4)

enum kind {
    CLOCK,       // argument 0 is a clock, the time goes to argument 1
    TIMEVAL,     // the time goes to argument 0
    SECONDS,     // likewise, and it is the result
    TICKS,       // likewise, with processor times
    USAGE,       // processor times and other counts go to argument 1
    SLEEP,       // waits for the timespec in argument 0
    CLOCK_SLEEP, // on the clock in argument 0, for or until that in argument 2
    FUTEX,       // waits until that in argument 3
    TIMER,       // starts one; argument 2 is an itimerspec
    MS_2,        // waits for milliseconds
    MS_3,
    SPEC_2, // for a timespec
    SPEC_4,
    VALUE_4,     // for a timeval
    RANDOM,      // fills memory
    RANDOM_FILE, // perhaps
};
static const struct {
    UInt number;
    enum kind kind;
} facts[] = {
    {__NR_clock_gettime, CLOCK},
    {__NR_gettimeofday, TIMEVAL},
    {__NR_time, SECONDS},
    {__NR_times, TICKS},
    {__NR_getrusage, USAGE},
    {__NR_nanosleep, SLEEP},
    {__NR_clock_nanosleep, CLOCK_SLEEP},
    {__NR_futex, FUTEX},
    {__NR_timer_settime, TIMER},
    {__NR_timerfd_settime, TIMER},
    {__NR_poll, MS_2},
    {__NR_epoll_wait, MS_3},
    {__NR_epoll_pwait, MS_3},
    {__NR_ppoll, SPEC_2},
    {__NR_pselect6, SPEC_4},
    {__NR_select, VALUE_4},
    {__NR_getrandom, RANDOM},
    {__NR_read, RANDOM_FILE},
    {__NR_readv, RANDOM_FILE},
    {__NR_pread64, RANDOM_FILE},
};

enum { ANSWER_WORDS = 18 }; // of struct rusage
struct call {
    Addr answer; // where the kernel writes words of ours, or 0
    ULong words[ANSWER_WORDS];
    UInt size;
    Bool random; // whatever the kernel writes
    Bool has_result;
    ULong result;
    Addr patched; // memory that is to be as it was, or 0
    ULong before[2];
    ULong wait_ns;
};
static struct call *calls;   // by thread
static const HChar *foreign; // name of a module that sees the system's clock, or NULL
static ULong now_ns, random_state;

ULong virtual_random(void) // splitmix64
{
    ULong value = random_state += 0x9e3779b97f4a7c15ull;
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9ull;
    value = (value ^ value >> 27) * 0x94d049bb133111ebull;
    return value ^ value >> 31;
}

ULong virtual_cycles(void)
{
    now_ns += VIRTUAL_TICK_NS;
    return VIRTUAL_UP_S * SECOND_NS + now_ns;
}

static void fill(Addr address, SizeT size)
{
    for (SizeT i = 0; i < size; i += sizeof(ULong)) {
        ULong word = virtual_random();
        VG_(memcpy)((void *)(address + i), &word, size - i < sizeof word ? size - i : sizeof word);
    }
}

// ---- waiting ----

static Bool is_readable(Addr address, SizeT size)
{
    return address != 0 && VG_(am_is_valid_for_client)(address, size, VKI_PROT_READ);
}

static Bool read_duration(Addr address, UInt unit_ns, ULong *duration_ns)
{
    if (!is_readable(address, 2 * sizeof(ULong)))
        return False;
    const Long *words = (const Long *)address;
    if (words[0] < 0 || words[1] < 0)
        return False;
    ULong seconds = (ULong)words[0] < LONGEST_S ? (ULong)words[0] : LONGEST_S;
    *duration_ns = seconds * SECOND_NS + (ULong)words[1] * unit_ns % SECOND_NS;
    return True;
}

static void wait_for(struct call *call, Addr address, UInt unit_ns)
{
    if (!read_duration(address, unit_ns, &call->wait_ns))
        call->wait_ns = 0;
}

static void patch(struct call *call, Addr address, ULong first, ULong second)
{
    ULong *words = (ULong *)address;
    if (!VG_(am_is_valid_for_client)(address, 2 * sizeof *words, VKI_PROT_READ | VKI_PROT_WRITE))
        return;
    call->patched = address;
    call->before[0] = words[0];
    call->before[1] = words[1];
    words[0] = first;
    words[1] = second;
}

// An absolute time of the virtual clock becomes one of the system's that is as far away.
static void wait_until(struct call *call, Addr address, Int clock)
{
    struct vki_timespec real;
    ULong until_ns, virtual_ns = virtual_clock_start_s(clock) * SECOND_NS + now_ns;
    if (clock < 0 || !read_duration(address, 1, &until_ns))
        return;
    VG_(clock_gettime)(&real, clock);
    call->wait_ns = until_ns > virtual_ns ? until_ns - virtual_ns : 1;
    until_ns = (ULong)real.tv_sec * SECOND_NS + (ULong)real.tv_nsec + call->wait_ns;
    patch(call, address, until_ns / SECOND_NS, until_ns % SECOND_NS);
}

static void begin_futex(struct call *call, const UWord *arguments)
{
    enum { LOCK_PI = 6, WAIT_BITSET = 9, WAIT_REQUEUE_PI = 11, LOCK_PI2 = 13, REALTIME = 256 };
    UWord operation = arguments[1] & 127;
    Bool date = operation == LOCK_PI || (arguments[1] & REALTIME) != 0;
    if (operation == 0)
        wait_for(call, arguments[3], 1);
    else if (operation == LOCK_PI || operation == WAIT_BITSET || operation == WAIT_REQUEUE_PI ||
             operation == LOCK_PI2)
        wait_until(call, arguments[3], date ? CLOCK_REALTIME : CLOCK_MONOTONIC);
}

// Which clock a timer has is not known here; both start far from each other.
static void begin_timer(struct call *call, const UWord *arguments)
{
    Addr value = arguments[2] + 2 * sizeof(ULong);
    ULong value_ns;
    if ((arguments[1] & 1) == 0 || !read_duration(value, 1, &value_ns) || value_ns == 0)
        return;
    wait_until(call, value,
               value_ns / SECOND_NS >= VIRTUAL_START_S / 2 ? CLOCK_REALTIME : CLOCK_MONOTONIC);
    call->wait_ns = 0; // it does not wait
}

static void begin_milliseconds(struct call *call, UWord milliseconds)
{
    call->wait_ns = (Int)milliseconds > 0 ? (milliseconds & 0xffffffff) * 1000000ull : 0;
}

// ---- answers ----

static void answer(struct call *call, Addr where, UInt words)
{
    call->answer = where;
    call->size = words * sizeof(ULong);
}

static void answer_clock(struct call *call, enum kind kind, const UWord *arguments)
{
    ULong seconds = now_ns / SECOND_NS, rest_ns = now_ns % SECOND_NS;
    switch (kind) {
    case CLOCK:
        call->words[0] = virtual_clock_start_s((Int)arguments[0]) + seconds;
        call->words[1] = rest_ns;
        answer(call, arguments[1], 2);
        break;
    case TIMEVAL:
        call->words[0] = VIRTUAL_START_S + seconds;
        call->words[1] = rest_ns / 1000;
        answer(call, arguments[0], 2);
        break;
    case SECONDS:
        call->words[0] = call->result = VIRTUAL_START_S + seconds;
        call->has_result = True;
        answer(call, arguments[0], 1);
        break;
    case TICKS:
        call->words[0] = now_ns / (SECOND_NS / TICKS_PER_S);
        call->result = VIRTUAL_UP_S * TICKS_PER_S + call->words[0];
        call->has_result = True;
        answer(call, arguments[0], 4);
        break;
    default: // USAGE
        call->words[0] = seconds;
        call->words[1] = rest_ns / 1000;
        answer(call, arguments[1], ANSWER_WORDS);
    }
}

static Bool is_random_file(Int descriptor)
{
    const HChar *path;
    return VG_(resolve_filename)(descriptor, &path) &&
           (VG_(strcmp)(path, "/dev/urandom") == 0 || VG_(strcmp)(path, "/dev/random") == 0);
}

static void begin(struct call *call, enum kind kind, const UWord *arguments)
{
    switch (kind) {
    case SLEEP:
        wait_for(call, arguments[0], 1);
        break;
    case CLOCK_SLEEP:
        if ((arguments[1] & 1) != 0)
            wait_until(call, arguments[2], (Int)arguments[0]);
        else
            wait_for(call, arguments[2], 1);
        break;
    case FUTEX:
        begin_futex(call, arguments);
        break;
    case TIMER:
        begin_timer(call, arguments);
        break;
    case MS_2:
    case MS_3:
        begin_milliseconds(call, arguments[kind == MS_2 ? 2 : 3]);
        break;
    case SPEC_2:
    case SPEC_4:
        wait_for(call, arguments[kind == SPEC_2 ? 2 : 4], 1);
        break;
    case VALUE_4:
        wait_for(call, arguments[4], 1000);
        break;
    case RANDOM:
        call->random = True;
        break;
    case RANDOM_FILE:
        call->random = is_random_file((Int)arguments[0]);
        break;
    default:
        now_ns += VIRTUAL_TICK_NS;
        answer_clock(call, kind, arguments);
    }
}

Bool virtual_option(const HChar *argument)
{
    return VG_STR_CLO(argument, "--foreign", foreign);
}

static Bool is_foreign(Addr code)
{
    const NSegment *segment = foreign == NULL ? NULL : VG_(am_find_nsegment)(code);
    const HChar *path = segment == NULL ? NULL : VG_(am_get_filename)(segment);
    return path != NULL && VG_(strcmp)(VG_(basename)(path), foreign) == 0;
}

static void before(ThreadId thread, UInt number, UWord *arguments, UInt count)
{
    struct call *call = &calls[thread];
    VG_(memset)(call, 0, sizeof *call);
    for (UInt i = 0; i < sizeof facts / sizeof *facts; i++)
        if (facts[i].number == number && !is_foreign(VG_(get_IP)(thread)))
            begin(call, facts[i].kind, arguments);
}

void virtual_written(ThreadId thread, Addr address, SizeT size)
{
    const struct call *call = &calls[thread];
    if (call->random) {
        fill(address, size);
        return;
    }
    if (call->answer == 0 || address < call->answer || address - call->answer >= call->size)
        return;
    SizeT at = address - call->answer, most = call->size - at;
    VG_(memcpy)((void *)address, (const UChar *)call->words + at, size < most ? size : most);
}

static void after(ThreadId thread, UInt number, UWord *arguments, UInt count, SysRes result)
{
    struct call *call = &calls[thread];
    if (call->patched != 0)
        VG_(memcpy)((void *)call->patched, call->before, sizeof call->before);
    if (call->has_result && !sr_isError(result))
        VG_(set_shadow_regs_area)
    (thread, 0, offsetof(VexGuestAMD64State, guest_RAX), sizeof call->result,
     (const UChar *)&call->result);
    Bool timed_out = sr_isError(result) ? sr_Err(result) == ETIMEDOUT
                                        : sr_Res(result) == 0 && number != __NR_futex;
    if (timed_out)
        now_ns += call->wait_ns;
    VG_(memset)(call, 0, sizeof *call);
}

// Sixteen random bytes, from which the C library makes its guards of stacks and pointers.
static void replace_start_bytes(void)
{
    for (const UWord *entry = VG_(client_auxv); entry != NULL && entry[0] != AT_NULL; entry += 2)
        if (entry[0] == AT_RANDOM)
            fill(entry[1], 16);
}

void virtual_start(void)
{
    calls = VG_(calloc)("ordeal.calls", VG_N_THREADS, sizeof *calls);
    replace_start_bytes();
}

void virtual_init(void)
{
    VG_(needs_syscall_wrapper)(before, after);
}
