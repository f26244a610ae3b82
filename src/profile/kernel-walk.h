// SPDX-License-Identifier: GPL-3.0-or-later
// What functions of a kernel come back with: those that system calls reach, callees first, in
// rounds until nothing changes any more.
#ifndef ORDEAL_PROFILE_KERNEL_WALK_H
#define ORDEAL_PROFILE_KERNEL_WALK_H

#include "flow/image.h"
#include "profile/kernel.h"

// Codes that kernels use among themselves, beyond those of programs.
#define KERNEL_CODES_FROM 512
#define KERNEL_CODES      24

struct kernel_outcomes {     // of one function
    struct error_set errors; // negative
    uint32_t codes;          // a bit for each of KERNEL_CODES
    uint32_t arguments;      // a bit for each argument it may hand back
    bool zero, one, other;   // other: whatever else
    bool known;              // it was looked at
};

// Who may be called by an indirect call: functions that stand in tables at one place.
struct operation_targets {
    ARRAY(uint32_t) functions; // one after the other's
    ARRAY(uint32_t) first;     // by operation, and one behind the last: where its functions begin
    // Where a socket keeps an error that arrived while nobody asked; UINT64_MAX if that is not
    // known.
    uint64_t socket_error;
    struct error_set socket_errors; // what is kept there
};
// The functions a callee stands for: one, or those of an operation.
const uint32_t *walk_targets(const struct operation_targets *operations, const uint32_t *callee,
                             uint32_t *ret_count);

struct walk;
// Blocks whose `callee` is an import reach the targets of the operation of that number.
_must_check_ struct error *walk_new(const struct flow_image *image,
                                    const struct operation_targets *operations,
                                    struct walk **ret_walk);
void walk_free(struct walk *walk);

// Adds a function and whatever it reaches; then all of them are looked at together.
_must_check_ struct error *walk_add(struct walk *walk, uint32_t function);
_must_check_ struct error *walk_run(struct walk *walk);

const struct kernel_outcomes *walk_outcomes(const struct walk *walk, uint32_t function);
void walk_count(const struct walk *walk, struct kernel_figures *figures);

// One more value that a function comes back with.
void kernel_outcomes_add(struct kernel_outcomes *outcomes, int64_t number);

// kernel-pointed.c: errors by way of memory. What this function gets from those it calls in a
// variable of its own, `lookup(&error)`, and what it finds in a socket.
void walk_add_memory_errors(const struct flow_image *image,
                            const struct operation_targets *operations, uint32_t function,
                            struct kernel_outcomes *outcomes);
// What network code leaves in sockets.
struct error_set walk_socket_errors(const struct flow_image *image, uint64_t where);

#endif
