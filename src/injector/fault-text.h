// SPDX-License-Identifier: GPL-3.0-or-later
// Faults of calls, as injections name them: "FUNCTION=RESULT[/ERRNO]", or with any other action of
// a rule.
#ifndef ORDEAL_INJECTOR_FAULT_TEXT_H
#define ORDEAL_INJECTOR_FAULT_TEXT_H

#include "base/array.h"
#include "base/error.h"
#include "injector/observation.h"

// How many bytes of a name to show in a title.
int fault_text_shown(size_t size);
// "read fails with EIO"
_must_check_ struct error *fault_text_put(const char *fault, struct buffer *text);
// " fails with EIO"
_must_check_ struct error *fault_text_put_result(const char *fault, struct buffer *text);
// The function, and the errno or "". As in struct injector_stored.
void fault_text_split(const char *fault, char function[128], char error[32]);
// Fills in which errno each fault has injected.
void fault_text_note_errors(struct observation *observation);

#endif
