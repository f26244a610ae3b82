// SPDX-License-Identifier: GPL-3.0-or-later
// The Valgrind tool that records what crosses a library's interface. It runs inside the target's
// process, without a C library; everything comes from Valgrind.
#ifndef ORDEAL_INTERFACE_TOOL_TOOL_H
#define ORDEAL_INTERFACE_TOOL_TOOL_H

#include "interface/format.h"

#include <pub_tool_basics.h>
#include <pub_tool_tooliface.h>

// writer.c: events into blocks, blocks into the pipe.
void writer_open(const HChar *path);
void writer_flush(void);
void writer_stop(void); // for a forked child, whose parent writes on
// Makes room for an event of at most `most` bytes after its kind.
void writer_event(enum interface_event event, ThreadId thread, UInt most);
void writer_number(ULong number);
void writer_code(Addr code);
void writer_data(Addr address);
void writer_bytes(const void *bytes, SizeT size);

// context.c: which thread is inside the library, and who called whom.
// Read and written by instrumented code, so they are global; of the thread that runs.
extern ULong context_inside;   // 1: the library or a helper works for it
extern ULong context_limit;    // a stack pointer above this one means that something has ended
extern ULong context_entry;    // the stack pointer when the library was entered
extern ULong context_lib_code; // the last instruction of the library before it left its code
void context_init(void);
void context_select(ThreadId thread);
// `state` is the guest's registers (VexGuestAMD64State), up to date as far as instrument.c says.
void context_boundary(const void *state, HWord code, HWord role);
void context_signal_begin(ThreadId thread);
void context_signal_end(ThreadId thread);
void context_thread_begin(ThreadId maker, ThreadId thread);
// Whether the address is in a frame of the library. Its inner frames have been checked already.
Bool context_in_outer_frames(Addr address);

// modules.c: mappings, and whose code they are.
void modules_init(void);
Bool modules_option(const HChar *argument); // --library=, --program=
Bool modules_any_library(void);
enum interface_role modules_role(Addr code);
// The number of the call stack of a thread, which is in the trace from now on.
UInt modules_stack(ThreadId thread);

// pointers.c: what the program hands to the library in memory: an event for each pointer that lies
// where an argument points to, and that was not there the last time.
void pointers_init(void);
void pointers_record(ThreadId thread, const ULong *arguments, UInt count);

// heap.c: malloc() and its relatives.
void heap_init(void);

// stores.c: what instrumented code calls after a store, and what system calls write.
void stores_init(void);
void stores_record(HWord code, HWord address, HWord size);

// virtual.c: clocks and random numbers that are the same in every run.
void virtual_init(void);
Bool virtual_option(const HChar *argument); // --foreign=
void virtual_start(void);                   // when the program is in memory
// The kernel has written this in a system call.
void virtual_written(ThreadId thread, Addr address, SizeT size);
ULong virtual_cycles(void); // of the processor
ULong virtual_random(void);

// instrument.c
IRSB *instrument(VgCallbackClosure *closure, IRSB *block, const VexGuestLayout *layout,
                 const VexGuestExtents *extents, const VexArchInfo *host, IRType guest_word,
                 IRType host_word);

#endif
