// SPDX-License-Identifier: GPL-3.0-or-later
// What parse.c and members.c share with declarations.c.
#ifndef ORDEAL_PROFILE_HEADER_DECLARATIONS_INTERNAL_H
#define ORDEAL_PROFILE_HEADER_DECLARATIONS_INTERNAL_H

#include "profile/header/declarations.h"
#include "profile/header/type.h"

struct declaration {
    struct word name;
    uint16_t documented; // enum documented
    bool many;           // an enumeration with other members than two for yes and no
    uint8_t result;      // enum declared_result, or
    uint8_t word_count;  // if that is not known: one of these words may be the type, last first
    struct word words[MOST_WORDS];
    struct word tag;                       // of an enumeration, if the type is one with a name
    const struct enumeration *enumeration; // of a type, or NULL
};

// The declaration of a function, type or tag with a name, or NULL. `map` is one of `declarations`.
struct declaration *declarations_look_up(const struct declarations *declarations,
                                         const struct map *map, const struct word *name);
_must_check_ struct error *declarations_add(struct declarations *declarations, struct map *map,
                                            const struct word *name, const struct type *type);

// Passes over what is in braces, of which the first one was read. *ret_many: it has a minus, or
// more than two parts; `ret_enumeration`: its members, if these are the braces of an enumeration.
void members_read(struct header_reader *reader, bool *ret_many,
                  struct enumeration *ret_enumeration);

#endif
