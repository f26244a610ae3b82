// SPDX-License-Identifier: GPL-3.0-or-later
// Zydis, loaded when the first instruction is decoded. Linking it would cost thousands of
// relocations at every start, also for commands that decode nothing.
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
