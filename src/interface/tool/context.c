// SPDX-License-Identifier: GPL-3.0-or-later
// Each thread has a stack of frames: the library was entered, it called the program back, the
// program entered it again, a signal came. A frame ends when the stack pointer is above it, however
// that came about: a return, a tail call's return, longjmp(), an exception.
#include "interface/tool/tool.h"

#include <libvex_guest_amd64.h>
#include <pub_tool_libcassert.h>
#include <pub_tool_libcbase.h>
#include <pub_tool_mallocfree.h>
#include <pub_tool_threadstate.h>

enum frame_kind { FRAME_LIBRARY, FRAME_CALLBACK, FRAME_SIGNAL };
struct frame {
    enum frame_kind kind;
    Addr sp;             // of its first instruction
    Addr return_address; // FRAME_LIBRARY
    Addr lib_code;       // context_lib_code of the frame below
};
struct thread {
    struct frame *frames;
    UInt depth, room;
    Addr lib_code; // while the thread does not run
};

ULong context_inside, context_limit = ~0ULL, context_entry, context_lib_code;
static struct thread *threads;
static ThreadId current;

void context_init(void)
{
    threads = VG_(calloc)("ordeal.threads", VG_N_THREADS, sizeof *threads);
}

static void update(void)
{
    const struct thread *thread = &threads[current];
    const struct frame *top = thread->depth == 0 ? NULL : &thread->frames[thread->depth - 1];
    context_inside = top != NULL && top->kind == FRAME_LIBRARY;
    context_limit = top == NULL || top->kind == FRAME_SIGNAL ? ~0ULL : top->sp;
    context_entry = context_inside ? top->sp : 0;
}

void context_select(ThreadId thread)
{
    if (thread == current)
        return;
    threads[current].lib_code = context_lib_code;
    current = thread;
    context_lib_code = threads[current].lib_code;
    update();
}

static void push(enum frame_kind kind, Addr sp, Addr return_address)
{
    struct thread *thread = &threads[current];
    if (thread->depth == thread->room) {
        thread->room = thread->room == 0 ? 16 : 2 * thread->room;
        thread->frames =
            VG_(realloc)("ordeal.frames", thread->frames, thread->room * sizeof *thread->frames);
    }
    thread->frames[thread->depth++] = (struct frame){
        .kind = kind, .sp = sp, .return_address = return_address, .lib_code = context_lib_code};
    update();
}

static void pop(void)
{
    struct thread *thread = &threads[current];
    context_lib_code = thread->frames[--thread->depth].lib_code;
    update();
}

static void end_library_frame(const struct frame *frame, Addr code, const VexGuestAMD64State *state)
{
    Bool normal = code == frame->return_address && state->guest_RSP == frame->sp + sizeof(Addr);
    writer_event(normal ? INTERFACE_RETURN : INTERFACE_ABANDON, current, 20);
    if (normal) {
        writer_number(state->guest_RAX);
        writer_number(*(const ULong *)(const void *)&state->guest_YMM0);
    }
}

static void enter_library(Addr code, const VexGuestAMD64State *state)
{
    const ULong arguments[INTERFACE_ARGUMENTS] = {state->guest_RDI, state->guest_RSI,
                                                  state->guest_RDX, state->guest_RCX,
                                                  state->guest_R8,  state->guest_R9};
    Addr sp = state->guest_RSP, return_address = *(const Addr *)sp;
    push(FRAME_LIBRARY, sp, return_address);
    context_lib_code = code;
    writer_event(INTERFACE_ENTER, current, 30 + INTERFACE_ARGUMENTS * 10);
    writer_number(code);
    writer_number(sp);
    writer_number(return_address);
    for (UInt i = 0; i < INTERFACE_ARGUMENTS; i++)
        writer_number(arguments[i]);
    pointers_record(current, arguments, INTERFACE_ARGUMENTS);
}

void context_boundary(const void *registers, HWord code, HWord role)
{
    const VexGuestAMD64State *state = registers;
    Addr sp = state->guest_RSP;
    struct thread *thread = &threads[current];
    while (thread->depth > 0 && sp > context_limit) {
        const struct frame *top = &thread->frames[thread->depth - 1];
        if (top->kind == FRAME_LIBRARY)
            end_library_frame(top, code, state);
        else
            writer_event(INTERFACE_RESUME, current, 0);
        pop();
    }
    if (role == INTERFACE_ROLE_LIBRARY && !context_inside) {
        enter_library(code, state);
    } else if (role == INTERFACE_ROLE_PROGRAM && context_inside) {
        push(FRAME_CALLBACK, sp, 0);
        writer_event(INTERFACE_SUSPEND, current, 10);
        writer_number(sp);
    }
}

void context_signal_begin(ThreadId thread)
{
    context_select(thread);
    push(FRAME_SIGNAL, 0, 0);
}

static void drop(const struct thread *thread)
{
    const struct frame *top = &thread->frames[thread->depth - 1];
    if (top->kind != FRAME_SIGNAL)
        writer_event(top->kind == FRAME_LIBRARY ? INTERFACE_ABANDON : INTERFACE_RESUME, current, 0);
    pop();
}

void context_signal_end(ThreadId id)
{
    context_select(id);
    const struct thread *thread = &threads[id];
    UInt signal = thread->depth;
    while (signal > 0 && thread->frames[signal - 1].kind != FRAME_SIGNAL)
        signal--;
    while (signal > 0 && thread->depth >= signal)
        drop(thread);
}

// A thread that ended in the library left its calls open; now another one has its number.
void context_thread_begin(ThreadId maker, ThreadId id)
{
    context_select(id);
    while (threads[id].depth > 0)
        drop(&threads[id]);
    context_select(maker);
}

Bool context_in_outer_frames(Addr address)
{
    const struct thread *thread = &threads[current];
    Addr above = 0;
    for (UInt i = 0; i < thread->depth; i++) {
        const struct frame *frame = &thread->frames[i];
        if (frame->kind == FRAME_LIBRARY)
            above = frame->sp;
        else if (frame->kind == FRAME_CALLBACK && address < above && address > frame->sp)
            return True;
    }
    return False;
}
