// SPDX-License-Identifier: GPL-3.0-or-later
// Distances in instructions get four bytes, so that the copy may be far away.
#include "isa/relocate.h"

#include "isa/zydis.h"

#include <string.h>

static bool copy_branch(const ZydisDecodedInstruction *head, uint64_t address,
                        struct isa_relocated *copy)
{
    uint64_t next = address + head->length;
    unsigned char opcode = head->opcode;
    copy->target = next + (uint64_t)head->raw.imm[0].value.s;
    if (head->meta.category == ZYDIS_CATEGORY_UNCOND_BR) {
        copy->bytes[0] = 0xe9;
        copy->displacement = 1;
    } else if (head->meta.category == ZYDIS_CATEGORY_COND_BR &&
               ((head->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && opcode >> 4 == 7) ||
                (head->opcode_map == ZYDIS_OPCODE_MAP_0F && opcode >> 4 == 8))) {
        copy->bytes[0] = 0x0f;
        copy->bytes[1] = (unsigned char)(0x80 | (opcode & 15));
        copy->displacement = 2;
    } else {
        return false;
    }
    copy->size = copy->displacement + 4;
    return true;
}

bool isa_relocate(const struct isa_decoder *decoder, const void *bytes, size_t size,
                  uint64_t address, struct isa_relocated *ret_copy)
{
    const struct zydis *library = zydis();
    ZydisDecodedInstruction head;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    struct isa_relocated copy = {0};
    if (library == NULL ||
        ZYAN_FAILED(
            library->decode((const ZydisDecoder *)decoder->words, bytes, size, &head, operands)) ||
        head.length > sizeof copy.bytes || head.meta.category == ZYDIS_CATEGORY_CALL)
        return false;
    if (head.raw.imm[0].is_relative) {
        if (!copy_branch(&head, address, &copy))
            return false;
        *ret_copy = copy;
        return true;
    }
    memcpy(copy.bytes, bytes, head.length);
    copy.size = head.length;
    for (unsigned i = 0; i < head.operand_count; i++)
        if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
            operands[i].mem.base == ZYDIS_REGISTER_RIP) {
            copy.displacement = head.raw.disp.offset;
            copy.target = address + head.length + (uint64_t)operands[i].mem.disp.value;
        }
    *ret_copy = copy;
    return true;
}
