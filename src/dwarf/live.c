// SPDX-License-Identifier: GPL-3.0-or-later
// Unwinds the stack of a running thread with libdw and ptrace, in a thread of its own, for two
// reasons. When a thread ends, the kernel releases what it traces, also what sleeps in the kernel
// and cannot be stopped. And libdw has no timeout: if files are slow, the thread is left behind.
#include "dwarf/live.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/thread.h"
#include "base/timeouts.h"
#include "dwarf/symbolizer.h"

#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

static void frame_deinit(struct dwarf_live_frame *frame)
{
    free(frame->module);
    free(frame->symbol);
    free(frame->file);
}

void dwarf_live_stack_deinit(struct dwarf_live_stack *stack)
{
    for (size_t i = 0; i < stack->frames.count; i++)
        frame_deinit(&stack->frames.items[i]);
    ARRAY_DEINIT(&stack->frames);
}

// One request. Thread and caller share it, and the last of them frees it.
struct work {
    atomic_int users;
    pid_t process, thread;
    char *root;
    uint64_t timeout_ns;
    unsigned samples;
    struct dwarf_live_stack stack;
    struct error *error;
    Dwfl *dwfl;
};

static void work_release(struct work *work)
{
    if (work == NULL || atomic_fetch_sub(&work->users, 1) != 1)
        return;
    dwarf_live_stack_deinit(&work->stack);
    error_free(work->error);
    free(work->root);
    free(work);
}

static void work_releasep(struct work **work)
{
    work_release(*work);
}

// libdw finds a module's file by the name in the process's memory map, which is valid below `root`.
// It passes no context to this callback, only a pointer per module, which cannot be set before the
// first call. So the context is in a thread-local variable.
static _Thread_local const struct work *current;

static int find_elf(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
                    char **file_name, Elf **elfp)
{
    if (name[0] == '/' && current->root[0] != '\0') {
        char *path;
        if (asprintf(&path, "%s%s", current->root, name) < 0)
            return -1;
        int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (file >= 0) {
            *file_name = path;
            return file;
        }
        free(path);
    }
    return dwfl_linux_proc_find_elf(module, userdata, name, base, file_name, elfp);
}

// Unwinding needs only the modules themselves. Looking for debug files might ask the network.
static int find_no_debuginfo(Dwfl_Module *module, void **userdata, const char *name,
                             Dwarf_Addr base, const char *file, const char *link, GElf_Word crc,
                             char **debuginfo_name)
{
    return -1;
}

static const Dwfl_Callbacks callbacks = {.find_elf = find_elf, .find_debuginfo = find_no_debuginfo};

static int add_frame(Dwfl_Frame *state, void *data)
{
    struct work *work = data;
    Dwarf_Addr pc;
    bool exact;
    if (work->stack.frames.count == DWARF_LIVE_FRAMES || !dwfl_frame_pc(state, &pc, &exact))
        return DWARF_CB_ABORT;
    struct dwarf_live_frame *frame = ARRAY_ADD(&work->stack.frames);
    if (frame == NULL)
        return DWARF_CB_ABORT;
    frame->offset = exact ? pc : pc - 1; // for a return address, inside the call
    Dwfl_Module *module = dwfl_addrmodule(work->dwfl, frame->offset);
    GElf_Addr bias;
    if (module == NULL || dwfl_module_getelf(module, &bias) == NULL)
        return DWARF_CB_OK;
    const char *name = dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    frame->module = name != NULL ? strdup(name) : NULL;
    const char *symbol = dwfl_module_addrname(module, frame->offset);
    frame->symbol = symbol != NULL ? strdup(symbol) : NULL;
    frame->offset -= bias;
    return DWARF_CB_OK;
}

static struct error *wait_for_stop(const struct work *work)
{
    for (uint64_t waited_ns = 0; waited_ns < work->timeout_ns / 2;
         waited_ns += STACK_STOP_PAUSE_NS) {
        int status;
        pid_t got = waitpid(work->thread, &status, __WALL | WNOHANG);
        if (got == work->thread && WIFSTOPPED(status))
            return NULL;
        if (got != 0 && errno != EINTR)
            return error_new("process %d ended", (int)work->process);
        clock_sleep(STACK_STOP_PAUSE_NS);
    }
    return error_new("thread %d of process %d does not stop", (int)work->thread,
                     (int)work->process);
}

static bool same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool same_function(const struct dwarf_live_frame *a, const struct dwarf_live_frame *b)
{
    return same_text(a->module, b->module) && same_text(a->symbol, b->symbol) &&
           (a->symbol != NULL || a->offset == b->offset);
}

// Keeps the frames that both stacks have, compared from the outermost on. If they have nothing in
// common, because one of them could not be unwound to its end, the longer one is kept.
static void keep_common(struct dwarf_live_stack *stack, struct dwarf_live_stack *other)
{
    size_t common = 0, count = stack->frames.count, others = other->frames.count;
    while (common < count && common < others &&
           same_function(&stack->frames.items[count - 1 - common],
                         &other->frames.items[others - 1 - common]))
        common++;
    if (common == 0 && others > count) {
        struct dwarf_live_stack shorter = *stack;
        *stack = *other;
        *other = shorter;
    }
    if (common == 0)
        return;
    for (size_t i = 0; i < count - common; i++)
        frame_deinit(&stack->frames.items[i]);
    memmove(stack->frames.items, stack->frames.items + (count - common),
            common * sizeof *stack->frames.items);
    stack->frames.count = common;
}

