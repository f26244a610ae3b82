// SPDX-License-Identifier: GPL-3.0-or-later
// Faults in registers and memory: who notices them; and what that means for upsets that are spread
// uniformly over the run.
#ifndef ORDEAL_REPORT_CAMPAIGN_UPSETS_H
#define ORDEAL_REPORT_CAMPAIGN_UPSETS_H

#include "report/campaign/terminal.h"

// Whether the campaign is about registers or memory. For others, the functions below write nothing.
bool upsets_are_of(const struct campaign_facts *facts);
_must_check_ struct error *upsets_put_text(struct terminal *terminal,
                                           const struct campaign_facts *facts);
_must_check_ struct error *upsets_put_json(const struct campaign_facts *facts,
                                           struct report_sink *sink);

#endif
