// SPDX-License-Identifier: GPL-3.0-or-later
// Which mappings there are, and whose code is in them. The program is the file that was started,
// and what --program names; a library is what --library names; all else helps who calls it.
#include "interface/tool/tool.h"

#include <pub_tool_aspacemgr.h>
#include <pub_tool_execontext.h>
#include <pub_tool_libcassert.h>
#include <pub_tool_libcbase.h>
#include <pub_tool_libcfile.h>
#include <pub_tool_mallocfree.h>
#include <pub_tool_stacktrace.h>
#include <pub_tool_threadstate.h>

struct code {
    Addr start, end;
    enum interface_role role;
};
static struct code *codes; // not sorted: there are few, and each block is looked up once
static UInt code_count, code_room;
enum { NAME_LIMIT = 32 };
static const HChar *libraries[NAME_LIMIT], *programs[NAME_LIMIT];
static UInt library_count, program_count;
static HChar *started; // the path of the program's file
static UChar *stacks_known;
static UInt stacks_room;

static Bool add_name(const HChar *argument, const HChar *option, const HChar **names, UInt *count)
{
    SizeT size = VG_(strlen)(option);
    if (VG_(strncmp)(argument, option, size) != 0 || *count == NAME_LIMIT)
        return False;
    names[(*count)++] = VG_(strdup)("ordeal.name", argument + size);
    return True;
}

Bool modules_option(const HChar *argument)
{
    return add_name(argument, "--library=", libraries, &library_count) ||
           add_name(argument, "--program=", programs, &program_count);
}

Bool modules_any_library(void)
{
    return library_count > 0;
}

// "libz" means libz.so.1.2.13 and libz-2.so, and a name with a slash one file.
static Bool matches(const HChar *path, const HChar *const *names, UInt count)
{
    const HChar *base = VG_(basename)(path);
    for (UInt i = 0; i < count; i++) {
        if (VG_(strchr)(names[i], '/') != NULL) {
            if (VG_(strcmp)(names[i], path) == 0)
                return True;
            continue;
        }
        SizeT size = VG_(strlen)(names[i]);
        if (VG_(strncmp)(base, names[i], size) == 0 &&
            (base[size] == '\0' || base[size] == '.' || base[size] == '-'))
            return True;
    }
    return False;
}

static Bool begins(const HChar *text, const HChar *with)
{
    return VG_(strncmp)(text, with, VG_(strlen)(with)) == 0;
}

static enum interface_role role_of(const HChar *path)
{
    const HChar *base = VG_(basename)(path);
    if (begins(base, "ld-linux") || begins(base, "ld-2.") || begins(base, "vgpreload_"))
        return INTERFACE_ROLE_NONE;
    if (matches(path, libraries, library_count))
        return INTERFACE_ROLE_LIBRARY;
    if (started == NULL)
        started = VG_(strdup)("ordeal.started", path);
    if (VG_(strcmp)(path, started) == 0 || matches(path, programs, program_count))
        return INTERFACE_ROLE_PROGRAM;
    return INTERFACE_ROLE_HELPER;
}

enum interface_role modules_role(Addr code)
{
    for (UInt i = 0; i < code_count; i++)
        if (code >= codes[i].start && code < codes[i].end)
            return codes[i].role;
    return INTERFACE_ROLE_HELPER;
}

static void add_code(Addr start, Addr end, enum interface_role role)
{
    if (code_count == code_room) {
        code_room = code_room == 0 ? 32 : 2 * code_room;
        codes = VG_(realloc)("ordeal.codes", codes, code_room * sizeof *codes);
    }
    codes[code_count++] = (struct code){start, end, role};
}

static void remove_code(Addr start, Addr end)
{
    for (UInt i = 0; i < code_count;) {
        struct code *code = &codes[i];
        if (code->start >= end || code->end <= start) {
            i++;
        } else if (code->start < start && code->end > end) { // its middle goes
            Addr last = code->end;
            code->end = start;
            add_code(end, last, code->role);
            i++;
        } else if (code->start < start) {
            code->end = start;
        } else if (code->end > end) {
            code->start = end;
        } else {
            *code = codes[--code_count];
        }
    }
}

