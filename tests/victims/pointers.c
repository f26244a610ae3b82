// The address of a function is one, wherever it is taken; calls through static data are calls.
#include "victim.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>

void *library_read(void);
void *library_table(void);

typedef ssize_t reading(int, void *, size_t);
static reading *variable = read;
static reading *const constant = read;
static struct operations {
    const char *name;
    reading *call;
} operations[] = {{"first", read}, {"second", read}};

int main(void)
{
    say("equal %d %d %d %d %d %d\n", (void *)read == library_read(), variable == constant,
        (void *)variable == library_table(), (void *)read == dlsym(RTLD_DEFAULT, "read"),
        operations[1].call == variable, (void *)variable == (void *)read);
    char data[4];
    int file = open("/dev/zero", O_RDONLY);
    reading *volatile pointers[] = {read,
                                    variable,
                                    constant,
                                    operations[0].call,
                                    (reading *)library_read(),
                                    (reading *)library_table()};
    for (int i = 0; i < 6; i++) {
        errno = 0;
        ssize_t size = pointers[i](file, data, 4);
        say("call %d: %zd errno %d\n", i + 1, size, errno);
    }
    return 0;
}
