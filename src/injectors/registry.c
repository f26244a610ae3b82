// SPDX-License-Identifier: GPL-3.0-or-later
// The table of all injectors, in the order of listings. meson.build has their names; the folder of
// each one defines the descriptor `injector_NAME`.
#include "injector/injector.h"

#define INJECTOR(name) extern const struct injector injector_##name;
#include "injectors/list.h"
#undef INJECTOR

#define INJECTOR(name) &injector_##name,
const struct injector *const injectors[] = {
#include "injectors/list.h"
    NULL,
};
