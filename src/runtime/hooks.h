// SPDX-License-Identifier: GPL-3.0-or-later
// Functions of the C library that the runtime itself wraps.
#ifndef ORDEAL_RUNTIME_HOOKS_H
#define ORDEAL_RUNTIME_HOOKS_H

struct hook {
    const char *name;
    void *replacement;
    void **real;
};

void hook_prepare(void);
const struct hook *hook_find(const char *name);
void *hook_real(void **real, const char *name); // what a hook stands for

#endif
