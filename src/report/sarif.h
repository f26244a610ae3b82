// SPDX-License-Identifier: GPL-3.0-or-later
// What the reports in SARIF 2.1.0 share: the frame around results, and places in files.
#ifndef ORDEAL_REPORT_SARIF_H
#define ORDEAL_REPORT_SARIF_H

#include "report/json.h"

// Fills an empty root object; the one run, and the array for its rules, belong to it.
struct sarif_run {
    json_t *run, *rules;
};
struct sarif_run sarif_begin(struct json_maker *maker, json_t *root, const char *version);

void sarif_add_message(struct json_maker *maker, json_t *parent, const char *key, const char *text);
// A rule with its level: "error", "warning" or "note".
void sarif_add_rule(struct json_maker *maker, const struct sarif_run *run, const char *id,
                    const char *meaning, const char *level);

// Says where paths that are not absolute begin. Nothing if the directory is NULL or relative.
_must_check_ struct error *sarif_add_base(struct json_maker *maker, json_t *run,
                                          const char *directory);
// The physical location of a line (0: of the file), below the directory if it can be.
_must_check_ struct error *sarif_add_place(struct json_maker *maker, json_t *location,
                                           const char *directory, const char *file, unsigned line);
// The name of a function or an address, as a logical location.
void sarif_add_logical(struct json_maker *maker, json_t *location, const char *name);

#endif
