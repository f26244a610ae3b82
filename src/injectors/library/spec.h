// SPDX-License-Identifier: GPL-3.0-or-later
// Rules in the language of --inject, put together from parts that may hold anything.
#ifndef ORDEAL_INJECTORS_LIBRARY_SPEC_H
#define ORDEAL_INJECTORS_LIBRARY_SPEC_H

#include "base/array.h"
#include "base/error.h"
#include "scenario/scenario.h"

#include <stdbool.h>
#include <stdint.h>

// What a word is read as.
enum spec_word {
    SPEC_PATTERN, // a pattern, as it is
    SPEC_NAME,    // a glob; escapes of the lexer's keep characters from being special
    SPEC_MODULE,  // a glob that the lexer knows nothing about
};
// A word so that the lexer reads it back; SPEC_NAME and SPEC_MODULE so that it matches itself only.
_must_check_ struct error *spec_put_word(struct buffer *spec, const char *word,
                                         enum spec_word kind);
// "FUNCTION=ACTION": the fault type.
_must_check_ struct error *spec_put_type(struct buffer *text, const struct scenario_rule_view *rule,
                                         const char *function);
// "[LIBRARY:]FUNCTION=ACTION when [(CONDITION) and ]": what a condition is to follow.
_must_check_ struct error *spec_put_head(struct buffer *spec, const struct scenario_rule_view *rule,
                                         const char *function);
// process("PROGRAM")
_must_check_ struct error *spec_put_program(struct buffer *spec, const char *program);
// Identifies "FUNCTION when PLACE": how a failure is handled depends little on result and errno.
uint64_t spec_place(const char *spec);
// "caller(MODULE+0xOFFSET)"
_must_check_ struct error *spec_put_site(struct buffer *spec, const char *module, uint64_t offset);

#endif
