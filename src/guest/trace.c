// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the log of `-d in_asm`. A line of it is "0xffffffff81000000:  0f 01 d0   xgetbv", or
// without a disassembler "OBJD-T: 0f01d0" below "IN:", which tells no address.
#include "guest/trace.h"

#include "base/cleanup.h"

#include <errno.h>
#include <string.h>

struct error *guest_trace_read(const char *path, guest_trace_take *take, void *data)
{
    _cleanup_fclose_ FILE *file = fopen(path, "re");
    _cleanup_free_ char *line = NULL;
    size_t room = 0;
    uint64_t next = 0;
    bool lines = false;
    if (file == NULL)
        return error_from_errno(errno, "cannot read %s", path);
    for (ssize_t size; (size = getline(&line, &room, file)) > 0;) {
        uint64_t at = next;
        char *end;
        next += (uint64_t)size;
        if (strncmp(line, "0x", 2) != 0)
            continue;
        errno = 0;
        unsigned long long address = strtoull(line + 2, &end, 16);
        if (end == line + 2 || *end != ':' || errno != 0)
            continue;
        lines = true;
        take(data, address, at);
    }
    if (ferror(file))
        return error_from_errno(errno, "cannot read %s", path);
    return lines ? NULL
                 : error_new("QEMU's log of executed code, %s, has no addresses; this QEMU cannot "
                             "tell what a guest executes",
                             path);
}
