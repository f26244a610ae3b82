// Leaves an intercepted function by longjmp, again and again.
#include "victim.h"

#include <setjmp.h>
#include <stdlib.h>

static jmp_buf place;
static int comparisons;

static int compare(const void *a, const void *b)
{
    (void)a, (void)b;
    comparisons++;
    longjmp(place, 1);
}

int main(void)
{
    int jumped = 0, returned = 0;
    for (volatile int i = 0; i < 20000; i++) {
        int values[] = {3, 1, 2};
        if (setjmp(place) == 0) {
            qsort(values, 3, sizeof values[0], compare);
            returned++;
        } else {
            jumped++;
        }
    }
    say("jumped %d returned %d comparisons %d\n", jumped, returned, comparisons);
    return 0;
}
