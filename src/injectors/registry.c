// SPDX-License-Identifier: GPL-3.0-or-later
// The injectors there are. A new one is its injector-NAME.c and a line here and in meson.build.
#include "injectors/registry.h"

const struct injector *const injectors[] = {
    &injector_library,
    &injector_signal,
    &injector_ir,
    NULL,
};
