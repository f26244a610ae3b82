// SPDX-License-Identifier: GPL-3.0-or-later
// What is torn down must have been set up: not so when setting up fails half way.
#include "common.h"

#include <assert.h>
#include <stdbool.h>

static struct {
    bool ready;
    void *first, *second;
} state;

static void destroy(void)
{
#ifndef CORRECT
    assert(state.ready);
#endif
    free(state.first);
    free(state.second);
    state.ready = false;
}

static int create(void)
{
    state.first = malloc(1000); // SEEDED
    if (state.first == NULL)
        goto fail;
    state.second = malloc(2000); // SEEDED
    if (state.second == NULL)
        goto fail;
    state.ready = true;
    return 0;
fail:
    destroy();
    return -1;
}

int main(void)
{
    check(create() == 0, "memory");
    destroy();
    puts("created and destroyed");
    return finish();
}
