// SPDX-License-Identifier: GPL-3.0-or-later
// How much recovery code a campaign covered, and how many source lines if the target counts them.
#ifndef ORDEAL_REPORT_CAMPAIGN_COVERAGE_H
#define ORDEAL_REPORT_CAMPAIGN_COVERAGE_H

#include "report/campaign/html.h"
#include "report/campaign/terminal.h"

struct coverage_count {
    uint64_t blocks, before, added; // covered by references; additionally by trials
};
struct coverage_part { // a module, or a function of one
    char *name;        // of the function; "" if it has none, or for a module
    uint32_t module;
    struct coverage_count count;
};
struct coverage_missed { // a block that was never reached
    uint32_t module;
    uint64_t address;
    char *function, *file; // or NULL
    unsigned line;
};
struct campaign_coverage {
    ARRAY(char *) modules; // paths
    ARRAY(struct coverage_count) by_module;
    ARRAY(struct coverage_part) functions; // by module, then by address
    ARRAY(struct coverage_missed) missed;  // likewise
    struct coverage_count all;
    uint64_t files, lines, lines_before, lines_after;
};
// All zero if nothing was measured.
_must_check_ struct error *campaign_coverage_load(const struct campaign_facts *facts,
                                                  struct campaign_coverage *ret_coverage);
void campaign_coverage_deinit(struct campaign_coverage *coverage);
double coverage_percent(uint64_t part, uint64_t all); // 0 if `all` is 0

// One section for each format. They write nothing if nothing was measured.
_must_check_ struct error *coverage_put_text(struct terminal *terminal,
                                             const struct campaign_facts *facts, bool all);
_must_check_ struct error *coverage_put_json(const struct campaign_facts *facts,
                                             struct report_sink *sink);
_must_check_ struct error *html_coverage(struct html_page *page);

#endif
