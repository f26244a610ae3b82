// SPDX-License-Identifier: GPL-3.0-or-later
// Rows hold valid UTF-8, whatever targets write.
#ifndef ORDEAL_STORE_UTF8_H
#define ORDEAL_STORE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

bool utf8_is_valid(const char *text, size_t size);
// A copy in which U+FFFD replaces each bad byte, and its size. The caller frees it. NULL if memory
// is short.
char *utf8_repair(const char *text, size_t size, size_t *ret_size);

#endif
