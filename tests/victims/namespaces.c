// Loads ./libplug.so into a link-map namespace of its own, with a libc of its own.
#include "victim.h"

#include <dlfcn.h>

int main(void)
{
    void *plug = dlmopen(LM_ID_NEWLM, "./libplug.so", RTLD_NOW);
    if (plug == NULL) {
        say("dlmopen: %s\n", dlerror());
        return 1;
    }
    int (*plug_read)(void) = (int (*)(void))dlsym(plug, "plug_read");
    int result = plug_read != NULL ? plug_read() : -99;
    say("read %s\n", result == 8 || result == -5 ? "sane" : "odd");
    dlclose(plug);
    char data[1];
    say("own read %zd\n", read(-1, data, 1));
    return 0;
}
