// SPDX-License-Identifier: GPL-3.0-or-later
// The parts that all SARIF 2.1.0 reports share: the frame around the results, and locations in
// files. A lack of memory is recorded in the builder, or returned as an error.
#ifndef ORDEAL_REPORT_SARIF_H
#define ORDEAL_REPORT_SARIF_H

#include "report/json.h"

// Fills an empty root object with one run. The run and the array for its rules belong to the root.
struct sarif_run {
    json_t *run, *rules;
};
struct sarif_run sarif_begin(struct json_builder *builder, json_t *root, const char *version);

void sarif_add_message(struct json_builder *builder, json_t *parent, const char *key,
                       const char *text);
struct sarif_rule {
    const char *id;
    const char *meaning;     // one line
    const char *description; // what is wrong, in sentences
    const char *advice;      // what to do about it
    const char *level;       // "error", "warning" or "note"
    const char *score;       // 0.0 to 10.0, as code hosts rank security problems
};
void sarif_add_rule(struct json_builder *builder, const struct sarif_run *run,
                    const struct sarif_rule *rule);

// Adds the physical location of a line of a file of the project, named relative to its root (see
// project.h). With line 0, it is the beginning of the file: code hosts refuse results without a
// line.
_must_check_ struct error *sarif_add_place(struct json_builder *builder, json_t *location,
                                           const char *name, unsigned line);
// Adds a function as the logical location.
void sarif_add_function(struct json_builder *builder, json_t *location, const char *name);

#endif
