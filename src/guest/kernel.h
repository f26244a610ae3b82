// SPDX-License-Identifier: GPL-3.0-or-later
// A kernel with software faults inside (`ordeal cc`): files with one of them enabled, and which of
// them a guest executes.
#ifndef ORDEAL_GUEST_KERNEL_H
#define ORDEAL_GUEST_KERNEL_H

#include "guest/run.h"
#include "mutate/run/programs.h"

// Writes the kernel with this candidate enabled. `ret_places` gets the addresses at which its
// faulty code begins, *ret_count their number. Fails if there are more than GUEST_MOST_PLACES, or
// none.
_must_check_ struct error *guest_kernel_write_faulty(struct image *image, size_t candidate,
                                                     const char *path,
                                                     uint64_t ret_places[GUEST_MOST_PLACES],
                                                     size_t *ret_count);
// Writes the kernel so that all its twins run, without faults: what they execute can be told from
// addresses.
_must_check_ struct error *guest_kernel_write_twins(struct image *image, const char *path);
// Marks the candidates whose code the log of such a run has.
_must_check_ struct error *guest_kernel_take_trace(struct ir_program *program, const char *trace);

#endif
