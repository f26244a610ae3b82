// SPDX-License-Identifier: GPL-3.0-or-later
// One QEMU with a system in it, from its start to its end. Nothing of it outlives this process:
// QEMU dies with the thread that started it, disks are written to a temporary layer.
#ifndef ORDEAL_GUEST_MACHINE_H
#define ORDEAL_GUEST_MACHINE_H

#include "guest/gdb.h"
#include "guest/qmp.h"
#include "guest/system.h"

#include <sys/types.h>

enum guest_accelerator {
    GUEST_AUTO, // KVM if it boots a guest here, otherwise TCG
    GUEST_KVM,
    GUEST_TCG,
};

struct guest_machine_options {
    enum guest_accelerator accelerator; // not GUEST_AUTO
    const char *kernel;                 // instead of the system's, or NULL
    bool debug;                         // with the gdb stub
    const char *trace;    // a file for the addresses of code that is executed (trace.h), or NULL
    const char *snapshot; // the folder of one (snapshot.h), or NULL
    bool save;            // it is to be written; otherwise the guest begins with it
};

struct guest_machine {
    char *directory; // of its own, for sockets
    char *log;       // what QEMU says of the processor
    pid_t process;
    int ended;           // pidfd, readable when QEMU has ended
    int console, errors; // what the guest's console and QEMU's stderr say; -1: closed
    uint16_t port;       // on this machine's loopback, where the guest answers; 0: nowhere
    struct guest_qmp qmp;
    struct guest_gdb gdb;
    bool debug, has_disk;
};

// Whether KVM really boots a guest here: it does, with a few instructions.
_must_check_ struct error *guest_probe_kvm(bool *ret_works);
// What GUEST_AUTO stands for.
_must_check_ struct error *guest_choose_accelerator(enum guest_accelerator *accelerator);

// Starts QEMU. The guest stands still before its first instruction, or where its snapshot was made.
// The caller ends the machine
// with guest_machine_close(), also after an error.
_must_check_ struct error *guest_machine_open(const struct guest_system *system,
                                              const struct guest_machine_options *options,
                                              uint64_t deadline_ns,
                                              struct guest_machine *ret_machine);
// Lets the guest begin.
_must_check_ struct error *guest_machine_go(struct guest_machine *machine, uint64_t deadline_ns);
// Ends QEMU, whatever it is doing, and waits for that. Returns what waitpid() said.
int guest_machine_stop(struct guest_machine *machine);
// Whether the processor gave up (a triple fault); to be asked after the end.
_must_check_ struct error *guest_machine_tripped(const struct guest_machine *machine,
                                                 bool *ret_tripped);
void guest_machine_close(struct guest_machine *machine);

#endif
