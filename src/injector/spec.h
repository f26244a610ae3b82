// SPDX-License-Identifier: GPL-3.0-or-later
// Writes rules in the language of --inject. Names of functions, programs and modules may contain
// any characters; they are quoted here.
#ifndef ORDEAL_INJECTOR_SPEC_H
#define ORDEAL_INJECTOR_SPEC_H

#include "base/array.h"
#include "base/error.h"
#include "scenario/scenario.h"

#include <stdbool.h>
#include <stdint.h>

// How the scenario parser reads a word.
enum spec_word {
    SPEC_PATTERN, // a pattern, as it is
    SPEC_NAME,    // a glob; the lexer's escapes make characters literal
    SPEC_MODULE,  // a glob that the lexer passes on as it is
};
// Writes a word so that the lexer reads it back. SPEC_NAME and SPEC_MODULE are escaped so that they
// match only themselves.
_must_check_ struct error *spec_put_word(struct buffer *spec, const char *word,
                                         enum spec_word kind);
// "FUNCTION=ACTION": the fault type.
_must_check_ struct error *spec_put_type(struct buffer *text, const struct scenario_rule_view *rule,
                                         const char *function);
// "[LIBRARY:]FUNCTION=ACTION when [(CONDITION) and ]". The caller adds a condition.
_must_check_ struct error *spec_put_head(struct buffer *spec, const struct scenario_rule_view *rule,
                                         const char *function);
// process(3), ancestry(1.2): of a struct recorded_call
_must_check_ struct error *spec_put_process(struct buffer *spec, uint64_t process);
// process("PROGRAM")
_must_check_ struct error *spec_put_program(struct buffer *spec, const char *program);
// A hash of "FUNCTION when PLACE", without result and errno: how a failure is handled depends
// little on them.
uint64_t spec_place(const char *spec);
// "caller(MODULE+0xOFFSET)"
_must_check_ struct error *spec_put_site(struct buffer *spec, const char *module, uint64_t offset);

#endif
