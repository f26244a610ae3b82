// SPDX-License-Identifier: GPL-3.0-or-later
// Recognises the program when it is executed, or the library when it is mapped, and puts the
// breakpoints into it.
#include "tracer/state.h"

#include "base/cleanup.h"
#include "observe/filter.h"
#include "wire/region.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define CODE_LARGEST (1ull << 30)

// Of the auxiliary vector: AT_PHDR, AT_BASE.
static bool find_word(pid_t pid, uint64_t type, uint64_t *ret_address)
{
    char path[64];
    Elf64_auxv_t entry;
    snprintf(path, sizeof path, "/proc/%d/auxv", pid);
    _cleanup_fclose_ FILE *file = fopen(path, "re");
    while (file != NULL && fread(&entry, sizeof entry, 1, file) == 1 && entry.a_type != AT_NULL)
        if (entry.a_type == type) {
            *ret_address = entry.a_un.a_val;
            return true;
        }
    return false;
}

static bool has_headers(const struct state_trial *trial, const struct tracer_task *task,
                        uint64_t address)
{
    const struct wire_state *file = trial->file;
    _cleanup_free_ void *headers = malloc(file->header_bytes + 1);
    return headers != NULL &&
           tracer_read(task, address, headers, file->header_bytes) == file->header_bytes &&
           wire_fingerprint(headers, file->header_bytes) == file->fingerprint;
}

// What the kernel has mapped: the program, and the loader if the fault is in that.
static bool is_mapped(const struct state_trial *trial, const struct tracer_task *task,
                      uint64_t *ret_bias)
{
    const struct wire_state *file = trial->file;
    uint64_t address;
    if (!find_word(task->tid, file->library ? AT_BASE : AT_PHDR, &address))
        return false;
    if (file->library)
        address += file->headers;
    *ret_bias = address - file->headers;
    return has_headers(trial, task, address);
}

// All breakpoints of blocks at once: a program may have very many.
static struct error *place_blocks(const struct state_trial *trial, const struct tracer_task *task,
                                  uint64_t bias)
{
    struct wire_state *file = trial->file;
    char path[64];
    if (file->block_count == 0)
        return NULL;
    uint64_t first = file->blocks[0].address, last = file->blocks[file->block_count - 1].address;
    if (last < first || last - first > CODE_LARGEST)
        return error_new("the table of blocks is damaged");
    size_t size = last - first + 1;
    _cleanup_free_ unsigned char *code = malloc(size);
    if (code == NULL)
        return error_no_memory();
    snprintf(path, sizeof path, "/proc/%d/mem", task->tid);
    _cleanup_close_ int memory = open(path, O_RDWR | O_CLOEXEC);
    if (memory < 0 || pread(memory, code, size, (off_t)(bias + first)) != (ssize_t)size)
        return error_from_errno(errno, "cannot read the code of the program");
    for (uint32_t i = 0; i < file->block_count; i++) {
        uint64_t offset = file->blocks[i].address - first;
        if (offset >= size)
            return error_new("the table of blocks is damaged");
        trial->originals[i] = code[offset];
        if (file->blocks[i].reached == 0)
            code[offset] = STATE_BREAKPOINT;
    }
    return pwrite(memory, code, size, (off_t)(bias + first)) == (ssize_t)size
               ? NULL
               : error_from_errno(errno, "cannot change the code of the program");
}

bool state_place_breakpoint(struct state_trial *trial, struct tracer_task *task,
                            struct state_process *process)
{
    const unsigned char breakpoint = STATE_BREAKPOINT;
    uint64_t stop = process->bias + trial->file->fault.stop;
    process->stopping = tracer_read(task, stop, &trial->stop_byte, 1) == 1 &&
                        state_write(task, stop, &breakpoint, 1);
    process->placed = stop;
    process->placed_byte = breakpoint;
    return process->stopping;
}

