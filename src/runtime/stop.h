// SPDX-License-Identifier: GPL-3.0-or-later
// The function that debuggers stop at.
#ifndef ORDEAL_RUNTIME_STOP_H
#define ORDEAL_RUNTIME_STOP_H

#include <stdint.h>

void ordeal_injection(const char *function, uint64_t occurrence, uint32_t rule);

#endif
