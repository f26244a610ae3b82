// SPDX-License-Identifier: GPL-3.0-or-later
// What C and the assembly of stubs.S share: slots of stubs, saved registers, decisions. The layouts
// are in assembly.h, too.
#ifndef ORDEAL_RUNTIME_ASSEMBLY_STUBS_H
#define ORDEAL_RUNTIME_ASSEMBLY_STUBS_H

#include "runtime/assembly/assembly.h"

#include <stdbool.h>
#include <stdint.h>

struct function;

// One intercepted address.
struct stub_slot {
    uint64_t count;       // calls so far
    uint64_t quiet_until; // the stub passes calls whose earlier count is below this
    void *original;       // where the call goes on
    void *gate;           // assembly that checks the other calls
    uint64_t low, length; // range of return addresses that a rule is about; others pass
    void *next; // where a call goes that took a credit: `original`, or the stub's way to the gate
    struct function *function;
};
extern struct stub_slot runtime_slots[RUNTIME_SLOTS];
// What the symbol was bound to; `original` is a hook's replacement, if it has one.
extern void *runtime_slot_real[RUNTIME_SLOTS];

// Registers of an intercepted call, as runtime_gate_full saves them.
struct call_frame {
    uint64_t r15, r14, r13, r12, rbp, rbx;
    uint64_t arguments[6]; // rdi rsi rdx rcx r8 r9
    uint64_t rax, r10;
    // In: earlier count of the slot, or CALL_TOOK_CREDIT; out: where to go on.
    uint64_t target;
    // number; out, for DECIDE_PERFORM, also words << FRAME_WORDS_SHIFT, rule << FRAME_RULE_SHIFT
    uint64_t slot;
    uint64_t return_address;
    uint64_t stack[];
};

#define CALL_TOOK_CREDIT UINT64_MAX // the call has no number

// What runtime_decide tells the assembly.
enum decision {
    DECIDE_PASS,        // jump to frame->target with the registers of the frame
    DECIDE_INTEGER,     // return arguments[0] in rax, arguments[1] in rdx
    DECIDE_FLOATING,    // return arguments[0] in xmm0 and arguments[1] in xmm1
    DECIDE_LONG_DOUBLE, // return arguments[0..1] in st(0)
    DECIDE_COMPLEX,     // likewise, with zero in st(1)
    DECIDE_PERFORM,     // call frame->target, then ask runtime_performed what to return
    DECIDE_AS_IS,       // likewise, and what it returned is returned
};

extern const char runtime_stubs[], runtime_stub_end[];
extern const char runtime_record_stubs[], runtime_record_stub_end[]; // record.S
extern const char runtime_caller_stubs[], runtime_caller_stub_end[]; // callers.S
void runtime_gate_full(void);
void runtime_gate_sites(void);
void runtime_gate_sites_count(void); // also counts what it passes
void runtime_gate_record(void);      // record.S

// Calls a plug-in with all registers saved that it may change.
int runtime_call_plugin(int (*eval)(void *, const void *), void *state, const void *call);
extern uint32_t runtime_save_size; // of an XSAVE area, 0: use FXSAVE
extern uint64_t runtime_save_mask;
extern bool runtime_save_by_moves; // the processor has AVX and no more, and tells what is in use

// The filter of exact call sites: a word for each line of code. Lines half a megabyte apart share a
// word; neighbours have neighbouring words.
extern uint64_t runtime_site_filter[SITE_FILTER_WORDS];
static inline uint64_t *runtime_site_word(uint64_t address)
{
    return &runtime_site_filter[address / SITE_LINE_SIZE % SITE_FILTER_WORDS];
}

#endif
