// SPDX-License-Identifier: GPL-3.0-or-later
// Parses a list of errno names, the value of --exclude-errno.
#include "cli/analysis/error-list.h"

#include "scenario/tables.h"

#include <string.h>

struct error *error_list_parse(const char *list, struct error_set *numbers)
{
    for (const char *at = list; *at != '\0';) {
        size_t size = strcspn(at, ", ");
        const struct constant *constant = constant_find(at, size);
        if (size != 0 && (constant == NULL || constant->kind != CONSTANT_ERRNO))
            return error_new("--exclude-errno: '%.*s' is no error number; give names such as "
                             "ENOSYS, with commas between them",
                             (int)size, at);
        if (size != 0)
            error_set_add(numbers, (unsigned)constant->value);
        at += size;
        at += strspn(at, ", ");
    }
    return NULL;
}
