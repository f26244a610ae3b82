// SPDX-License-Identifier: GPL-3.0-or-later
// The tool's descriptor and options. `ordeal propagate` gives them; a person needs none.
#include "interface/tool/tool.h"

#include <pub_tool_libcassert.h>
#include <pub_tool_libcbase.h>
#include <pub_tool_libcprint.h>
#include <pub_tool_libcproc.h>
#include <pub_tool_options.h>
#include <pub_tool_replacemalloc.h>
#include <pub_tool_threadstate.h>

static const HChar *trace_path;

static Bool option(const HChar *argument)
{
    if (VG_STR_CLO(argument, "--trace-file", trace_path))
        return True;
    return modules_option(argument) || virtual_option(argument) ||
           VG_(replacement_malloc_process_cmd_line_option)(argument);
}

static void usage(void)
{
    VG_(printf)
    ("    --trace-file=FILE   where the trace goes\n"
     "    --library=NAME      a library to watch; may be given again\n"
     "    --program=NAME      a module that uses it, beside the program's own file\n"
     "    --foreign=NAME      a module that sees the system's clock\n");
}

static void no_debug_usage(void) {}

static void start_thread_code(ThreadId thread, ULong blocks)
{
    context_select(thread);
}

static void deliver_signal(ThreadId thread, Int number, Bool other_stack)
{
    context_signal_begin(thread);
}

static void signal_delivered(ThreadId thread, Int number)
{
    context_signal_end(thread);
}

static void forking(ThreadId thread)
{
    writer_flush();
}

static void forked_child(ThreadId thread)
{
    writer_stop();
}

static void start(void)
{
    if (trace_path == NULL || !modules_any_library())
        VG_(fmsg_bad_option)("--library, --trace-file", "are needed; see `ordeal propagate`\n");
    writer_open(trace_path);
    context_init();
    virtual_start();
    VG_(atfork)(forking, NULL, forked_child);
}

static void finish(Int status)
{
    writer_event(INTERFACE_END, 1, 10);
    writer_number((UInt)status);
    writer_flush();
}

static void describe(void)
{
    VG_(details_name)("ordeal_propagate");
    VG_(details_version)(NULL);
    VG_(details_description)("what crosses a library's interface");
    VG_(details_copyright_author)("Part of Ordeal, GNU GPL, version 3 or later.");
    VG_(details_bug_reports_to)("the authors of Ordeal");
    VG_(details_avg_translation_sizeB)(400);
    VG_(basic_tool_funcs)(start, instrument, finish);
    VG_(needs_command_line_options)(option, usage, no_debug_usage);
    modules_init();
    heap_init();
    pointers_init();
    stores_init();
    virtual_init();
    VG_(track_start_client_code)(start_thread_code);
    VG_(track_pre_deliver_signal)(deliver_signal);
    VG_(track_post_deliver_signal)(signal_delivered);
    VG_(track_pre_thread_ll_create)(context_thread_begin);
}

VG_DETERMINE_INTERFACE_VERSION(describe)
