// SPDX-License-Identifier: GPL-3.0-or-later
// Who calls a function of the image.
#ifndef ORDEAL_CALLSITE_CALLERS_H
#define ORDEAL_CALLSITE_CALLERS_H

#include "flow/image.h"

struct callers {
    uint32_t *first;  // by function: of `blocks`; one more than there are functions
    uint32_t *blocks; // that end with a call of it, or a tail call
};
_must_check_ struct error *callers_init(const struct flow_image *image,
                                        struct callers *ret_callers);
void callers_deinit(struct callers *callers);

// Whether some path through the function never writes the register of results: then it has none.
bool callers_get_no_result(const struct flow_image *image, uint32_t function);

#endif
