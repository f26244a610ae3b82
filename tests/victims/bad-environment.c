// SPDX-License-Identifier: GPL-3.0-or-later
// Calls execve() with environments that cannot be read, and says what the kernel says.
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
    char *const command[] = {"true", NULL};
    char *const entries[] = {(char *)1, NULL};
    execve("/bin/true", command, (char *const *)8);
    printf("array: %s\n", strerrorname_np(errno));
    execve("/bin/true", command, entries);
    printf("entry: %s\n", strerrorname_np(errno));
    return 0;
}
