// SPDX-License-Identifier: GPL-3.0-or-later
// Which errors the manual pages on this machine give for a function.
#ifndef ORDEAL_PROFILE_MAN_H
#define ORDEAL_PROFILE_MAN_H

#include "profile/value.h"

struct man {
    ARRAY(char *) directories;                // of pages, in order
    unsigned (*number)(const char *, size_t); // of an error's name; 0: it is none
};
// The directories of MANPATH, or the usual ones.
_must_check_ struct error *man_open(unsigned (*number)(const char *name, size_t size),
                                    struct man *ret_man);
void man_close(struct man *man);

// What the section ERRORS of a function's page lists. *ret_found: whether there is a page with such
// a section. Pages that make no sense say nothing.
_must_check_ struct error *man_errors(const struct man *man, const char *function,
                                      struct error_set *ret_errors, bool *ret_found);

// Likewise of a page's source.
bool man_parse(const struct man *man, const char *page, struct error_set *ret_errors);

#endif
