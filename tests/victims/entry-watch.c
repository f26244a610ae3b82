// One thread calls exec in vain, another one reads the entry that the runtime adds to the
// environment meanwhile, as a program would that is just being started. Says whether it ever
// changes. flags: -pthread
#include "victim.h"

#include <pthread.h>
#include <string.h>

#define NAME "ORDEAL_REGION="

static char *empty[] = {NULL}; // so that the entry has to be added
static volatile int done;

static void try_in_vain(void)
{
    char *arguments[] = {"./no-such-program", NULL};
    execve(arguments[0], arguments, empty);
}

static void *try_often(void *data)
{
    for (int i = 0; i < 40000; i++)
        try_in_vain();
    done = 1;
    return data;
}

// Looks for the entry in memory that the runtime writes to: its own, and what is behind it.
static const volatile char *find_entry(void)
{
    char line[5000];
    unsigned long first, end, before = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        if (sscanf(line, "%lx-%lx rw", &first, &end) != 2 || strstr(line, " rw") == NULL)
            continue;
        if (strstr(line, "ordeal-runtime.so") == NULL && first != before)
            continue;
        before = end;
        const char *found = memmem((char *)first, end - first, NAME "/", sizeof NAME);
        if (found != NULL)
            return found;
    }
    return NULL;
}

int main(void)
{
    pthread_t thread;
    unsigned long changes = 0, looks = 0;
    try_in_vain();
    const volatile char *entry = find_entry();
    if (entry == NULL)
        return 2;
    pthread_create(&thread, NULL, try_often, NULL);
    for (; !done; looks++)
        changes += entry[sizeof NAME - 1] != '/';
    pthread_join(thread, NULL);
    say("%s\n", changes == 0 ? "it stays" : "it changes");
    return looks == 0;
}
