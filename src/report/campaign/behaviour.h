// SPDX-License-Identifier: GPL-3.0-or-later
// How many invocations behaved differently, and who would have noticed.
#ifndef ORDEAL_REPORT_CAMPAIGN_BEHAVIOUR_H
#define ORDEAL_REPORT_CAMPAIGN_BEHAVIOUR_H

#include "report/campaign/terminal.h"

// They write nothing if behaviour was not compared.
_must_check_ struct error *behaviour_put_text(struct terminal *terminal,
                                              const struct campaign_facts *facts);
_must_check_ struct error *behaviour_put_json(const struct campaign_facts *facts,
                                              struct report_sink *sink);

#endif
