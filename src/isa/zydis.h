// SPDX-License-Identifier: GPL-3.0-or-later
// Zydis, loaded when an instruction is decoded for the first time: its thousands of relocations
// would otherwise be paid for at every start, also of commands that never decode anything.
#ifndef ORDEAL_ISA_ZYDIS_H
#define ORDEAL_ISA_ZYDIS_H

#include <Zydis/Zydis.h>

struct zydis {
    __typeof__(ZydisDecoderInit) *init;
    __typeof__(ZydisDecoderDecodeFull) *decode;
    __typeof__(ZydisDecoderDecodeInstruction) *decode_head; // without operands
    __typeof__(ZydisRegisterGetLargestEnclosing) *enclosing;
};

// NULL if it cannot be loaded; isa_need() says why.
const struct zydis *zydis(void);

#endif
