// SPDX-License-Identifier: GPL-3.0-or-later
// The plain linear decode that static analyses are compared with: every instruction of a file's
// executable sections, with operands, one after the other, and nothing is kept.
#include <Zydis/Zydis.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

static unsigned long instructions, bytes;

static void decode(const ZydisDecoder *decoder, const unsigned char *code, size_t size)
{
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    for (size_t at = 0; at < size;) {
        if (ZYAN_FAILED(
                ZydisDecoderDecodeFull(decoder, code + at, size - at, &instruction, operands))) {
            at++;
            continue;
        }
        at += instruction.length;
        instructions++;
    }
    bytes += size;
}

int main(int argc, char **argv)
{
    ZydisDecoder decoder;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    for (int i = 1; i < argc; i++) {
        struct stat status;
        int file = open(argv[i], O_RDONLY);
        if (file < 0 || fstat(file, &status) != 0)
            return 1;
        const unsigned char *image =
            mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        if (image == MAP_FAILED)
            return 1;
        const Elf64_Ehdr *header = (const void *)image;
        const Elf64_Shdr *sections = (const void *)(image + header->e_shoff);
        for (unsigned s = 0; s < header->e_shnum; s++)
            if ((sections[s].sh_flags & SHF_EXECINSTR) != 0 && sections[s].sh_type == SHT_PROGBITS)
                decode(&decoder, image + sections[s].sh_offset, sections[s].sh_size);
    }
    printf("%lu %lu\n", instructions, bytes);
    return 0;
}