// Executions trap where the stub is too far away.
static bool place_stop(struct state_trial *trial, struct tracer_task *task,
                       struct state_process *process)
{
    const struct wire_state_fault *fault = &trial->file->fault;
    if (fault->counter.size == 0)
        return state_place_breakpoint(trial, task, process);
    if (process->stub == 0 && !state_map_counter(trial, task, process))
        return false;
    return state_place_counter(trial, task, process) ||
           (!fault->system_call && state_place_breakpoint(trial, task, process));
}

static struct error *place(struct state_trial *trial, struct tracer_task *task,
                           struct state_process *process)
{
    process->runs_program = true;
    trial->file->result.programs++;
    if (trial->file->trace_room != 0)
        return state_trace_begin(trial, task, process->bias);
    TRY(place_blocks(trial, task, process->bias));
    if (trial->file->has_fault && trial->file->fault.moment_ns == 0 && !trial->injected &&
        !place_stop(trial, task, process))
        trial->file->result.problem = WIRE_STATE_NO_STUB;
    return NULL;
}

struct error *state_executes(void *data, struct tracer_task *task)
{
    struct state_trial *trial = data;
    struct state_process *process = task->data;
    unsigned tasks = process->tasks;
    struct state_thread *thread = state_find_thread(trial, task);
    *process = (struct state_process){.pid = task->pid,
                                      .tasks = tasks,
                                      .threads = 1,
                                      .begun_ns = state_used_ns(task->pid),
                                      .looked_ns = UINT64_MAX};
    if (thread != NULL)
        *thread = (struct state_thread){.task = task, .number = 1};
    task->every_call = false;
    if (trial->followed == task)
        trial->followed = NULL;
    if (is_mapped(trial, task, &process->bias))
        return place(trial, task, process);
    // The stub is mapped now: where a library is mapped the task is inside a system call.
    if (trial->file->library && trial->file->fault.counter.size != 0 && !trial->injected)
        state_map_counter(trial, task, process);
    return NULL;
}

// ---- Libraries ----

struct error *state_stops(const struct state_trial *trial, unsigned char **ret_stops)
{
    if (!trial->file->library)
        return NULL;
    *ret_stops = calloc(linux_call_count(), 1);
    if (*ret_stops == NULL)
        return error_no_memory();
    (*ret_stops)[linux_call_index(linux_call_find("mmap"))] = FILTER_STOP;
    return NULL;
}

struct error *state_maps(void *data, struct tracer_task *task, const struct tracer_call *call,
                         struct tracer_order *order)
{
    (void)data;
    (void)task;
    order->stop_at_end = !call->i386 && (call->arguments[2] & PROT_EXEC) != 0 &&
                         (call->arguments[3] & MAP_ANONYMOUS) == 0;
    return NULL;
}

// A library may be mapped twice (dlmopen(3)), or again after dlclose(3). The first copy counts, as
// long as it is there.
static bool is_placed(const struct tracer_task *task, const struct state_process *process)
{
    unsigned char byte;
    return process->runs_program && process->placed != 0 &&
           tracer_read(task, process->placed, &byte, 1) == 1 && byte == process->placed_byte;
}

struct error *state_mapped(void *data, struct tracer_task *task, const struct tracer_call *call,
                           struct tracer_order *order)
{
    struct state_trial *trial = data;
    struct state_process *process = task->data;
    const struct wire_state *file = trial->file;
    (void)order;
    if (process == NULL || tracer_failed(call->result) ||
        (!file->has_fault && file->block_count == 0))
        return NULL;
    uint64_t code = file->has_fault ? file->fault.stop : file->blocks[0].address;
    uint64_t size = call->arguments[1], offset = call->arguments[5];
    uint64_t wanted = code - file->code_shift; // in the file
    if (wanted < offset || wanted - offset >= size)
        return NULL;
    uint64_t bias = (uint64_t)call->result - (offset + file->code_shift);
    if (!has_headers(trial, task, bias + file->headers) || is_placed(task, process))
        return NULL;
    process->bias = bias;
    return place(trial, task, process);
}
