// SPDX-License-Identifier: GPL-3.0-or-later
// Causes of findings (struct store_finding) in different builds of one program.
#ifndef ORDEAL_STORE_CAUSE_H
#define ORDEAL_STORE_CAUSE_H

#include "base/array.h"
#include "base/error.h"

#include <stdbool.h>

// Appends the cause without what differs when code only moves: line numbers, addresses, and the
// directories of files. Different causes in one function may become the same.
_must_check_ struct error *cause_put_stable(struct buffer *text, const char *cause);
// The name of a finding in all builds, programs and campaigns: 64 bits of FNV-1a over the text of
// cause_put_stable(), as hexadecimal digits. It must not change from version to version.
#define CAUSE_FINGERPRINT 17
_must_check_ struct error *cause_fingerprint(const char *cause, char text[CAUSE_FINGERPRINT]);
// Whether two causes are the same after that.
_must_check_ struct error *cause_is_same(const char *left, const char *right, bool *ret_same);

#endif
