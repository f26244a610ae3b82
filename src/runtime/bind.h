// SPDX-License-Identifier: GPL-3.0-or-later
// Pointing the imports of modules at stubs.
#ifndef ORDEAL_RUNTIME_BIND_H
#define ORDEAL_RUNTIME_BIND_H

#include <stdbool.h>

struct module;

void bind_module(struct module *module);
void bind_report_unresolved(void);
// References without a type (to a library the module was not linked with) may lead to data.
bool bind_is_code(const void *address);

#endif
