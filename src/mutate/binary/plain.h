// SPDX-License-Identifier: GPL-3.0-or-later
// Programs and libraries that were built without `ordeal cc`, as images: their faults are changes
// of their machine code.
#ifndef ORDEAL_MUTATE_BINARY_PLAIN_H
#define ORDEAL_MUTATE_BINARY_PLAIN_H

#include "mutate/image.h"

struct plain_counts {                  // functions
    size_t all, understood, optimised; // see struct mutate_set
};

// Opens a file like image_open(). If nothing was built into it, its candidates are those that its
// machine code can have; then *ret_counts is set.
_must_check_ struct error *plain_open(const char *path, struct image *ret_image,
                                      struct plain_counts *ret_counts);

#endif
