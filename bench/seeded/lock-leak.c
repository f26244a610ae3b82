// SPDX-License-Identifier: GPL-3.0-or-later
// A way out of a critical section that does not leave it.
// flags: -pthread
#include "common.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *entries[4];

static int add(int at, const char *text)
{
    pthread_mutex_lock(&lock);
    char *copy = strdup(text); // SEEDED
    if (copy == NULL) {
#ifdef CORRECT
        pthread_mutex_unlock(&lock);
#endif
        return -1;
    }
    entries[at] = copy;
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void)
{
    int failed = 0;
    for (int i = 0; i < 4; i++)
        failed |= add(i, "an entry of some length");
    check(!failed, "memory");
    puts(entries[3]);
    return finish();
}
