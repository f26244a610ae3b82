// SPDX-License-Identifier: GPL-3.0-or-later
// Takes the operands of an instruction from Zydis.
#include "isa/operands.h"

#include "isa/zydis-operands.h"

static void add(struct isa_reads *reads, const struct isa_read *read)
{
    for (size_t i = 0; i < reads->count; i++) {
        struct isa_read *other = &reads->items[i];
        if (read->kind > ISA_READ_VECTOR || other->kind != read->kind ||
            other->number != read->number)
            continue;
        // The same register twice: the part that contains both.
        unsigned end = other->first_bit + other->bits, more = read->first_bit + read->bits;
        if (read->first_bit < other->first_bit)
            other->first_bit = read->first_bit;
        other->bits = (uint16_t)((end > more ? end : more) - other->first_bit);
        other->address &= read->address;
        return;
    }
    if (reads->count < ISA_READS)
        reads->items[reads->count++] = *read;
}

static void add_address(const struct zydis *library, ZydisRegister name, struct isa_reads *reads)
{
    uint8_t number = isa_general_number(library, name);
    bool narrow = name >= ZYDIS_REGISTER_EAX && name <= ZYDIS_REGISTER_R15D;
    if (number != ISA_NONE)
        add(reads, &(struct isa_read){.kind = ISA_READ_GENERAL,
                                      .number = number,
                                      .bits = narrow ? 32 : 64,
                                      .address = true});
}

static void add_register(const struct zydis *library, const ZydisDecodedOperand *operand,
                         struct isa_reads *reads)
{
    ZydisRegister name = operand->reg.value;
    uint8_t number = isa_general_number(library, name);
    struct isa_read read = {
        .kind = ISA_READ_GENERAL, .number = number, .bits = (uint16_t)operand->size};
    if (name >= ZYDIS_REGISTER_AH && name <= ZYDIS_REGISTER_BH)
        read.first_bit = 8;
    if (number == ISA_NONE) {
        ZydisRegister whole = library->enclosing(ZYDIS_MACHINE_MODE_LONG_64, name);
        if (whole < ZYDIS_REGISTER_ZMM0 || whole > ZYDIS_REGISTER_ZMM15)
            return;
        unsigned elements = operand->element_count * operand->element_size;
        read.kind = ISA_READ_VECTOR;
        read.number = (uint8_t)(whole - ZYDIS_REGISTER_ZMM0);
        read.bits =
            (uint16_t)(elements != 0 && elements < operand->size ? elements : operand->size);
    }
    if (read.bits != 0)
        add(reads, &read);
}

// A 32-bit register is extended with zeros.
static void add_change(const struct zydis *library, const ZydisDecodedOperand *operand,
                       struct isa_reads *reads)
{
    ZydisRegister name = operand->reg.value;
    uint8_t number = isa_general_number(library, name);
    bool high = name >= ZYDIS_REGISTER_AH && name <= ZYDIS_REGISTER_BH;
    if (number != ISA_NONE && reads->change_count < ISA_CHANGES)
        reads->changes[reads->change_count++] = (struct isa_change){
            .number = number,
            .first_bit = high ? 8 : 0,
            .bits = (uint8_t)(operand->size == 32 ? 64 : operand->size),
            .always = (operand->actions & ZYDIS_OPERAND_ACTION_WRITE) != 0,
        };
}

static bool flags_may_stay(const ZydisDecodedInstruction *head, const ZydisDecodedOperand *operands)
{
    switch (head->mnemonic) {
    case ZYDIS_MNEMONIC_SHL:
    case ZYDIS_MNEMONIC_SHR:
    case ZYDIS_MNEMONIC_SAR:
    case ZYDIS_MNEMONIC_ROL:
    case ZYDIS_MNEMONIC_ROR:
    case ZYDIS_MNEMONIC_RCL:
    case ZYDIS_MNEMONIC_RCR:
    case ZYDIS_MNEMONIC_SHLD:
    case ZYDIS_MNEMONIC_SHRD:
        break;
    default:
        return (head->attributes &
                (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)) != 0;
    }
    for (unsigned i = 0; i < head->operand_count; i++)
        if (operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
            operands[i].reg.value == ZYDIS_REGISTER_CL)
            return true;
    return false;
}

