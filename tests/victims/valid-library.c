// SPDX-License-Identifier: GPL-3.0-or-later
// A library whose results are asked about by a function of its own.
#include <stdlib.h>

struct thing {
    int number;
};

struct thing *thing_new(int number)
{
    struct thing *thing = malloc(sizeof *thing);
    if (thing == NULL)
        return NULL;
    thing->number = number;
    return thing;
}

int thing_is_valid(const struct thing *thing)
{
    return thing != NULL && thing->number != 0;
}

int thing_number(const struct thing *thing)
{
    return thing->number;
}
