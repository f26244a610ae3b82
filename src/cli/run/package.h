// SPDX-License-Identifier: GPL-3.0-or-later
// Which package of the system a file belongs to.
#ifndef ORDEAL_CLI_RUN_PACKAGE_H
#define ORDEAL_CLI_RUN_PACKAGE_H

#include "base/error.h"

struct package {
    char *name, *version; // NULL: of none that is known
};
// Asks dpkg. Not to know it is no error: there may be no dpkg here.
_must_check_ struct error *package_find(const char *path, struct package *ret_package);
void package_deinit(struct package *package);

#endif
