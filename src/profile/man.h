// SPDX-License-Identifier: GPL-3.0-or-later
// The errors that the installed manual pages list for a function.
#ifndef ORDEAL_PROFILE_MAN_H
#define ORDEAL_PROFILE_MAN_H

#include "profile/value.h"

struct man {
    ARRAY(char *) directories;                // of pages, in order
    unsigned (*number)(const char *, size_t); // the number of an error's name; 0: unknown name
};
// Takes the directories of MANPATH, or the usual ones.
_must_check_ struct error *man_open(unsigned (*number)(const char *name, size_t size),
                                    struct man *ret_man);
void man_close(struct man *man);

// The errors in section ERRORS of a function's page. *ret_found: whether there is a page with such
// a section. Broken pages list nothing.
_must_check_ struct error *man_errors(const struct man *man, const char *function,
                                      struct error_set *ret_errors, bool *ret_found);

// The same for the source of a page; false if it has no such section.
bool man_parse(const struct man *man, const char *page, struct error_set *ret_errors);

#endif
