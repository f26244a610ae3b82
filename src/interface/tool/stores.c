// SPDX-License-Identifier: GPL-3.0-or-later
// Stores, after they were made: by instrumented code, and by the kernel in system calls.
#include "interface/tool/tool.h"

#include <pub_tool_libcbase.h>
#include <pub_tool_machine.h>
#include <pub_tool_threadstate.h>

void stores_record(HWord code, HWord address, HWord size)
{
    if (context_in_outer_frames(address))
        return;
    writer_event(INTERFACE_STORE, VG_(get_running_tid)(), 22 + size);
    writer_code(code);
    writer_data(address);
    writer_number(size);
    writer_bytes((const void *)address, size);
}

// In words, as a function of the library would write them.
static void written_by_kernel(CorePart part, ThreadId thread, Addr address, SizeT size)
{
    if (part != Vg_CoreSysCall)
        return;
    virtual_written(thread, address, size);
    context_select(thread);
    Addr lowest = VG_(get_SP)(thread) - VG_STACK_REDZONE_SZB;
    if (!context_inside || (address >= lowest && address < context_entry))
        return;
    while (size > 0) {
        SizeT part_size = sizeof(Addr) - address % sizeof(Addr);
        part_size = part_size < size ? part_size : size;
        stores_record(context_lib_code, address, part_size);
        address += part_size;
        size -= part_size;
    }
}

void stores_init(void)
{
    VG_(track_post_mem_write)(written_by_kernel);
}
