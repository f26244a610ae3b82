// SPDX-License-Identifier: GPL-3.0-or-later
// Where a debugger stops: called with every injection, before the target sees anything of it. A
// file of its own, so that the compiler neither inlines the function nor leaves it out.
#include "runtime/decide.h"

void ordeal_injection(const char *function, uint64_t occurrence, uint32_t rule)
{
    __asm__ volatile("" ::"r"(function), "r"(occurrence), "r"(rule));
}
