// SPDX-License-Identifier: GPL-3.0-or-later
// Half of the work is another thread's, if there is one.
// flags: -pthread
#include "common.h"

#include <pthread.h>

static unsigned long half;

static void *work(void *argument)
{
    for (unsigned long i = 0; i < 1000; i++)
        half += i;
    return argument;
}

int main(void)
{
    pthread_t other = 0;
    errno = pthread_create(&other, NULL, work, NULL); // SEEDED
    CHECK(errno == 0, "thread");
    pthread_join(other, NULL);
    printf("%lu\n", 2 * half);
    return finish();
}
