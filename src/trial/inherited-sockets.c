// SPDX-License-Identifier: GPL-3.0-or-later
// Notes in the region which sockets the command inherits. The runtime must not shut those down when
// it injects a lost connection, since other processes use them, too.
#include "trial/inherited-sockets.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool loses_connections(const struct wire_region *region)
{
    const char *plan = (const char *)region + region->plan;
    const struct wire_span span = ((const struct wire_plan *)(const void *)plan)->rules;
    const struct wire_rule *rules = (const void *)(plan + span.offset);
    for (uint32_t i = 0; i < span.count; i++)
        if (rules[i].error == ECONNRESET || rules[i].error == EPIPE || rules[i].error == ETIMEDOUT)
            return true;
    return false;
}

static void note(struct wire_region *region, int descriptor)
{
    struct stat facts;
    int flags = fcntl(descriptor, F_GETFD);
    if (descriptor <= STDERR_FILENO || flags < 0 || (flags & FD_CLOEXEC) != 0 ||
        fstat(descriptor, &facts) < 0 || !S_ISSOCK(facts.st_mode))
        return;
    for (uint32_t i = 0; i < region->inherited_socket_count && i < WIRE_INHERITED_SOCKETS; i++)
        if (region->inherited_sockets[i] == facts.st_ino)
            return; // the same one under another number
    if (region->inherited_socket_count < WIRE_INHERITED_SOCKETS)
        region->inherited_sockets[region->inherited_socket_count] = facts.st_ino;
    region->inherited_socket_count++;
}

void inherited_sockets_note(struct wire_region *region)
{
    if (!loses_connections(region))
        return;
    DIR *descriptors = opendir("/proc/self/fd");
    region->inherited_socket_count = descriptors != NULL ? 0 : WIRE_INHERITED_SOCKETS + 1;
    if (descriptors == NULL)
        return;
    for (const struct dirent *entry; (entry = readdir(descriptors)) != NULL;)
        note(region, atoi(entry->d_name)); // "." and ".." give 0, which note() ignores
    closedir(descriptors);
}
