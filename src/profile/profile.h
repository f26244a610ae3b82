// SPDX-License-Identifier: GPL-3.0-or-later
// The fault profile of one library: its exported functions and their failures. It refers to nothing
// outside of it and consists of flat arrays, so it can be stored in a file.
#ifndef ORDEAL_PROFILE_PROFILE_H
#define ORDEAL_PROFILE_PROFILE_H

#include "profile/library.h"

// Texts are offsets in `texts`; 0: none.
struct profile_function {
    uint64_t address;
    uint32_t name, version;
    uint32_t unknown;                   // why nothing is known
    uint32_t first, count;              // failures
    uint8_t old;                        // new programs are not linked to this version
    uint8_t cut, pointer, narrow, pure; // as in struct failures
    uint8_t truth;                      // its result is declared a yes or no
    uint8_t status;                     // it returns zero or a failure, and nothing else
};

struct profile_variable { // a variable that failures change
    int64_t where;
    uint32_t name;
    uint32_t kind; // enum effect_kind
};

struct profile {
    char *path;
    uint32_t soname, build_id;
    bool cached;                              // it comes from the cache
    ARRAY(struct profile_function) functions; // by name, current version first
    ARRAY(struct failure) failures;           // grouped by function
    ARRAY(struct profile_variable) variables; // sorted by kind and place
    struct error_sets sets;                   // of the values in failures
    struct buffer texts;
};
void profile_deinit(struct profile *profile);

// Makes the profile of a module that was analysed. Failures that differ only in errno are merged.
_must_check_ struct error *profile_make(struct profile_set *set, size_t module,
                                        struct profile *ret_profile);

// A copy with another path.
_must_check_ struct error *profile_copy(const struct profile *profile, const char *path,
                                        struct profile *ret_copy);

// Removes error numbers from errno and from results.
_must_check_ struct error *profile_exclude(struct profile *profile,
                                           const struct error_set *numbers);

static inline const char *profile_text(const struct profile *profile, uint32_t text)
{
    return text == 0 ? NULL : profile->texts.data + text;
}
_must_check_ struct error *profile_add_text(struct profile *profile, const char *text,
                                            uint32_t *ret_text);

// The name of the variable an effect is about, or NULL.
const char *profile_effect_name(const struct profile *profile, const struct effect *effect);

#endif