UInt modules_stack(ThreadId thread)
{
    if (thread == VG_INVALID_THREADID)
        return 0;
    UInt number = VG_(get_ECU_from_ExeContext)(VG_(record_ExeContext)(thread, 0)) / 4;
    if (number >= stacks_room) {
        UInt room = 2 * number + 1024;
        stacks_known = VG_(realloc)("ordeal.stacks", stacks_known, room);
        VG_(memset)(stacks_known + stacks_room, 0, room - stacks_room);
        stacks_room = room;
    }
    if (stacks_known[number])
        return number;
    stacks_known[number] = 1;
    Addr codes_of[INTERFACE_FRAME_LIMIT];
    UInt count = VG_(get_StackTrace)(thread, codes_of, INTERFACE_FRAME_LIMIT, NULL, NULL, 0);
    writer_event(INTERFACE_STACK, thread, 20 + 10 * count);
    writer_number(number);
    writer_number(count);
    for (UInt i = 0; i < count; i++)
        writer_number(codes_of[i]);
    return number;
}

static void map(Addr start, SizeT size, Bool readable, Bool writable, Bool executable)
{
    const NSegment *segment = VG_(am_find_nsegment)(start);
    const HChar *path = segment == NULL ? NULL : VG_(am_get_filename)(segment);
    enum interface_role role = INTERFACE_ROLE_HELPER;
    if (path != NULL && path[0] == '/')
        role = role_of(path);
    else
        path = "";
    remove_code(start, start + size);
    if (executable)
        add_code(start, start + size, role);
    ThreadId thread = VG_(get_running_tid)();
    if (thread != VG_INVALID_THREADID)
        context_select(thread);
    UInt stack = modules_stack(thread);
    SizeT path_size = VG_(strlen)(path);
    if (path_size > INTERFACE_TEXT_LIMIT)
        path_size = INTERFACE_TEXT_LIMIT;
    writer_event(INTERFACE_MAP, thread == VG_INVALID_THREADID ? 1 : thread, 60 + path_size);
    writer_number(start);
    writer_number(size);
    writer_number(segment == NULL || segment->kind != SkFileC
                      ? 0
                      : (ULong)segment->offset + (start - segment->start));
    writer_number((readable ? 1 : 0) | (writable ? 2 : 0) | (executable ? 4 : 0));
    writer_number(role);
    writer_number(stack);
    writer_number(path_size);
    writer_bytes(path, path_size);
    // The recorder names what is in the module behind this block, before its code runs.
    if (path_size > 0)
        writer_flush();
}

static void mapped(Addr start, SizeT size, Bool readable, Bool writable, Bool executable,
                   ULong handle)
{
    map(start, size, readable, writable, executable);
}

static void unmapped(Addr start, SizeT size)
{
    remove_code(start, start + size);
    ThreadId thread = VG_(get_running_tid)();
    writer_event(INTERFACE_UNMAP, thread == VG_INVALID_THREADID ? 1 : thread, 20);
    writer_number(start);
    writer_number(size);
}

static void moved(Addr from, Addr to, SizeT size)
{
    map(to, size, True, True, False);
}

static void protected(Addr start, SizeT size, Bool readable, Bool writable, Bool executable)
{
    if (!executable || modules_role(start) != INTERFACE_ROLE_HELPER)
        return;
    const NSegment *segment = VG_(am_find_nsegment)(start);
    const HChar *path = segment == NULL ? NULL : VG_(am_get_filename)(segment);
    if (path == NULL || path[0] != '/')
        return;
    remove_code(start, start + size);
    add_code(start, start + size, role_of(path));
}

void modules_init(void)
{
    VG_(track_new_mem_startup)(mapped);
    VG_(track_new_mem_mmap)(mapped);
    VG_(track_die_mem_munmap)(unmapped);
    VG_(track_copy_mem_remap)(moved);
    VG_(track_change_mem_mprotect)(protected);
}
