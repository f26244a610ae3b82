// SPDX-License-Identifier: GPL-3.0-or-later
// Pointers in memory of the program that arguments lead to. The program's own stores are not
// recorded, so without these nobody could say on which way a parameter leads to an area.
#include "interface/tool/tool.h"

#include <pub_tool_aspacemgr.h>
#include <pub_tool_libcbase.h>
#include <pub_tool_mallocfree.h>
#include <pub_tool_vki.h>

enum {
    WORDS = 32,      // behind one argument
    KNOWN = 1 << 14, // a power of two
};
struct known {
    Addr address;
    ULong value;
};
static struct known *known; // by address, the last one of its place

void pointers_init(void)
{
    known = VG_(calloc)("ordeal.pointers", KNOWN, sizeof *known);
}

static Bool is_memory(Addr address)
{
    return address >= VKI_PAGE_SIZE && VG_(am_is_valid_for_client)(address, 1, VKI_PROT_READ);
}

static void look_at(ThreadId thread, Addr address)
{
    ULong value = *(const ULong *)address;
    struct known *place = &known[address / sizeof(ULong) % KNOWN];
    if (place->address == address && place->value == value)
        return;
    Bool was_pointer = place->address == address && is_memory(place->value);
    *place = (struct known){address, value};
    if (!was_pointer && !is_memory(value))
        return;
    writer_event(INTERFACE_POINTER, thread, 20);
    writer_number(address);
    writer_number(value);
}

void pointers_record(ThreadId thread, const ULong *arguments, UInt count)
{
    for (UInt i = 0; i < count; i++) {
        Addr start = (arguments[i] + 7) & ~(Addr)7;
        if (!is_memory(start))
            continue;
        // What is readable of the page, or of WORDS words.
        Addr end = VG_PGROUNDUP(start + 1);
        end = end - start > WORDS * sizeof(ULong) ? start + WORDS * sizeof(ULong) : end;
        for (Addr address = start; address < end; address += sizeof(ULong))
            look_at(thread, address);
    }
}