// Lets the thread run for a moment and stops it again. False if that did not work.
static bool sample_again(struct work *work)
{
    if (ptrace(PTRACE_CONT, work->thread, NULL, NULL) != 0)
        return false;
    clock_sleep(STACK_SAMPLE_PAUSE_NS);
    if (ptrace(PTRACE_INTERRUPT, work->thread, NULL, NULL) != 0)
        return false;
    struct error *error = wait_for_stop(work);
    if (error != NULL) {
        error_free(error);
        return false;
    }
    _cleanup_(dwarf_live_stack_deinit) struct dwarf_live_stack before = work->stack;
    work->stack = (struct dwarf_live_stack){0};
    dwfl_getthread_frames(work->dwfl, work->thread, add_frame, work);
    keep_common(&work->stack, &before);
    return true;
}

static struct error *unwind(struct work *work)
{
    if (ptrace(PTRACE_SEIZE, work->thread, NULL, NULL) != 0)
        return error_from_errno(errno, "cannot trace process %d", (int)work->process);
    if (ptrace(PTRACE_INTERRUPT, work->thread, NULL, NULL) != 0)
        return error_from_errno(errno, "cannot stop process %d", (int)work->process);
    TRY(wait_for_stop(work));
    // If unwinding fails half-way, the frames found so far are the stack.
    dwfl_getthread_frames(work->dwfl, work->thread, add_frame, work);
    for (unsigned i = 1; i < work->samples; i++)
        if (!sample_again(work))
            break;
    ptrace(PTRACE_DETACH, work->thread, NULL, NULL);
    if (work->stack.frames.count == 0)
        return error_new("cannot unwind the stack of process %d: %s", (int)work->process,
                         dwfl_errmsg(-1));
    return NULL;
}

static void cleanup_dwfl(Dwfl **dwfl)
{
    if (*dwfl != NULL)
        dwfl_end(*dwfl);
}

static struct error *find_frames(struct work *work)
{
    _cleanup_(cleanup_dwfl) Dwfl *dwfl = dwfl_begin(&callbacks);
    if (dwfl == NULL)
        return error_no_memory();
    work->dwfl = dwfl;
    if (dwfl_linux_proc_report(dwfl, work->process) != 0 ||
        dwfl_report_end(dwfl, NULL, NULL) != 0 ||
        dwfl_linux_proc_attach(dwfl, work->process, true) < 0)
        return error_new("cannot read the map of process %d: %s", (int)work->process,
                         dwfl_errmsg(-1));
    struct error *error = unwind(work);
    work->dwfl = NULL;
    return error;
}

// Adds names from separate debug files, and lines. A frame without them stays as it is.
static struct error *name_frames(struct work *work)
{
    struct dwarf_symbolizer *symbolizer;
    TRY(dwarf_symbolizer_new(&symbolizer));
    for (size_t i = 0; i < work->stack.frames.count; i++) {
        struct dwarf_live_frame *frame = &work->stack.frames.items[i];
        char *path;
        if (frame->module == NULL || frame->module[0] != '/' ||
            asprintf(&path, "%s%s", work->root, frame->module) < 0)
            continue;
        struct dwarf_position position = dwarf_symbolizer_find(symbolizer, path, frame->offset);
        char *symbol = position.symbol != NULL ? strdup(position.symbol) : NULL;
        if (symbol != NULL) {
            free(frame->symbol);
            frame->symbol = symbol;
        }
        frame->file = position.file != NULL ? strdup(position.file) : NULL;
        frame->line = position.line;
        free(path);
    }
    dwarf_symbolizer_free(symbolizer);
    return NULL;
}

static void *run(void *data)
{
    struct work *work = data;
    current = work;
    work->error = find_frames(work);
    if (work->error == NULL)
        work->error = name_frames(work);
    work_release(work);
    return NULL;
}

static struct error *make_work(pid_t process, pid_t thread, const char *root, uint64_t timeout_ns,
                               unsigned samples, struct work **ret_work)
{
    struct work *work = calloc(1, sizeof *work);
    if (work == NULL)
        return error_no_memory();
    work->users = 1;
    work->process = process;
    work->thread = thread;
    work->timeout_ns = timeout_ns;
    work->samples = samples;
    if ((work->root = strdup(root)) == NULL) {
        work_release(work);
        return error_no_memory();
    }
    *ret_work = work;
    return NULL;
}

static struct error *start(struct work *work, pthread_t *ret_thread)
{
    atomic_fetch_add(&work->users, 1);
    struct error *error = thread_start(ret_thread, run, work);
    if (error != NULL)
        atomic_fetch_sub(&work->users, 1);
    return error;
}

struct error *dwarf_live_stack(pid_t process, pid_t thread, const char *root, unsigned samples,
                               uint64_t timeout_ns, struct dwarf_live_stack *ret_stack)
{
    _cleanup_(work_releasep) struct work *work = NULL;
    TRY(make_work(process, thread, root, timeout_ns, samples, &work));
    const struct timespec deadline = clock_timespec(clock_ns() + timeout_ns);
    pthread_t runner;
    TRY(start(work, &runner));
    if (pthread_clockjoin_np(runner, NULL, CLOCK_MONOTONIC, &deadline) != 0) {
        pthread_detach(runner);
        return error_new("no stack of process %d in time", (int)process);
    }
    if (work->error != NULL)
        return TAKE(work->error);
    *ret_stack = work->stack;
    work->stack = (struct dwarf_live_stack){0};
    return NULL;
}
