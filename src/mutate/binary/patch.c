// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the faults of all functions, and makes the bytes of each. A patch replaces whole
// instructions and changes no address, so unwind tables and relocations stay as they are.
#include "mutate/binary/internal.h"

#include "base/cleanup.h"
#include "elf/symbols.h"

#include <string.h>

#define NOP        0x90
#define JUMP_SHORT 0xeb
#define JUMP_LONG  0xe9

const unsigned char *finding_bytes(const struct finding *finding, uint32_t insn)
{
    const struct flow_image *image = finding->body.code->image;
    const struct isa_insn *what = &image->insns.items[insn];
    uint64_t at = flow_address(image, what) - image->functions.items[finding->body.function].start;
    return finding->bytes != NULL && at + what->length <= finding->size ? finding->bytes + at
                                                                        : NULL;
}

struct binary_fault *finding_add(struct finding *finding, enum model_kind kind, uint32_t insn)
{
    struct binary_fault *fault = ARRAY_ADD(&finding->out->items);
    if (fault == NULL) {
        finding->body.failed = true;
        return NULL;
    }
    const struct flow_image *image = finding->body.code->image;
    *fault = (struct binary_fault){.kind = kind,
                                   .function = finding->body.function,
                                   .address = flow_address(image, &image->insns.items[insn]),
                                   .replacement = "",
                                   .detail = ""};
    return fault;
}

// Whether a relocation changes bytes of an instruction: then they cannot be replaced.
static bool is_relocated(const struct finding *finding, uint64_t address, size_t size)
{
    const struct flow_image *image = finding->body.code->image;
    size_t low = 0, high = image->slots.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (image->slots.items[middle].address + 8 <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < image->slots.count && image->slots.items[low].address < address + size;
}

static void set_patch(struct finding *finding, struct binary_fault *fault, uint64_t address,
                      const unsigned char *after, size_t size)
{
    const struct flow_function *function =
        &finding->body.code->image->functions.items[finding->body.function];
    uint64_t at = address - function->start;
    if (finding->bytes == NULL || size > BINARY_PATCH || at > finding->size ||
        size > finding->size - at || is_relocated(finding, address, size))
        return;
    fault->patch.address = address;
    fault->patch.size = (uint8_t)size;
    memcpy(fault->patch.before, finding->bytes + at, size);
    memcpy(fault->patch.after, after, size);
}

void patch_code(struct finding *finding, struct binary_fault *fault, uint32_t insn,
                const unsigned char *bytes, size_t size)
{
    const struct flow_image *image = finding->body.code->image;
    set_patch(finding, fault, flow_address(image, &image->insns.items[insn]), bytes, size);
}

void patch_bytes(struct finding *finding, struct binary_fault *fault, uint32_t insn, size_t at,
                 const void *bytes, size_t size)
{
    unsigned char after[BINARY_PATCH];
    const struct isa_insn *what = insn_at(&finding->body, insn);
    const unsigned char *before = finding_bytes(finding, insn);
    if (before == NULL || at + size > what->length || what->length > sizeof after)
        return;
    memcpy(after, before, what->length);
    memcpy(after + at, bytes, size);
    set_patch(finding, fault, flow_address(finding->body.code->image, what), after, what->length);
}

// Bytes of the instructions from one on that hold at least `wanted`, and into which nothing jumps;
// 0 if there are none.
static size_t room_at(const struct finding *finding, uint32_t insn, size_t wanted)
{
    const struct body *body = &finding->body;
    size_t size = 0;
    for (uint32_t i = insn; size < wanted; i++) {
        bool begins = i >= body->first && i < body->end && !body->tail.items[i - body->start];
        if (!begins)
            return 0;
        const struct step *step = &body->steps.items[body->step_of.items[i - body->start]];
        if (i != insn && step->first == i && step->reached)
            return 0;
        size += insn_at(body, i)->length;
    }
    return size;
}

void patch_jump(struct finding *finding, struct binary_fault *fault, uint32_t from, uint32_t to)
{
    const struct flow_image *image = finding->body.code->image;
    if (from == to || to >= image->insns.count)
        return;
    uint64_t start = flow_address(image, &image->insns.items[from]);
    int64_t distance = (int64_t)(flow_address(image, &image->insns.items[to]) - start);
    unsigned char after[BINARY_PATCH];
    memset(after, NOP, sizeof after);
    int64_t near = distance - 2, far = distance - 5;
    size_t size = 1;
    if (distance != 1) {
        bool short_ = near >= INT8_MIN && near <= INT8_MAX;
        size = room_at(finding, from, short_ ? 2 : 5);
        after[0] = short_ ? JUMP_SHORT : JUMP_LONG;
        memcpy(after + 1, short_ ? &near : &far, short_ ? 1 : 4);
    }
    if (size != 0)
        set_patch(finding, fault, start, after, size);
}

// ---- all functions ----

static void find_in(struct finding *finding, const struct code *code, uint32_t number)
{
    const struct flow_function *function = &code->image->functions.items[number];
    finding->bytes = elf_object_code(code->image->object, function->start,
                                     function->end - function->start, &finding->size);
    if (!body_read(&finding->body, code, number)) {
        finding->out->optimised += finding->body.optimised && !finding->body.failed &&
                                   body_read_optimised(&finding->body, code, number) &&
                                   find_optimised(finding);
        return;
    }
    tree_build(&finding->body);
    if (finding->body.failed || finding->body.odd)
        return;
    finding->out->understood++;
    find_statements(finding);
    find_conditions(finding);
    find_arguments(finding);
}

struct error *binary_find(const struct flow_image *image, struct binary_faults *ret_faults)
{
    struct code code = {0};
    struct binary_faults faults = {0};
    TRY(code_open(image, &code));
    struct finding finding = {.out = &faults, .types = types_new(image)};
    finding.body.failed = finding.types == NULL;
    for (uint32_t f = 0; f < image->functions.count && !finding.body.failed; f++) {
        if (image->functions.items[f].owner != f)
            continue;
        faults.functions++;
        find_in(&finding, &code, f);
    }
    bool failed = finding.body.failed || !types_end(finding.types, &faults);
    types_free(finding.types);
    body_deinit(&finding.body);
    code_close(&code);
    if (failed) {
        binary_faults_deinit(&faults);
        return error_no_memory();
    }
    *ret_faults = faults;
    return NULL;
}

void binary_faults_deinit(struct binary_faults *faults)
{
    ARRAY_DEINIT(&faults->items);
    arena_deinit(&faults->arena);
}
