// Becomes the user 65534 and reads 64 bytes of /dev/zero. "exec": it runs itself again as that
// user, which reads. "close": likewise, and it closes all descriptors after it has changed user.
// "early": before. "shell": by way of system().
#include "victim.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>

static void read_once(void)
{
    char data[64];
    int file = open("/dev/zero", O_RDONLY);
    errno = 0;
    ssize_t size = read(file, data, sizeof data);
    int code = errno;
    say("read as %d: %zd errno %d\n", (int)geteuid(), size, code);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    if (strcmp(how, "read") == 0) {
        read_once();
        return 0;
    }
    if (strcmp(how, "early") == 0)
        close_range(3, ~0u, 0);
    if (setgroups(0, NULL) != 0 || setresgid(65534, 65534, 65534) != 0 ||
        setresuid(65534, 65534, 65534) != 0)
        return 99;
    if (strcmp(how, "close") == 0)
        close_range(3, ~0u, 0);
    if (strcmp(how, "shell") == 0) {
        char command[4096];
        snprintf(command, sizeof command, "'%s' read; :", argv[0]);
        return system(command);
    }
    if (*how != '\0') {
        execl(argv[0], argv[0], "read", NULL);
        return 99;
    }
    read_once();
    return 0;
}
