// SPDX-License-Identifier: GPL-3.0-or-later
// Finds out what the functions of a kernel return: those that system calls reach, callees first, in
// rounds until nothing changes.
#ifndef ORDEAL_PROFILE_KERNEL_WALK_H
#define ORDEAL_PROFILE_KERNEL_WALK_H

#include "flow/image.h"
#include "profile/kernel/kernel.h"

// Error codes that kernels use internally, above those that programs see.
#define KERNEL_CODES_FROM 512
#define KERNEL_CODES      24

struct kernel_outcomes {     // of one function
    struct error_set errors; // negative
    uint32_t codes;          // a bit for each of KERNEL_CODES
    uint32_t arguments;      // a bit for each argument that may be returned
    bool zero, one, other;   // may be returned; other: any other value
    bool known;              // it was analysed
};

// The possible callees of indirect calls: for each operation, the functions that the tables hold.
struct operation_targets {
    ARRAY(uint32_t) functions; // of all operations, one after the other
    ARRAY(uint32_t) first;     // by operation: index in `functions`; one entry more at the end
    // Offset where a socket keeps an error until a system call returns it; UINT64_MAX if unknown.
    uint64_t socket_error;
    struct error_set socket_errors; // that may be kept there
};
// The functions that a callee stands for: itself, or those of an operation.
const uint32_t *walk_targets(const struct operation_targets *operations, const uint32_t *callee,
                             uint32_t *ret_count);

struct walk;
// A block whose `callee` is an import calls the targets of the operation with that number. Image
// and operations must outlive the walk.
_must_check_ struct error *walk_new(const struct flow_image *image,
                                    const struct operation_targets *operations,
                                    struct walk **ret_walk);
void walk_free(struct walk *walk);

// walk_add() adds a function and everything it reaches; walk_run() analyses all of them.
_must_check_ struct error *walk_add(struct walk *walk, uint32_t function);
_must_check_ struct error *walk_run(struct walk *walk);

const struct kernel_outcomes *walk_outcomes(const struct walk *walk, uint32_t function);
void walk_count(const struct walk *walk, struct kernel_figures *figures);

// Adds a number that a function may return.
void kernel_outcomes_add(struct kernel_outcomes *outcomes, int64_t number);

// kernel-memory-errors.c: adds errors that a function gets through memory: from callees that store
// them in its variable, `lookup(&error)`, and from a socket.
void walk_add_memory_errors(const struct flow_image *image,
                            const struct operation_targets *operations, uint32_t function,
                            struct kernel_outcomes *outcomes);
// The errors that network code stores in sockets.
struct error_set walk_socket_errors(const struct flow_image *image, uint64_t where);

#endif
