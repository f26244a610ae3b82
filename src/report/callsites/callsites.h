// SPDX-License-Identifier: GPL-3.0-or-later
// Reports on the call sites of modules: ranked, with their source positions, as a table, JSON,
// SARIF and scenarios. The report owns the sites it was given; writers append to `text`.
#ifndef ORDEAL_REPORT_CALLSITES_CALLSITES_H
#define ORDEAL_REPORT_CALLSITES_CALLSITES_H

#include "callsite/site.h"
#include "dwarf/symbolizer.h"

#define CALLSITES_CLASSES 4

// One call site of the report. Its strings belong to the report or live as long as the modules.
struct callsites_entry {
    const struct site *site;
    const struct site_callee *callee;
    uint32_t module;          // index in report.modules
    unsigned danger;          // the ranking sorts by this
    struct dwarf_position at; // of the call
    struct dwarf_position checked_at;
    const char *passed_to, *wrapper; // names of functions, or NULL
    int error;                       // an errno that goes with `result`, or 0
    // A failure that is not noticed or, if there is none, one that is
    int64_t result;
};

struct callsites_module {
    const char *path; // path in the profile set
    struct sites sites;
    const struct flow_image *image;
};

struct callsites_options {
    const char *const *functions; // globs; all functions if there are none
    size_t function_count;
    bool classes[CALLSITES_CLASSES]; // classes to show; all if none is set
};

struct callsites_report {
    ARRAY(struct callsites_module) modules;
    ARRAY(struct callsites_entry) entries; // most dangerous first
    ARRAY(char *) texts;
    struct dwarf_symbolizer *symbolizer;
    char *directory;                  // where the command was started, or NULL
    size_t counts[CALLSITES_CLASSES]; // of the functions that were asked for
    size_t late;                      // checked only after the result was used
    uint64_t calls, unresolved;       // calls of imports; calls whose target is unknown
};
_must_check_ struct error *callsites_report_init(struct callsites_report *report);
void callsites_report_deinit(struct callsites_report *report);

// Takes over `sites`. `path` and `image` must outlive the report.
_must_check_ struct error *callsites_report_add(struct callsites_report *report, const char *path,
                                                const struct flow_image *image,
                                                struct sites *sites);

// Selects, names and ranks the call sites. `error_of` returns the errno that goes with a result, or
// 0.
_must_check_ struct error *
callsites_report_finish(struct callsites_report *report, const struct callsites_options *options,
                        int (*error_of)(void *data, size_t module, uint32_t import, int64_t result),
                        void *data);

// Writes a result as the function's manual names it: NULL, MAP_FAILED, -1.
_must_check_ struct error *callsites_put_code(struct buffer *text, const struct site_callee *callee,
                                              int64_t code);
// Writes the results that are not checked, at most `most` of them: "-1, -2 and 3 more".
_must_check_ struct error *callsites_put_codes(struct buffer *text,
                                               const struct callsites_entry *entry, size_t most);
// Writes in plain words what the caller does with the result.
_must_check_ struct error *callsites_put_use(struct buffer *text,
                                             const struct callsites_entry *entry);
// Writes FILE:LINE, FUNCTION+0x12 or MODULE+0x1234, whichever is known first.
_must_check_ struct error *callsites_put_place(struct buffer *text,
                                               const struct callsites_report *report,
                                               const struct callsites_entry *entry);

enum callsites_shown {
    CALLSITES_BRIEF,  // ignored results that hardly anybody checks are only counted
    CALLSITES_FAULTY, // results that are not checked, not fully checked, or checked late
    CALLSITES_ALL,    // also checked calls and calls that are not understood
};
_must_check_ struct error *callsites_text(const struct callsites_report *report,
                                          enum callsites_shown shown, struct buffer *text);
_must_check_ struct error *callsites_json(const struct callsites_report *report,
                                          struct buffer *text);
_must_check_ struct error *callsites_sarif(const struct callsites_report *report,
                                           struct buffer *text);

// Writes one rule for each call of a class that makes it fail. *ret_rules is their number.
_must_check_ struct error *callsites_yaml(const struct callsites_report *report,
                                          enum site_class class, struct buffer *text,
                                          size_t *ret_rules);
_must_check_ struct error *callsites_xml(const struct callsites_report *report,
                                         enum site_class class, struct buffer *text,
                                         size_t *ret_rules);

#endif
