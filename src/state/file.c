// SPDX-License-Identifier: GPL-3.0-or-later
// Makes state files, and reads what the tracer wrote there.
#include "state/file.h"

#include "base/cleanup.h"
#include "isa/operands.h"
#include "state/steps.h"
#include "trial/region-file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void state_file_close(struct state_file *file)
{
    if (file->map != NULL)
        munmap(file->map, file->size);
    if (file->path != NULL)
        close(file->file);
    if (file->path != NULL && file->owner == getpid()) {
        unlink(file->path);
        rmdir(file->directory);
    }
    free(file->path);
    free(file->directory);
    *file = (struct state_file){.file = -1};
}

static struct error *make(struct state_file *file, size_t size)
{
    unsigned place = 0;
    if (file->path != NULL && file->owner == getpid() && file->size == size)
        return NULL;
    state_file_close(file);
    TRY(region_file_make_shared(false, &place, &file->file, &file->path, &file->directory));
    file->owner = getpid();
    int code = posix_fallocate(file->file, 0, (off_t)size);
    if (code != 0)
        return error_from_errno(code, "no room for %s", file->path);
    void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file->file, 0);
    if (map == MAP_FAILED)
        return error_from_errno(errno, "cannot map %s", file->path);
    file->map = map;
    file->size = size;
    return NULL;
}

// Instructions that are noted after a fault in a register at a moment. Most values are read or
// overwritten soon; each takes some 10 us.
#define STEPS 2000u

static uint64_t steps_wanted(const struct wire_state_fault *fault)
{
    return fault != NULL && fault->moment_ns != 0 && fault->moment_ns != UINT64_MAX &&
                   !fault->memory &&
                   (fault->register_class == WIRE_STATE_GENERAL ||
                    fault->register_class == WIRE_STATE_FLAGS)
               ? STEPS
               : 0;
}

static struct error *write_file(struct state_file *file, const struct state_program *program,
                                const struct wire_state_fault *fault,
                                const struct wire_state_block *blocks, size_t block_count,
                                uint64_t room)
{
    size_t head = sizeof(struct wire_state) + block_count * sizeof *blocks;
    uint64_t steps = steps_wanted(fault); // then there is no trace
    size_t size = head + room * sizeof(uint32_t) + steps * sizeof(struct wire_state_step);
    TRY(make(file, size));
    memset(file->map, 0, head);
    *file->map = (struct wire_state){
        .magic = WIRE_STATE_MAGIC,
        .version = WIRE_STATE_VERSION,
        .size = size,
        .fingerprint = program->fingerprint,
        .headers = program->headers,
        .end = program->end,
        .library = program->library,
        .header_bytes = program->header_bytes,
        .has_fault = fault != NULL,
        .block_count = (uint32_t)block_count,
        .trace_at = head,
        .trace_room = room,
        .steps_at = head,
        .step_room = steps,
    };
    file->steps_at = head;
    file->step_room = steps;
    if (fault != NULL || block_count != 0)
        file->map->code_shift =
            state_program_code_shift(program, fault != NULL ? fault->stop : blocks[0].address);
    if (fault != NULL)
        file->map->fault = *fault;
    if (block_count != 0)
        memcpy(file->map->blocks, blocks, block_count * sizeof *blocks);
    return NULL;
}

struct error *state_file_write(struct state_file *file, const struct state_program *program,
                               const struct wire_state_fault *fault,
                               const struct wire_state_block *blocks, size_t block_count)
{
    return write_file(file, program, fault, blocks, block_count, 0);
}

struct error *state_file_write_trace(struct state_file *file, const struct state_program *program,
                                     const struct wire_state_block *entries, size_t entry_count,
                                     uint64_t room)
{
    const struct flow_image *image = program->image;
    uint64_t low = UINT64_MAX, high = 0;
    for (size_t i = 0; i < image->functions.count; i++) {
        const struct flow_function *function = &image->functions.items[i];
        low = function->start < low ? function->start : low;
        high = function->end > high ? function->end : high;
    }
    if (low >= high || high > WIRE_STATE_AWAY)
        return error_new("%s has no code that can be traced", program->path);
    TRY(write_file(file, program, NULL, entries, entry_count, room));
    file->map->code_start = low;
    file->map->code_end = high;
    return NULL;
}

const uint32_t *state_file_trace(const struct state_file *file)
{
    return (const uint32_t *)((const char *)file->map + file->map->trace_at);
}

// The instruction that ends where the access was noticed.
static bool reads_and_writes(const struct state_program *program, uint64_t end)
{
    struct isa_decoder decoder;
    struct isa_reads reads;
    size_t size;
    isa_decoder_init(&decoder);
    for (uint64_t length = 1; length <= 15; length++) {
        uint32_t index = flow_insn_at(program->image, end - length);
        if (index == FLOW_NONE || program->image->insns.items[index].length != length)
            continue;
        const struct isa_insn *insn = &program->image->insns.items[index];
        const unsigned char *code = state_program_code(program, insn, &size);
        if (code == NULL || !isa_reads(&decoder, code, size, end - length, &reads))
            return false;
        for (size_t i = 0; i < reads.count; i++)
            if (reads.items[i].kind == ISA_READ_MEMORY && reads.items[i].written)
                return true;
        return false;
    }
    return false;
}

struct wire_state_result state_file_result(const struct state_file *file,
                                           const struct state_program *program)
{
    struct wire_state_result result = file->map->result;
    result.module[sizeof result.module - 1] = '\0';
    result.task[sizeof result.task - 1] = result.program[sizeof result.program - 1] = '\0';
    if (result.activation == WIRE_STATE_OVERWRITTEN && !result.by_kernel &&
        reads_and_writes(program, result.access))
        result.activation = WIRE_STATE_ACTIVATED;
    if (result.injected != 0 && file->step_room != 0)
        state_steps_judge(&file->map->fault,
                          (const void *)((const char *)file->map + file->steps_at), file->step_room,
                          &result);
    return result;
}
