// SPDX-License-Identifier: GPL-3.0-or-later
// What differs, in the words of the library's declarations, if the file of the library has
// debugging information: "strm->next_out[3]".
#ifndef ORDEAL_INTERFACE_PATH_NAME_H
#define ORDEAL_INTERFACE_PATH_NAME_H

#include "interface/compare.h"

struct path_names;
// Of a comparison with INTERFACE_DIFFERS.
_must_check_ struct error *path_names_open(const struct interface_comparison *comparison,
                                           struct path_names **ret_names);
void path_names_close(struct path_names *names);
static inline void path_names_closep(struct path_names **names)
{
    path_names_close(*names);
}
// Appends the name of the memory that a store went to; nothing if that is not known.
_must_check_ struct error *path_names_put(struct path_names *names,
                                          const struct interface_difference *difference,
                                          struct buffer *text);

#endif
