// SPDX-License-Identifier: GPL-3.0-or-later
// The callers of each function of an image.
#ifndef ORDEAL_CALLSITE_CALLERS_H
#define ORDEAL_CALLSITE_CALLERS_H

#include "flow/image.h"

struct callers {
    uint32_t
        *first; // by function: index of its first caller in `blocks`; one entry more at the end
    uint32_t *blocks; // blocks that end with a call or tail call, grouped by callee
};
_must_check_ struct error *callers_init(const struct flow_image *image,
                                        struct callers *ret_callers);
void callers_deinit(struct callers *callers);

// Whether some path through the function never writes the return register. Then it has no result.
bool callers_get_no_result(const struct flow_image *image, uint32_t function);

#endif
