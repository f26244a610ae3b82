// SPDX-License-Identifier: GPL-3.0-or-later
// The types of results that C headers declare, and what comments in front of declarations say about
// them. Code alone cannot always say whether a function has a result, whether it is a pointer or a
// number, and what it means.
#ifndef ORDEAL_PROFILE_HEADER_DECLARATIONS_H
#define ORDEAL_PROFILE_HEADER_DECLARATIONS_H

#include "base/arena.h"
#include "base/array.h"
#include "base/map.h"
#include "profile/header/declared.h"
#include "profile/header/documented.h"

struct declaration; // of a function or of a type

struct declarations {
    struct arena texts;
    ARRAY(struct declaration *) items;
    struct map functions, types, tags; // hash of the name → index in `items`
};
void declarations_deinit(struct declarations *declarations);

// Adds what a header declares, or all headers (*.h) in a directory and below it.
_must_check_ struct error *declarations_read(struct declarations *declarations, const char *path);
// The same for the text of a header. Text that is no C declares nothing.
_must_check_ struct error *declarations_parse(struct declarations *declarations, const char *text,
                                              size_t size);

// DECLARED_UNKNOWN if the function is not declared, or if its type is not. `name` need not end in
// NUL.
enum declared_result declarations_find(const struct declarations *declarations, const char *name,
                                       size_t size);
// enum documented: what the comment in front of the declaration says about results.
unsigned declarations_documented(const struct declarations *declarations, const char *name,
                                 size_t size);

// The enumeration that is the type of a function's result, or NULL. Lives as long as
// `declarations`.
const struct enumeration *declarations_enumeration(const struct declarations *declarations,
                                                   const char *name, size_t size);

#endif
