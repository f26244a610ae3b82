// SPDX-License-Identifier: GPL-3.0-or-later
// One block is filled at a time and written when it is full: memory stays the same however long the
// program runs, and a pipe that is full makes the program wait.
#include "interface/tool/tool.h"

#include <pub_tool_libcbase.h>
#include <pub_tool_libcfile.h>
#include <pub_tool_libcprint.h>
#include <pub_tool_libcproc.h>
#include <pub_tool_vki.h>

// In the core's library but not in its public headers: a number that the program cannot close.
extern Int VG_(safe_fd)(Int oldfd);

static Int descriptor = -1;
static UInt sequence;
static UInt used = sizeof(struct interface_block);
static UChar data[INTERFACE_BLOCK_SIZE];
static Addr last_code, last_address;
static ThreadId last_thread; // none: the first event names its thread

void writer_open(const HChar *path)
{
    descriptor = VG_(fd_open)(path, VKI_O_WRONLY | VKI_O_CREAT | VKI_O_APPEND, 0600);
    if (descriptor < 0)
        VG_(fmsg_bad_option)(path, "the trace cannot be opened\n");
    descriptor = VG_(safe_fd)(descriptor);
}

static Bool write_all(const UChar *bytes, UInt size)
{
    while (size > 0) {
        Int written = VG_(write)(descriptor, bytes, size);
        if (written == -VKI_EINTR)
            continue;
        if (written <= 0)
            return False;
        bytes += written;
        size -= written;
    }
    return True;
}

void writer_flush(void)
{
    if (descriptor < 0)
        used = sizeof(struct interface_block); // nobody reads what is written
    if (used == sizeof(struct interface_block))
        return;
    struct interface_block head = {.magic = INTERFACE_BLOCK_MAGIC,
                                   .process = VG_(getpid)(),
                                   .sequence = sequence++,
                                   .size = used,
                                   .kind = INTERFACE_BLOCK_EVENTS};
    VG_(memcpy)(data, &head, sizeof head);
    if (!write_all(data, used))
        writer_stop();
    used = sizeof head;
    last_code = last_address = 0;
}

void writer_stop(void)
{
    if (descriptor >= 0)
        VG_(close)(descriptor);
    descriptor = -1;
    used = sizeof(struct interface_block);
}

void writer_number(ULong number)
{
    do {
        data[used++] = (number & 0x7f) | (number > 0x7f ? 0x80 : 0);
        number >>= 7;
    } while (number != 0);
}

static void signed_number(Long number)
{
    writer_number((ULong)number << 1 ^ (ULong)(number >> 63));
}

void writer_code(Addr code)
{
    signed_number((Long)(code - last_code));
    last_code = code;
}

void writer_data(Addr address)
{
    signed_number((Long)(address - last_address));
    last_address = address;
}

void writer_bytes(const void *bytes, SizeT size)
{
    VG_(memcpy)(data + used, bytes, size);
    used += size;
}

void writer_event(enum interface_event event, ThreadId thread, UInt most)
{
    if (used + most + 16 > sizeof data)
        writer_flush();
    if (thread != last_thread) {
        last_thread = thread;
        data[used++] = INTERFACE_THREAD;
        writer_number(thread);
    }
    data[used++] = event;
}
