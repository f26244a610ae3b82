// SPDX-License-Identifier: GPL-3.0-or-later
// A library to preload that makes one call fail: reproduces a finding without Ordeal.
#ifndef ORDEAL_REPORT_CAMPAIGN_PRELOAD_H
#define ORDEAL_REPORT_CAMPAIGN_PRELOAD_H

#include "base/array.h"
#include "base/error.h"
#include "store/store.h"

#include <stdbool.h>

struct preload {
    const char *function; // that fails
    int64_t value;        // what it returns
    const char *error;    // name of the errno it sets, or ""
    const char *module;   // path of the caller
    uint64_t site;        // return address in it; 0: any call counts
    uint64_t occurrence;  // number of the call that fails
};
// Whether the fault of an injection can be made so; if so, fills in *ret_preload, which refers to
// the texts of the others. `spec` is the trial's.
bool preload_find(const struct store_injection *injection, const char *spec, int64_t value,
                  char error_name[32], struct preload *ret_preload);
// Appends the source: C for gcc.
_must_check_ struct error *preload_put(const struct preload *preload, struct buffer *text);

#endif
