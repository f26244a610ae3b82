// SPDX-License-Identifier: GPL-3.0-or-later
// Resolves indirect calls of a kernel through tables of operations. Only a running kernel knows
// which table a call uses, but the types in the image say what kind of table it is. The tables of
// usual file systems, pipes, terminals and sockets stand for all tables of their kind.
#ifndef ORDEAL_PROFILE_KERNEL_OPERATIONS_H
#define ORDEAL_PROFILE_KERNEL_OPERATIONS_H

#include "elf/symbols.h"
#include "profile/kernel/walk.h"

// Adds an import to the image for each operation, and makes it the `callee` of the blocks that call
// the operation. Fills `targets`. In an image without types, nothing is found.
_must_check_ struct error *operations_find(struct flow_image *image,
                                           const struct elf_symbols *symbols,
                                           struct operation_targets *targets);

#endif
