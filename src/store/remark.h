// SPDX-License-Identifier: GPL-3.0-or-later
// Remarks about a campaign as people read them.
#ifndef ORDEAL_STORE_REMARK_H
#define ORDEAL_STORE_REMARK_H

#include "base/array.h"
#include "base/error.h"
#include "store/store.h"

// Appends one sentence: "not tested: FAULT: WHY", or the remark's text. The only error is a lack of
// memory.
_must_check_ struct error *remark_put(struct buffer *text, const struct store_remark *remark);

#endif
