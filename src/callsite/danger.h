// SPDX-License-Identifier: GPL-3.0-or-later
// How bad it is likely to be if a call fails: what sites are ranked by.
#ifndef ORDEAL_CALLSITE_DANGER_H
#define ORDEAL_CALLSITE_DANGER_H

#include "callsite/site.h"

// Checked, but only after a use, or only on some paths.
bool site_is_late(const struct site *site);
// The result is ignored, of a function whose failure hardly anybody looks at.
bool site_is_harmless(const struct site *site, const struct site_callee *callee);
// 0 to 100; the manual of ordeal callsites says how it is made.
unsigned site_danger(const struct site *site, const struct site_callee *callee);

#endif