static void add_memory(const struct zydis *library, const ZydisDecodedInstruction *head,
                       const ZydisDecodedOperand *operand, uint64_t address,
                       struct isa_reads *reads)
{
    add_address(library, operand->mem.base, reads);
    add_address(library, operand->mem.index, reads);
    bool is_read = (operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
    bool segment =
        operand->mem.segment == ZYDIS_REGISTER_FS || operand->mem.segment == ZYDIS_REGISTER_GS;
    bool relative = operand->mem.base == ZYDIS_REGISTER_RIP;
    uint8_t base = relative ? ISA_PC : isa_general_number(library, operand->mem.base);
    if (operand->mem.type != ZYDIS_MEMOP_TYPE_MEM || !is_read || segment || operand->size == 0)
        return;
    add(reads, &(struct isa_read){
                   .kind = ISA_READ_MEMORY,
                   .bits = (uint16_t)operand->size,
                   .written = (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0,
                   .base = base,
                   .index = isa_general_number(library, operand->mem.index),
                   .scale = operand->mem.scale,
                   .displacement = (int64_t)((uint64_t)operand->mem.disp.value +
                                             (relative ? address + head->length : 0)),
               });
}

static bool does_nothing(ZydisMnemonic name)
{
    switch (name) {
    case ZYDIS_MNEMONIC_NOP:
    case ZYDIS_MNEMONIC_ENDBR64:
    case ZYDIS_MNEMONIC_PREFETCH:
    case ZYDIS_MNEMONIC_PREFETCHNTA:
    case ZYDIS_MNEMONIC_PREFETCHT0:
    case ZYDIS_MNEMONIC_PREFETCHT1:
    case ZYDIS_MNEMONIC_PREFETCHT2:
    case ZYDIS_MNEMONIC_PREFETCHW:
        return true;
    default:
        return false;
    }
}

bool isa_reads(const struct isa_decoder *decoder, const void *bytes, size_t size, uint64_t address,
               struct isa_reads *ret_reads)
{
    const struct zydis *library = zydis();
    ZydisDecodedInstruction head;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    if (library == NULL || ZYAN_FAILED(library->decode((const ZydisDecoder *)decoder->words, bytes,
                                                       size, &head, operands)))
        return false;
    struct isa_reads reads = {.system_call = head.mnemonic == ZYDIS_MNEMONIC_SYSCALL};
    bool nothing = does_nothing(head.mnemonic) || isa_clears(&head, operands);
    for (unsigned i = 0; i < head.operand_count && !nothing; i++) {
        const ZydisDecodedOperand *operand = &operands[i];
        if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY)
            add_memory(library, &head, operand, address, &reads);
        else if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
                 (operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0)
            add_register(library, operand, &reads);
    }
    for (unsigned i = 0; i < head.operand_count && !does_nothing(head.mnemonic); i++)
        if (operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
            (operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0)
            add_change(library, &operands[i], &reads);
    reads.flags_may_stay = flags_may_stay(&head, operands);
    reads.repeats = (head.attributes &
                     (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)) != 0;
    // The number of the call. What else is read depends on it.
    if (reads.system_call)
        add(&reads, &(struct isa_read){.kind = ISA_READ_GENERAL, .number = 0, .bits = 32});
    if (head.cpu_flags != NULL) {
        uint32_t tested = head.cpu_flags->tested;
        reads.flags_written = (uint16_t)(head.cpu_flags->modified | head.cpu_flags->set_0 |
                                         head.cpu_flags->set_1 | head.cpu_flags->undefined);
        if (tested != 0 && !nothing)
            add(&reads,
                &(struct isa_read){.kind = ISA_READ_FLAGS, .bits = 64, .flags = (uint16_t)tested});
    }
    *ret_reads = reads;
    return true;
}
