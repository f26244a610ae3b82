// A plug-in: opens and reads when it is loaded (in its constructor) and when it is called.
#include "victim.h"

#include <errno.h>
#include <fcntl.h>

int plug_read(void);
int plug_open(void);

static int constructed;

int plug_open(void)
{
    int file = open("/dev/zero", O_RDONLY);
    if (file >= 0)
        close(file);
    return file >= 0 ? 0 : errno;
}
int plug_read(void)
{
    char data[8];
    int file = open("/dev/zero", O_RDONLY);
    ssize_t size = read(file, data, sizeof data);
    int code = errno;
    close(file);
    return size >= 0 ? (int)size : -code;
}
__attribute__((constructor)) static void construct(void)
{
    constructed = plug_open();
    say("constructor: open %d\n", constructed);
}
__attribute__((destructor)) static void destruct(void)
{
    say("destructor: open %d\n", plug_open());
}
