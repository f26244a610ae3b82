// SPDX-License-Identifier: GPL-3.0-or-later
// Valgrind reads the line tables of every module that a program loads. Nobody here needs them,
// because the recorder finds names and lines itself (names.c), and Valgrind 3.19 gives up on those
// of clang 19 and with them on the program. The linker puts this function in place of the one that
// reads them
// (--wrap); tables for unwinding are read elsewhere.
#include "interface/tool/tool.h"

void __wrap_vgModuleLocal_read_debuginfo_dwarf3(void *info);

void __wrap_vgModuleLocal_read_debuginfo_dwarf3(void *info) {}
