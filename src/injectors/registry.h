// SPDX-License-Identifier: GPL-3.0-or-later
// The descriptors of all injectors.
#ifndef ORDEAL_INJECTORS_REGISTRY_H
#define ORDEAL_INJECTORS_REGISTRY_H

#include "injector/injector.h"

extern const struct injector injector_ir, injector_library, injector_signal;

#endif
