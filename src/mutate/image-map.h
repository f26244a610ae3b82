// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the sections of an image that describe its candidates and markers. Errors name the file,
// the section and the byte.
#ifndef ORDEAL_MUTATE_IMAGE_MAP_H
#define ORDEAL_MUTATE_IMAGE_MAP_H

#include "base/cursor.h"
#include "mutate/image.h"

struct image_index {
    uint64_t id;
    size_t function;
};

_must_check_ struct error *image_read_map(struct image *image, struct cursor *cursor);
_must_check_ struct error *image_read_marks(struct image *image, struct cursor *cursor);
// "PATH: WHAT in section SECTION at byte OFFSET"
_must_check_ struct error *image_broken(const struct image *image, const char *section,
                                        size_t offset, const char *what);

#endif
