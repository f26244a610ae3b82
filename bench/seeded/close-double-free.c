// SPDX-License-Identifier: GPL-3.0-or-later
// A close that fails leads into a way out that frees what was freed already.
#include "common.h"

#include <fcntl.h>
#include <unistd.h>

static int save(const char *path)
{
    int result = -1;
    char *line = strdup("a line that is kept\n");
    check(line != NULL, "memory");
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd < 0)
        goto out;
    if (write(fd, line, strlen(line)) != (ssize_t)strlen(line)) {
        close(fd);
        goto out;
    }
    free(line);
#ifdef CORRECT
    line = NULL;
#endif
    if (close(fd) != 0) // SEEDED
        goto out;
    return 0;
out:
    free(line);
    return result;
}

int main(void)
{
    check(save("saved") == 0, "saved");
    return finish();
}
