// Calls answer() as linked, and as dlsym and dlvsym find it.
#include "victim.h"

#include <dlfcn.h>

int answer(void);

int main(void)
{
    int (*newest)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "answer");
    int (*oldest)(void) = (int (*)(void))dlvsym(RTLD_DEFAULT, "answer", "OLD_1");
    int (*second)(void) = (int (*)(void))dlvsym(RTLD_DEFAULT, "answer", "NEW_2");
    for (int i = 0; i < 4; i++)
        say("linked %d dlsym %d dlvsym %d %d\n", answer(), newest ? newest() : -1,
            oldest ? oldest() : -1, second ? second() : -1);
    return 0;
}
