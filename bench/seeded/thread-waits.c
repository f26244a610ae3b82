// SPDX-License-Identifier: GPL-3.0-or-later
// Waits until as many threads have reported as it believes it has started.
// flags: -pthread
#include "common.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int reported;

static void *work(void *argument)
{
    pthread_mutex_lock(&lock);
    reported++;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return argument;
}

int main(void)
{
    pthread_t others[3];
    for (int i = 0; i < 3; i++) {
        errno = pthread_create(&others[i], NULL, work, NULL); // SEEDED
        CHECK(errno == 0, "thread");
    }
    pthread_mutex_lock(&lock);
    while (reported < 3)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 3; i++)
        pthread_join(others[i], NULL);
    puts("all have reported");
    return finish();
}
