// SPDX-License-Identifier: GPL-3.0-or-later
// Records of what happened, in the region.
#ifndef ORDEAL_RUNTIME_JOURNAL_H
#define ORDEAL_RUNTIME_JOURNAL_H

#include "runtime/call.h"
#include "wire/region.h"

struct crash;
struct thread;

// Also counts that the rule fired. `actions`: those that are really done.
void journal_injection(const struct call *call, uint32_t rule, uint32_t actions,
                       uint64_t short_value);
// An observed call came back. The thread's words are what is behind its arguments now.
void journal_result(const struct thread *thread, const struct function *function, uint32_t rule,
                    uint64_t result, uint32_t changed);
void journal_note(enum wire_note note, const char *text);
uint32_t journal_exec(const char *path); // the record's number, WIRE_NONE: it has none
void journal_crash(const struct crash *crash);

uint64_t journal_frame(uint64_t pc); // as module and offset
uint32_t journal_frames(const struct call_frame *frame, uint64_t *frames, uint32_t room,
                        uint32_t *ret_cut);

#endif
