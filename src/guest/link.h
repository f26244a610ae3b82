// SPDX-License-Identifier: GPL-3.0-or-later
// A connection to QEMU's own sockets: bytes out at once, bytes in as they come. What QEMU writes
// depends on the guest, so both protocols above this (qmp.h, gdb.h) treat it as foreign bytes.
#ifndef ORDEAL_GUEST_LINK_H
#define ORDEAL_GUEST_LINK_H

#include "base/array.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

#define GUEST_LINK_MOST (1u << 20) // bytes that wait to be understood

struct guest_link {
    int socket; // -1: closed
    const char *name;
    struct buffer in;
};

// Connects to a socket that QEMU is about to make; tries until `deadline_ns`, or until `process`
// has ended.
_must_check_ struct error *guest_link_open(const char *path, const char *name, int process,
                                           uint64_t deadline_ns, struct guest_link *ret_link);
void guest_link_close(struct guest_link *link);
_must_check_ struct error *guest_link_send(struct guest_link *link, const char *data, size_t size);
// Sends a descriptor with the bytes; -1: none.
_must_check_ struct error *guest_link_send_with(struct guest_link *link, const char *data,
                                                size_t size, int descriptor);
// Takes what has come without waiting. At the end of the connection the socket is closed.
_must_check_ struct error *guest_link_receive(struct guest_link *link);
// Waits until something comes or the connection ends, but not longer than until `deadline_ns`, and
// takes it. *ret_in_time is false if nothing came.
_must_check_ struct error *guest_link_wait(struct guest_link *link, uint64_t deadline_ns,
                                           bool *ret_in_time);
// Removes the first bytes of what has come.
void guest_link_drop(struct guest_link *link, size_t size);

#endif
