// SPDX-License-Identifier: GPL-3.0-or-later
// Processes and threads of the target: their numbers and lineages, and the lock of a process.
#ifndef ORDEAL_RUNTIME_IDENTITY_H
#define ORDEAL_RUNTIME_IDENTITY_H

#include "runtime/runtime.h"

struct thread {
    uint64_t row; // offset of its row: rows.h; 0: it has none; assembly knows where this stands
    struct record_table *record; // see record.c; NULL: none yet; likewise
    uint64_t process_key;        // whose thread this is; differs after a fork
    uint64_t lineage;            // names the thread by its ancestry, the same in every run
    uint64_t random;
    uint32_t number;
    uint32_t children; // threads it created
    uint32_t mutexes;
    uint32_t guard;                 // not 0: a plug-in is running, let everything through
    uint32_t since[WIRE_AFTER_MAX]; // 1 + calls since window i opened; 0 = never opened
    uint32_t tid;                   // the kernel's
    uint32_t record_level;          // which size its table has
    uint32_t record_growing;
    uint64_t start_sp;              // where the thread began; 0: not seen
    uint64_t stack_low, stack_high; // its own stack, once it was looked up
    uint64_t observed;              // frame of the call that is observed; 0: none
    uint64_t observed_occurrence;   // its number
    uint64_t words[WIRE_ARGUMENTS]; // what was behind its arguments when it began
    uint32_t words_known;           // bit i: words[i] could be read
    uint64_t keeper;                // frame of the call whose memory is kept; 0: none
    uint64_t kept[WIRE_OUT_MAX];    // what its output parameters were before; 0: not known
    uint64_t copying;               // it is in fork(): the ancestry of the child; else 0
};

// Zeroed by the kernel in a forked child.
struct process {
    uint64_t key; // 0: a new process, not yet set up
    uint32_t lock, lock_waiters;
    uint32_t number, pid;
    struct wire_process *shared;   // what the region tells of it
    uint32_t crash_pid, crash_tid; // who is writing the record of a crash, or has
    uint32_t crash_signal;
    uint32_t crash_done; // futex: 1: it is written
    uint32_t recorded;   // 1 + its number in the region's table of calls; 0: not yet known
} __attribute__((aligned(64)));

extern __thread struct thread runtime_thread; // through thread_self()
struct thread *thread_renew(void);            // in a new process or thread
static inline struct thread *thread_self(void)
{
    struct thread *self = &runtime_thread;
    // A key of 0 is that of a new process, which no thread has.
    if (__builtin_expect(self->process_key != runtime.process->key || self->process_key == 0, 0))
        return thread_renew();
    return self;
}
void *thread_begin(void *block);
void *thread_announce(void *(*start)(void *), void *argument); // NULL: no block free

void process_start(void);   // the constructor's part
uint32_t process_pid(void); // like system_pid() and system_tid(), but mostly without asking
uint32_t thread_tid(void);
// From now on the region tells in which system call the runtime is.
void process_mark_calls(void);
void process_lock(void);
void process_unlock(void);

bool process_is_gone(uint32_t pid); // false where asking may be forbidden
// The place of a process in `process_numbers` and `processes`; WIRE_PROCESSES: it has none.
uint32_t process_entry(uint32_t pid);

uint64_t random_mix(uint64_t value);
uint64_t clock_now(void); // CLOCK_MONOTONIC, ns

#endif
