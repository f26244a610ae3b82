// SPDX-License-Identifier: GPL-3.0-or-later
// Everybody has a name.
#include "common.h"

#include <pwd.h>
#include <unistd.h>

int main(void)
{
    struct passwd *entry = getpwuid(getuid()); // SEEDED
    CHECK(entry != NULL, "user");
    printf("%zu letters\n", strlen(entry->pw_name));
    return finish();
}
