// SPDX-License-Identifier: GPL-3.0-or-later
// The rules of SARIF logs of campaigns. Code hosts rank problems by rule, so that a rule stands for
// one verdict with one severity.
#ifndef ORDEAL_REPORT_CAMPAIGN_SARIF_RULES_H
#define ORDEAL_REPORT_CAMPAIGN_SARIF_RULES_H

#include "report/sarif.h"
#include "store/severity.h"

struct campaign_rule {
    enum verdict verdict;
    enum severity severity;
    struct sarif_rule sarif;
};
extern const struct campaign_rule campaign_rules[];
extern const size_t campaign_rule_count;

// The index of the rule of a finding. The last rule is for what no other fits.
size_t campaign_rule_find(enum verdict verdict, enum severity severity);

#endif
