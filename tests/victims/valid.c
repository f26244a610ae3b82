// SPDX-License-Identifier: GPL-3.0-or-later
// Asks a function of a library whether a result is valid, and calls what cannot fail.
#include <stdio.h>
#include <sys/time.h>
#include <time.h>

struct thing;
struct thing *thing_new(int number);
int thing_is_valid(const struct thing *thing);
int thing_number(const struct thing *thing);

int main(int argc, char **argv)
{
    struct thing *asked = thing_new(argc);
    if (!thing_is_valid(asked))
        return 1;
    printf("%d\n", thing_number(asked));
    printf("%d\n", thing_number(thing_new(argc + 1)));
    struct timeval now;
    gettimeofday(&now, NULL);
    printf("%ld %ld\n", (long)time(NULL), (long)now.tv_sec);
    return 0;
}
