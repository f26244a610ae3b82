// SPDX-License-Identifier: GPL-3.0-or-later
// The descriptors of all injectors.
#ifndef ORDEAL_CAMPAIGN_INJECTORS_H
#define ORDEAL_CAMPAIGN_INJECTORS_H

#include "campaign/injector.h"

extern const struct injector injector_ir, injector_library, injector_signal;

#endif
