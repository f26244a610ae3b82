// SPDX-License-Identifier: GPL-3.0-or-later
// The section of Go's table has one of two names: the second one is that of programs that the
// loader may move.
#include "elf/go-section.h"

#include <gelf.h>
#include <string.h>

bool go_section_read(Elf *elf, struct go_table *ret_table)
{
    size_t names;
    uint64_t text = 0;
    Elf_Data *found = NULL;
    if (elf_getshdrstrndx(elf, &names) < 0)
        return false;
    for (Elf_Scn *section = elf_nextscn(elf, NULL); section != NULL;
         section = elf_nextscn(elf, section)) {
        GElf_Shdr header;
        const char *name =
            gelf_getshdr(section, &header) != NULL ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (name != NULL && strcmp(name, ".text") == 0)
            text = header.sh_addr;
        if (name != NULL && header.sh_type != SHT_NOBITS &&
            (strcmp(name, ".gopclntab") == 0 || strcmp(name, ".data.rel.ro.gopclntab") == 0))
            found = elf_rawdata(section, NULL);
    }
    return found != NULL && found->d_buf != NULL &&
           go_table_open(found->d_buf, found->d_size, text, ret_table);
}
