// SPDX-License-Identifier: GPL-3.0-or-later
// Memory of traced tasks.
#include "observe/tracer.h"

#include <string.h>
#include <sys/uio.h>

#define PAGE 4096u

size_t tracer_read(const struct tracer_task *task, uint64_t address, void *bytes, size_t size)
{
    size_t done = 0;
    while (done < size) {
        struct iovec local = {(char *)bytes + done, size - done};
        struct iovec remote = {(void *)(uintptr_t)(address + done), size - done};
        ssize_t now = process_vm_readv(task->tid, &local, 1, &remote, 1, 0);
        if (now <= 0)
            break;
        done += (size_t)now;
    }
    return done;
}

bool tracer_write(const struct tracer_task *task, uint64_t address, const void *bytes, size_t size)
{
    struct iovec local = {(void *)(uintptr_t)bytes, size};
    struct iovec remote = {(void *)(uintptr_t)address, size};
    return process_vm_writev(task->tid, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

// Page by page: the page behind the text may not be there.
bool tracer_read_text(const struct tracer_task *task, uint64_t address, char *text, size_t size)
{
    size_t done = 0;
    while (done + 1 < size) {
        size_t step = PAGE - (address + done) % PAGE;
        if (step > size - 1 - done)
            step = size - 1 - done;
        if (tracer_read(task, address + done, text + done, step) != step)
            return false;
        if (memchr(text + done, '\0', step) != NULL)
            return true;
        done += step;
    }
    text[done] = '\0';
    return true;
}
