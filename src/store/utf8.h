// SPDX-License-Identifier: GPL-3.0-or-later
// Whatever targets write, rows hold UTF-8.
#ifndef ORDEAL_STORE_UTF8_H
#define ORDEAL_STORE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

bool utf8_is_sound(const char *text, size_t size);
// A copy with U+FFFD for each byte that does not belong, and its size; NULL when memory is short.
char *utf8_repair(const char *text, size_t size, size_t *ret_size);

#endif
