// SPDX-License-Identifier: GPL-3.0-or-later
// Variables of the target that conditions read.
#ifndef ORDEAL_RUNTIME_VARIABLE_H
#define ORDEAL_RUNTIME_VARIABLE_H

#include "runtime/call.h"
#include "runtime/module.h"

bool variables_prepare(void);
bool variable_add(const struct module *module, const struct wire_location *location,
                  const struct wire_step *steps);
bool variable_read(uint32_t variable, const struct call *call, int64_t *ret_value);

#endif
