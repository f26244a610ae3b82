// SPDX-License-Identifier: GPL-3.0-or-later
// Values that must not leave this process: which variables hold them, and the filter that
// everything goes through that is stored or shown. "<secret:NAME>" stands for the value of a
// variable, and "<secret:NAME:2>" for the second line of a value that has several. The known values
// belong to the process; they are set before it starts threads or forks.
#ifndef ORDEAL_BASE_SECRETS_H
#define ORDEAL_BASE_SECRETS_H

#include "base/array.h"
#include "base/error.h"
#include "base/words.h"

#include <stdbool.h>
#include <stddef.h>

// Whether the value may be stored whoever set it: PATH, HOME, what chooses language and time zone.
bool variable_is_public(const char *name, size_t size);
// Whether a name looks like that of a secret: GITHUB_TOKEN, DB_PASSWORD, SIGNING_KEY.
bool variable_looks_secret(const char *name, size_t size);
// Whether a name matches one of the patterns (fnmatch) that mark secrets.
bool variable_is_marked(const struct words *marks, const char *name, size_t size);

// Learns the secrets among variables "NAME=VALUE" (NULL: none): those whose name is marked, and
// those whose name looks secret or whose value is an address with a password, unless the name is
// public or in `kept`. Both lists may be NULL. Values that are too short to be told from other text
// are not masked; nor are, unless marked, paths of files.
_must_check_ struct error *secrets_learn(char *const *variables, const struct words *marks,
                                         const struct words *kept);
void secrets_forget(void);
bool secrets_any(void);
// Whether the value of this variable is a secret, however short.
bool secrets_has(const char *name, size_t size);

// Appends the bytes with every secret replaced by what stands for it.
_must_check_ struct error *secrets_put(struct buffer *buffer, const char *bytes, size_t size);
// Overwrites every secret in the bytes with asterisks, where the size must stay.
void secrets_blank(char *bytes, size_t size);
// Replaces a text that is on the heap. NULL stays NULL.
_must_check_ struct error *secrets_mask(char **text);
// How much to keep of bytes that were cut off somewhere, so that they do not end with the beginning
// of a secret.
size_t secrets_whole(const char *bytes, size_t size);
// The way back: puts values in place of what stands for them, from what is known and from this
// process's environment. An error names a variable that is not set.
_must_check_ struct error *secrets_restore(char **text);
_must_check_ struct error *secrets_put_restored(struct buffer *buffer, const char *bytes,
                                                size_t size);
// Appends a word for a shell. Secrets in it are written as "$NAME".
_must_check_ struct error *secrets_put_shell_word(struct buffer *text, const char *word);

#endif
