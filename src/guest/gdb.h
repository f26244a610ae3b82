// SPDX-License-Identifier: GPL-3.0-or-later
// QEMU's gdb stub, as far as it is needed here: breakpoints, where the processor is, going on.
#ifndef ORDEAL_GUEST_GDB_H
#define ORDEAL_GUEST_GDB_H

#include "guest/link.h"

#include <sys/types.h>

struct guest_gdb {
    struct guest_link link;
    char thread[16]; // the processor that stopped, as the stub calls it; "": it is not known
};

struct guest_registers {
    uint64_t general[16]; // in gdb's order
    uint64_t place;       // of the next instruction
};
enum { GUEST_RAX = 0, GUEST_RDI = 5, GUEST_RSP = 7 }; // of `general`

_must_check_ struct error *guest_gdb_start(struct guest_gdb *gdb, uint64_t deadline_ns);
// Sets or removes a breakpoint at a virtual address. `hardware`: by a register of the processor.
_must_check_ struct error *guest_gdb_breakpoint(struct guest_gdb *gdb, bool set, bool hardware,
                                                uint64_t address, uint64_t deadline_ns);
// Reads and writes up to GUEST_GDB_MOST bytes of the machine's memory, whatever the guest's page
// tables say.
#define GUEST_GDB_MOST 64
_must_check_ struct error *guest_gdb_read(struct guest_gdb *gdb, uint64_t physical, void *ret_bytes,
                                          size_t size, uint64_t deadline_ns);
_must_check_ struct error *guest_gdb_write(struct guest_gdb *gdb, uint64_t physical,
                                           const void *bytes, size_t size, uint64_t deadline_ns);
// The same for an address of the processor that stopped.
_must_check_ struct error *guest_gdb_read_virtual(struct guest_gdb *gdb, uint64_t address,
                                                  void *ret_bytes, size_t size,
                                                  uint64_t deadline_ns);
// Registers of the processor that stopped.
_must_check_ struct error *guest_gdb_registers(struct guest_gdb *gdb, uint64_t deadline_ns,
                                               struct guest_registers *ret_registers);
// Lets the machine go on until something stops it, or only the processor that stopped for `one`
// instruction.
_must_check_ struct error *guest_gdb_continue(struct guest_gdb *gdb, bool one);
// Understands what has come since then. *ret_stopped: the machine has stopped.
_must_check_ struct error *guest_gdb_take_stop(struct guest_gdb *gdb, bool *ret_stopped);

#endif
