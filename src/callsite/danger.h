// SPDX-License-Identifier: GPL-3.0-or-later
// The danger of a call site: how bad it is likely to be if the call fails. Sites are ranked by it.
#ifndef ORDEAL_CALLSITE_DANGER_H
#define ORDEAL_CALLSITE_DANGER_H

#include "callsite/site.h"

// The result is checked, but only after a use, or only on some paths.
bool site_is_late(const struct site *site);
// The result is ignored, and it is of a function whose failure hardly any program checks.
bool site_is_harmless(const struct site *site, const struct site_callee *callee);
// 0 to 100; the manual page of ordeal callsites says how it is calculated.
unsigned site_danger(const struct site *site, const struct site_callee *callee);

#endif
