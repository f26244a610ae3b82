// Makes calls where a program ends: thread-specific destructors, atexit handlers, destructors.
// flags: -pthread
#include "victim.h"

#include <pthread.h>
#include <stdlib.h>

static pthread_key_t key;

static void call(const char *where)
{
    say("%s %s\n", where, getppid() == -5 ? "failed" : "worked");
}
static void key_destructor(void *unused)
{
    (void)unused;
    call("key");
}
static void at_exit(void)
{
    call("atexit");
}
__attribute__((destructor)) static void destruct(void)
{
    call("destructor");
}
static void *run(void *unused)
{
    pthread_setspecific(key, &key);
    return unused;
}

int main(void)
{
    atexit(at_exit);
    pthread_key_create(&key, key_destructor);
    pthread_t thread;
    pthread_create(&thread, NULL, run, NULL);
    pthread_join(thread, NULL);
    call("main");
    return 0;
}
