// SPDX-License-Identifier: GPL-3.0-or-later
// Why a finding breaks, in two or three sentences.
#ifndef ORDEAL_REPORT_CAMPAIGN_EXPLANATION_H
#define ORDEAL_REPORT_CAMPAIGN_EXPLANATION_H

#include "base/array.h"
#include "base/error.h"
#include "store/store.h"

// The consequences of a finding, in their order. It owns the texts.
struct consequences {
    ARRAY(struct store_consequence) items;
};
_must_check_ struct error *consequences_load(struct store *store, int64_t finding,
                                             struct consequences *ret_consequences);
void consequences_deinit(struct consequences *consequences);

// Appends the sentences; nothing if nothing is known. Names in them come from targets and are not
// escaped. `directory` is left out of paths below it; it may be NULL.
_must_check_ struct error *consequences_put(const struct consequences *consequences,
                                            const char *directory, struct buffer *text);
// Appends "config.c:88", "load+0x1a" or "prog+0x1189", as much as is known; or nothing.
_must_check_ struct error *consequence_put_place(const struct store_consequence *consequence,
                                                 struct buffer *text);
// The consequence that says where a check is missing: of the call whose failure nobody tests; or
// NULL.
const struct store_consequence *consequences_unchecked(const struct consequences *consequences);

#endif
