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
// The same fault as changes of the memory of a guest in which the kernel runs as the file has it,
// at the addresses where a machine loads it.
struct guest_patches {
    ARRAY(struct guest_patch) items;
};
_must_check_ struct error *guest_kernel_find_patches(struct image *image, size_t candidate,
                                                     uint64_t ret_places[GUEST_MOST_PLACES],
                                                     size_t *ret_count,
                                                     struct guest_patches *ret_patches);
void guest_patches_deinit(struct guest_patches *patches);
// Writes the kernel so that all its twins run, without faults: what they execute can be told from
// addresses.
_must_check_ struct error *guest_kernel_write_twins(struct image *image, const char *path);
// Marks the candidates whose code the log of such a run has. `report` is that run's. ret_phases,
// one for each candidate, gets the phase in which its code was executed first.
_must_check_ struct error *guest_kernel_take_trace(struct ir_program *program, const char *trace,
                                                   const struct guest_report *report,
                                                   enum guest_phase *ret_phases);

#endif
