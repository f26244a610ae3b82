// SPDX-License-Identifier: GPL-3.0-or-later
// A system that can run as a guest: a folder with a file system.yaml that says how to boot it and
// how to talk to it. docs/HOWTO-add-a-system.md describes the file.
#ifndef ORDEAL_GUEST_SYSTEM_H
#define ORDEAL_GUEST_SYSTEM_H

#include "base/error.h"
#include "base/words.h"

#include <stdbool.h>
#include <stdint.h>

#define GUEST_FILE "system.yaml"

struct guest_system {
    char *directory;           // absolute
    char *name;                // for people; the folder's name if the file says none
    char *kernel;              // absolute, as all paths here
    char *initrd, *disk;       // or NULL
    char *append;              // the kernel's command line, or NULL
    char *machine, *processor; // of QEMU; NULL: its default
    struct words options;      // more options of QEMU
    uint64_t memory;           // MiB
    uint64_t processors;       // how many
    uint64_t port;             // the guest's, that its user connects to; 0: none
    bool serial_link;          // its second serial port serves as that port
    char *ready;               // a text on the console that ends booting; NULL: the pretest tells
    char *pretest, *workload, *shutdown;                    // scripts; shutdown may be NULL
    uint64_t boot_ns, pretest_ns, workload_ns, shutdown_ns; // how long each may take
};

// Reads a system's file; the caller ends the system with guest_system_deinit(), also after an
// error. Errors show the place in the file.
_must_check_ struct error *guest_system_read(const char *directory,
                                             struct guest_system *ret_system);
void guest_system_deinit(struct guest_system *system);

#endif
