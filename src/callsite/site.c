// SPDX-License-Identifier: GPL-3.0-or-later
// Releases sites, and names their classes and uses.
#include "callsite/site.h"

void sites_deinit(struct sites *sites)
{
    ARRAY_DEINIT(&sites->callees);
    ARRAY_DEINIT(&sites->items);
    ARRAY_DEINIT(&sites->failing);
}

const char *site_class_name(enum site_class class)
{
    static const char *const names[] = {"unchecked", "partly", "checked", "unknown"};
    return names[class];
}

const char *site_use_name(enum site_use use)
{
    static const char *const names[] = {"ignored",   "checked first",   "dereferenced",
                                        "passed on", "returned",        "stored in a global",
                                        "stored",    "calculated with", "compared"};
    return names[use];
}
