// SPDX-License-Identifier: GPL-3.0-or-later
// Recognizes call instructions, forwards with Zydis and backwards by trying every length.
#include "isa/call.h"

#include "isa/zydis.h"

#define SHORTEST_CALL 2 // call rax

static bool decode(const void *bytes, size_t size, ZydisDecodedInstruction *ret_instruction)
{
    const struct zydis *library = zydis();
    ZydisDecoder decoder;
    return library != NULL &&
           ZYAN_SUCCESS(
               library->init(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) &&
           ZYAN_SUCCESS(library->decode_head(&decoder, NULL, bytes, size, ret_instruction));
}

size_t isa_call_length(const void *bytes, size_t size)
{
    ZydisDecodedInstruction instruction;
    if (size == 0 || !decode(bytes, size, &instruction) ||
        instruction.meta.category != ZYDIS_CATEGORY_CALL)
        return 0;
    return instruction.length;
}

bool isa_call_ends_at(const void *end, size_t size)
{
    const unsigned char *bytes = end;
    for (size_t length = SHORTEST_CALL; length <= size && length <= ZYDIS_MAX_INSTRUCTION_LENGTH;
         length++)
        if (isa_call_length(bytes - length, length) == length)
            return true;
    return false;
}
