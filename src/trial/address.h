// SPDX-License-Identifier: GPL-3.0-or-later
// Addresses of the coordinator: HOST:PORT, [IPv6]:PORT, or the path of a Unix socket. A text with a
// / is a path.
#ifndef ORDEAL_TRIAL_ADDRESS_H
#define ORDEAL_TRIAL_ADDRESS_H

#include "base/error.h"

#include <stdint.h>
#include <sys/socket.h>

struct address {
    struct sockaddr_storage storage;
    socklen_t size;
};

// A host name may stand for several addresses, such as ::1 and 127.0.0.1. They are tried in order.
#define ADDRESS_CHOICES 8
struct address_list {
    struct address choices[ADDRESS_CHOICES];
    size_t count;
};

#define ADDRESS_TEXT 160

// May ask the name service. An error says what is wrong with the text.
_must_check_ struct error *address_parse(const char *text, struct address_list *ret_list);
// Opens a listening non-blocking socket, which the caller closes. *ret_address is what it is bound
// to. If no address works, returns the error of the first one.
_must_check_ struct error *address_listen(const struct address_list *list, int *ret_socket,
                                          struct address *ret_address);
// Opens a connected non-blocking socket, which the caller closes. Waits at most timeout_ns for each
// address. If none works, returns the error of the first one.
_must_check_ struct error *address_connect(const struct address_list *list, uint64_t timeout_ns,
                                           int *ret_socket);
// Writes an address so that address_parse() can read it; "?" if the system cannot name it.
void address_format(const struct address *address, char text[ADDRESS_TEXT]);

#endif
