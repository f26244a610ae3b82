// SPDX-License-Identifier: GPL-3.0-or-later
// What the records and counters of a region mean. The text and JSON reports share this. Nothing
// that comes from a record is trusted.
#ifndef ORDEAL_REPORT_RUN_FACTS_H
#define ORDEAL_REPORT_RUN_FACTS_H

#include "base/array.h"
#include "base/error.h"
#include "dwarf/symbolizer.h"
#include "sandbox/sandbox.h"
#include "wire/view.h"

#include <stdbool.h>
#include <stdint.h>

enum rule_state {
    RULE_CANNOT_APPLY,
    RULE_NOT_REACHED,
    RULE_REACHED,
    RULE_FIRED,
    RULE_UNKNOWN, // the target has damaged the region
};

struct facts {
    const struct wire_view *view;
    enum rule_state *rule_states; // view->rule_count
    bool *idle_members;           // likewise: part of a class, another part of which tells more
    uint64_t injections, notes, torn, lost; // numbers of records
    uint64_t fired;                         // sum over all rules
    struct dwarf_symbolizer *symbolizer;    // created for the first frame
    bool symbolize;
};
// Reads the counters and rule states of a region. `view` must outlive the facts.
_must_check_ struct error *facts_init(struct facts *facts, const struct wire_view *view,
                                      bool symbolize);
void facts_deinit(struct facts *facts);

// The name that JSON uses, for instance "not-reached".
const char *facts_rule_state_name(enum rule_state state);
const char *facts_change_name(enum sandbox_change_kind kind); // likewise
const char *facts_note_name(uint32_t note);
// What a note means: the beginning of a sentence that the note's text completes.
const char *facts_note_meaning(uint32_t note);

// The record, if it is complete and of that kind; otherwise NULL.
const struct wire_record *facts_record(const struct facts *facts, uint32_t index,
                                       enum wire_record_kind kind);

// What came back from the call that an injection's record says was observed; NULL: nothing did.
const struct wire_record *facts_result(const struct facts *facts,
                                       const struct wire_record *injection);
// The rule of an injection, or NULL if its number is out of range.
const struct wire_rule *facts_rule(const struct facts *facts, const struct wire_record *record);
// The output parameters of a rule; there are rule->outs.count of them.
const struct wire_out *facts_outs(const struct facts *facts, const struct wire_rule *rule);
const char *facts_condition(const struct facts *facts, const struct wire_record *record);

// The path of a module in the module table, "" if unknown. At most WIRE_MODULE_PATH bytes, maybe
// without a NUL.
const char *facts_module(const struct facts *facts, uint32_t index);

// Appends the value that the call returned.
_must_check_ struct error *facts_put_value(const struct facts *facts,
                                           const struct wire_record *record, struct buffer *text);

// What is known about the arguments of a call.
struct call_arguments {
    unsigned count;    // arguments worth showing
    const char *kinds; // enum prototype_kind letters; NULL: the function is not known, these are
                       // the registers that arguments are passed in
    uint32_t strings;  // bit i: argument i is a captured C string
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
// A frame is the address that a call returns to or, if `exact`, of the instruction itself.
struct frame facts_frame(struct facts *facts, uint64_t packed, bool exact);
// Whether frame `index` of a record is exact.
bool facts_frame_exact(const struct wire_record *record, unsigned index);
unsigned facts_frame_count(const struct wire_record *record);

#endif
