// SPDX-License-Identifier: GPL-3.0-or-later
// malloc() and its relatives: Valgrind's own allocator, and an event for each call.
#include "interface/tool/tool.h"

#include <pub_tool_libcbase.h>
#include <pub_tool_replacemalloc.h>
#include <pub_tool_threadstate.h>

static void *allocate(ThreadId thread, SizeT size, SizeT alignment, Addr replaced)
{
    if ((SSizeT)size < 0)
        return NULL;
    context_select(thread);
    void *block = VG_(cli_malloc)(alignment, size);
    if (block == NULL)
        return NULL;
    UInt stack = modules_stack(thread);
    writer_event(INTERFACE_ALLOCATE, thread, 40);
    writer_number((Addr)block);
    writer_number(size);
    writer_number(stack);
    writer_number(replaced);
    return block;
}

static void release(ThreadId thread, void *block)
{
    if (block == NULL)
        return;
    context_select(thread);
    writer_event(INTERFACE_FREE, thread, 10);
    writer_number((Addr)block);
    VG_(cli_free)(block);
}

static void *take(ThreadId thread, SizeT size)
{
    return allocate(thread, size, VG_(clo_alignment), 0);
}

static void *take_aligned(ThreadId thread, SizeT size, SizeT alignment)
{
    return allocate(thread, size, alignment, 0);
}

static void *take_memalign(ThreadId thread, SizeT alignment, SizeT size)
{
    return allocate(thread, size, alignment, 0);
}

static void *take_zeroed(ThreadId thread, SizeT count, SizeT size)
{
    SizeT all;
    if (__builtin_mul_overflow(count, size, &all))
        return NULL;
    void *block = allocate(thread, all, VG_(clo_alignment), 0);
    if (block != NULL)
        VG_(memset)(block, 0, all);
    return block;
}

static void release_aligned(ThreadId thread, void *block, SizeT alignment)
{
    release(thread, block);
}

static void *take_more(ThreadId thread, void *old, SizeT size)
{
    if (old == NULL)
        return take(thread, size);
    if (size == 0) {
        release(thread, old);
        return NULL;
    }
    void *block = allocate(thread, size, VG_(clo_alignment), (Addr)old);
    if (block == NULL)
        return NULL;
    SizeT before = VG_(cli_malloc_usable_size)(old);
    VG_(memcpy)(block, old, before < size ? before : size);
    release(thread, old);
    return block;
}

static SizeT usable_size(ThreadId thread, void *block)
{
    return block == NULL ? 0 : VG_(cli_malloc_usable_size)(block);
}

void heap_init(void)
{
    VG_(needs_malloc_replacement)
    (take, take, take_aligned, take, take_aligned, take_memalign, take_zeroed, release, release,
     release_aligned, release, release_aligned, take_more, usable_size, 0);
}
