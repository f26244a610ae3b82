// Uses the most basic functions from its constructor and as the first thing in main.
// flags: -pthread -ldl
#include "victim.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void *run(void *value)
{
    return value;
}

// One letter per function: lower case if it worked.
static void use(const char *where)
{
    char text[32], data[4];
    int n = 0;
    void *memory = malloc(10);
    text[n++] = memory != NULL ? 'm' : 'M';
    free(memory);
    memory = calloc(1, 10);
    text[n++] = memory != NULL ? 'c' : 'C';
    memory = realloc(memory, 20);
    text[n++] = memory != NULL ? 'r' : 'R';
    free(memory);
    memory = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    text[n++] = memory != MAP_FAILED ? 'p' : 'P';
    if (memory != MAP_FAILED)
        munmap(memory, 4096);
    int file = open("/dev/zero", O_RDONLY);
    text[n++] = file >= 0 ? 'o' : 'O';
    text[n++] = read(file, data, 4) == 4 ? 'd' : 'D';
    close(file);
    pthread_t thread;
    int created = pthread_create(&thread, NULL, run, NULL) == 0;
    text[n++] = created ? 't' : 'T';
    if (created)
        pthread_join(thread, NULL);
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    int locked = pthread_mutex_lock(&mutex) == 0;
    text[n++] = locked ? 'x' : 'X';
    if (locked)
        pthread_mutex_unlock(&mutex);
    void *library = dlopen("libm.so.6", RTLD_NOW);
    text[n++] = library != NULL ? 'l' : 'L';
    text[n++] = library != NULL && dlsym(library, "sqrt") != NULL ? 's' : 'S';
    if (library != NULL)
        dlclose(library);
    text[n] = '\0';
    say("%s %s\n", where, text);
}

__attribute__((constructor)) static void construct(void)
{
    use("constructor");
}

int main(void)
{
    use("main");
    return 0;
}
