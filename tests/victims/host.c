// Loads ./libplug.so TIMES times, calls it, unloads it.
#include "victim.h"

#include <dlfcn.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int times = argc > 1 ? atoi(argv[1]) : 1;
    for (int i = 1; i <= times; i++) {
        void *plug = dlopen("./libplug.so", i % 2 ? RTLD_NOW : RTLD_LAZY);
        if (plug == NULL) {
            say("%d: dlopen: %s\n", i, dlerror());
            continue;
        }
        int (*plug_read)(void) = (int (*)(void))dlsym(plug, "plug_read");
        say("%d: read %d\n", i, plug_read ? plug_read() : -99);
        dlclose(plug);
    }
    return 0;
}
