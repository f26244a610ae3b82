// SPDX-License-Identifier: GPL-3.0-or-later
// What a library gave its user, and how that differs with a fault.
#ifndef ORDEAL_REPORT_INTERFACE_INTERFACE_H
#define ORDEAL_REPORT_INTERFACE_INTERFACE_H

#include "base/array.h"
#include "interface/compare.h"
#include "interface/summary.h"

// Appends one line for each difference and one with the sums, last. `all` lists all differences,
// else the first ones.
_must_check_ struct error *
report_interface_comparison(const struct interface_comparison *comparison, bool all,
                            struct buffer *text);
// Appends JSON lines: an object for each difference, then one with the sums.
_must_check_ struct error *
report_interface_comparison_json(const struct interface_comparison *comparison,
                                 struct buffer *text);
// Appends a table of functions.
_must_check_ struct error *report_interface_summary(const struct interface_summary *summary,
                                                    struct buffer *text);
_must_check_ struct error *report_interface_summary_json(const struct interface_summary *summary,
                                                         struct buffer *text);

#endif
