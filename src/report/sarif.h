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
// Adds a rule with its default level: "error", "warning" or "note".
void sarif_add_rule(struct json_builder *builder, const struct sarif_run *run, const char *id,
                    const char *meaning, const char *level);

// Records the directory that relative paths start from. Does nothing if it is NULL or relative.
_must_check_ struct error *sarif_add_base(struct json_builder *builder, json_t *run,
                                          const char *directory);
// Adds the physical location of a line (0: of the whole file). The path is made relative to the
// directory where possible.
_must_check_ struct error *sarif_add_place(struct json_builder *builder, json_t *location,
                                           const char *directory, const char *file, unsigned line);
// Adds a function name or an address as a logical location.
void sarif_add_logical(struct json_builder *builder, json_t *location, const char *name);

#endif
