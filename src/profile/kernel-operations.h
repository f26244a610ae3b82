// SPDX-License-Identifier: GPL-3.0-or-later
// Indirect calls of a kernel through tables of operations. Which table it is, only a running kernel
// knows; what kind of table, the types say that the image carries. The functions that usual file
// systems, pipes, terminals and sockets have in their tables of that kind are taken for all.
#ifndef ORDEAL_PROFILE_KERNEL_OPERATIONS_H
#define ORDEAL_PROFILE_KERNEL_OPERATIONS_H

#include "elf/symbols.h"
#include "profile/kernel-walk.h"

// Sets `callee` of the blocks that end with such a call to an import that stands for the operation,
// and adds that import. An image without types: nothing is found.
_must_check_ struct error *operations_find(struct flow_image *image,
                                           const struct elf_symbols *symbols,
                                           struct operation_targets *targets);

#endif
