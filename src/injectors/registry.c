// SPDX-License-Identifier: GPL-3.0-or-later
// The injectors there are, in the order in which they are listed. meson.build has their names: for
// each, a folder here has the descriptor `injector_NAME`.
#include "injector/injector.h"

#define INJECTOR(name) extern const struct injector injector_##name;
#include "injectors/list.h"
#undef INJECTOR

#define INJECTOR(name) &injector_##name,
const struct injector *const injectors[] = {
#include "injectors/list.h"
    NULL,
};
