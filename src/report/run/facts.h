// SPDX-License-Identifier: GPL-3.0-or-later
// What the records and counters of a region mean; shared by the reports.
#ifndef ORDEAL_REPORT_RUN_FACTS_H
#define ORDEAL_REPORT_RUN_FACTS_H

#include "base/array.h"
#include "base/error.h"
#include "dwarf/symbolizer.h"
#include "wire/view.h"

#include <stdbool.h>
#include <stdint.h>

enum rule_state {
    RULE_CANNOT_APPLY,
    RULE_NOT_REACHED,
    RULE_REACHED,
    RULE_FIRED,
};

struct facts {
    const struct wire_view *view;
    enum rule_state *rule_states;           // view->rule_count
    uint64_t injections, notes, torn, lost; // records
    uint64_t fired;                         // over all rules
    struct dwarf_symbolizer *symbolizer;    // made with the first frame
    bool symbolize;
};
_must_check_ struct error *facts_init(struct facts *facts, const struct wire_view *view,
                                      bool symbolize);
void facts_deinit(struct facts *facts);

// The name JSON uses, "not-reached".
const char *facts_rule_state_name(enum rule_state state);
const char *facts_note_name(uint32_t note);
// What a note means, as the beginning of a sentence about its text.
const char *facts_note_meaning(uint32_t note);

// The record if it is complete and of that kind, else NULL.
const struct wire_record *facts_record(const struct facts *facts, uint32_t index,
                                       enum wire_record_kind kind);

// The rule of an injection, or NULL if the number is nonsense.
const struct wire_rule *facts_rule(const struct facts *facts, const struct wire_record *record);
// Its rule->outs.count output parameters.
const struct wire_out *facts_outs(const struct facts *facts, const struct wire_rule *rule);
const char *facts_condition(const struct facts *facts, const struct wire_record *record);

// Path of a module of the table; "" if unknown. At most WIRE_MODULE_PATH bytes, maybe no NUL.
const char *facts_module(const struct facts *facts, uint32_t index);

// The returned value as text.
_must_check_ struct error *facts_put_value(const struct facts *facts,
                                           const struct wire_record *record, struct buffer *text);

// What is known about the arguments of a call.
struct call_arguments {
    unsigned count;    // those worth showing
    const char *kinds; // enum prototype_kind letters; NULL: the function is not known, these are
                       // the registers that arguments are passed in
    uint32_t strings;  // bit i: a captured C string
};
struct call_arguments facts_arguments(const struct facts *facts, const struct wire_record *record);
_must_check_ struct error *facts_put_argument(const struct call_arguments *arguments,
                                              const struct wire_record *record, unsigned index,
                                              struct buffer *text);

struct frame {
    const char *module; // up to WIRE_MODULE_PATH bytes; "" if unknown
    uint64_t offset;    // link-time return address, or absolute without a module
    struct dwarf_position position;
};
// A frame is where a call returns to, or (`exact`) the instruction itself.
struct frame facts_frame(struct facts *facts, uint64_t packed, bool exact);
// Whether frame `index` of a record is exact.
bool facts_frame_exact(const struct wire_record *record, unsigned index);
unsigned facts_frame_count(const struct wire_record *record);

#endif
