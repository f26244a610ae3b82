// Calls read and getppid through pointers from dlsym: default, next, by handle, by version.
#include "victim.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>

typedef ssize_t reading(int, void *, size_t);

static void try(const char *how, void *pointer)
{
    char data[4];
    int file = open("/dev/zero", O_RDONLY);
    errno = 0;
    ssize_t size = pointer != NULL ? ((reading *)pointer)(file, data, 4) : -99;
    int code = errno;
    say("%s: %zd errno %d %s\n", how, size, code, pointer == (void *)read ? "same" : "different");
    close(file);
}

int main(void)
{
    void *libc = dlopen("libc.so.6", RTLD_NOW);
    void *self = dlopen(NULL, RTLD_NOW);
    try("direct", (void *)read);
    try("default", dlsym(RTLD_DEFAULT, "read"));
    try("next", dlsym(RTLD_NEXT, "read"));
    try("handle", dlsym(libc, "read"));
    try("self", dlsym(self, "read"));
    try("versioned", dlvsym(RTLD_DEFAULT, "read", "GLIBC_2.2.5"));
    void *missing = dlsym(RTLD_DEFAULT, "no_such_function");
    say("missing: %d %d\n", missing == NULL, dlerror() != NULL);
    return 0;
}
