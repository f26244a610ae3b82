// SPDX-License-Identifier: GPL-3.0-or-later
// The user's own key for hashes of variables that are not stored. It is in a file of the user's,
// never in a store: without it nobody can try values out.
#ifndef ORDEAL_CAMPAIGN_ENVIRONMENT_KEY_H
#define ORDEAL_CAMPAIGN_ENVIRONMENT_KEY_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KEY_BYTES 32
#define KEY_HASH  (2 * KEY_BYTES + 1) // digits, and the NUL

struct environment_key {
    bool known;
    uint8_t bytes[KEY_BYTES];
    char id[KEY_HASH]; // tells whether another hash was made with the same key
};

// Reads $XDG_STATE_HOME/ordeal/key or ~/.local/state/ordeal/key. With `create` it is made if it is
// missing. `known` is false where there is no such file and none can be made. A file that is not
// the user's own, or that others can read, is an error.
_must_check_ struct error *environment_key_load(bool create, struct environment_key *ret_key);
void environment_key_hash(const struct environment_key *key, const char *name, size_t name_size,
                          const char *value, char ret_hash[KEY_HASH]);

#endif
