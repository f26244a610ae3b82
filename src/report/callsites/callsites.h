// SPDX-License-Identifier: GPL-3.0-or-later
// Call sites of modules for people, browsers and machines: ranked, with their places in the source,
// as table, JSON, SARIF and scenarios.
#ifndef ORDEAL_REPORT_CALLSITES_CALLSITES_H
#define ORDEAL_REPORT_CALLSITES_CALLSITES_H

#include "callsite/site.h"
#include "dwarf/symbolizer.h"

#define CALLSITES_CLASSES 4

// A call site of the report. Texts belong to the report or live as long as the modules.
struct callsites_entry {
    const struct site *site;
    const struct site_callee *callee;
    uint32_t module;          // of the report
    unsigned danger;          // what the ranking goes by
    struct dwarf_position at; // of the call
    struct dwarf_position checked_at;
    const char *passed_to, *wrapper; // names of functions, or NULL
    int error;                       // an errno that goes with `result`, or 0
    int64_t result;                  // a failure that is not noticed, or is
};

struct callsites_module {
    const char *path; // of the profile set
    struct sites sites;
    const struct flow_image *image;
};

struct callsites_options {
    const char *const *functions; // globs; all if there are none
    size_t function_count;
    bool classes[CALLSITES_CLASSES]; // wanted; all if none is
};

struct callsites_report {
    ARRAY(struct callsites_module) modules;
    ARRAY(struct callsites_entry) entries; // most dangerous first
    ARRAY(char *) texts;
    struct dwarf_symbolizer *symbolizer;
    char *directory;                  // where the command was called; or NULL
    size_t counts[CALLSITES_CLASSES]; // of the functions that were asked for
    size_t late;                      // checked only after a use
    uint64_t calls, unresolved;       // of imports; of which nobody knows where they lead
};
_must_check_ struct error *callsites_report_init(struct callsites_report *report);
void callsites_report_deinit(struct callsites_report *report);

// Takes over the sites. `path` and `image` must outlive the report.
_must_check_ struct error *callsites_report_add(struct callsites_report *report, const char *path,
                                                const struct flow_image *image,
                                                struct sites *sites);

// Chooses, names and ranks. `error_of` says which errno goes with a result, 0 if none does.
_must_check_ struct error *
callsites_report_finish(struct callsites_report *report, const struct callsites_options *options,
                        int (*error_of)(void *data, size_t module, uint32_t import, int64_t result),
                        void *data);

// A result as the function's manual would name it: NULL, MAP_FAILED, -1.
_must_check_ struct error *callsites_put_code(struct buffer *text, const struct site_callee *callee,
                                              int64_t code);
// The results that are not checked, at most `most` of them: "-1, -2 and 3 more".
_must_check_ struct error *callsites_put_codes(struct buffer *text,
                                               const struct callsites_entry *entry, size_t most);
// What is done with the result, as people would say it.
_must_check_ struct error *callsites_put_use(struct buffer *text,
                                             const struct callsites_entry *entry);
// FILE:LINE, or FUNCTION+0x12, or MODULE+0x1234.
_must_check_ struct error *callsites_put_place(struct buffer *text,
                                               const struct callsites_report *report,
                                               const struct callsites_entry *entry);

enum callsites_shown {
    CALLSITES_BRIEF,  // ignored results that hardly anybody looks at are only counted
    CALLSITES_FAULTY, // what is not, or not fully, or lately checked
    CALLSITES_ALL,    // checked and unknown calls, too
};
_must_check_ struct error *callsites_text(const struct callsites_report *report,
                                          enum callsites_shown shown, struct buffer *text);
_must_check_ struct error *callsites_json(const struct callsites_report *report,
                                          struct buffer *text);
_must_check_ struct error *callsites_sarif(const struct callsites_report *report,
                                           struct buffer *text);

// The rules that make every call of a class fail, one for each; *ret_rules is how many there are.
_must_check_ struct error *callsites_yaml(const struct callsites_report *report,
                                          enum site_class class, struct buffer *text,
                                          size_t *ret_rules);
_must_check_ struct error *callsites_xml(const struct callsites_report *report,
                                         enum site_class class, struct buffer *text,
                                         size_t *ret_rules);

#endif
