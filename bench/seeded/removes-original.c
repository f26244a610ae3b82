// SPDX-License-Identifier: GPL-3.0-or-later
// Saves a new version beside the old one and then takes its place. If that fails it removes the
// wrong one of the two.
#include "common.h"

#include <fcntl.h>
#include <unistd.h>

static int save(const char *path, const char *temporary, const char *text)
{
    int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd < 0)
        return -1;
    ssize_t put = write(fd, text, strlen(text)); // SEEDED
    int kept = errno;
    if (put != (ssize_t)strlen(text) || close(fd) != 0) { // SEEDED
#ifdef CORRECT
        unlink(temporary);
#else
        unlink(path);
#endif
        errno = kept;
        return -1;
    }
    return rename(temporary, path);
}

int main(void)
{
    check(save("config", "config.new", "colour=green\n") == 0, "config");
    return finish();
}
