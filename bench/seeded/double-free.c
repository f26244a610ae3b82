// SPDX-License-Identifier: GPL-3.0-or-later
// The callee cleans up, and so does the caller.
#include "common.h"

struct table {
    char *keys, *values;
};

static int fill(struct table *table)
{
    table->keys = malloc(100);
    if (table->keys == NULL)
        return -1;
    table->values = malloc(200); // SEEDED
    if (table->values == NULL) {
        free(table->keys);
#ifdef CORRECT
        table->keys = NULL;
#endif
        return -1;
    }
    return 0;
}

int main(void)
{
    struct table table = {NULL, NULL};
    int failed = fill(&table);
    free(table.keys);
    free(table.values);
    check(!failed, "memory");
    puts("filled");
    return finish();
}
