// SPDX-License-Identifier: GPL-3.0-or-later
// Addresses of the coordinator: HOST:PORT, [IPv6]:PORT, or the path of a Unix socket (with a /).
#ifndef ORDEAL_TRIAL_ADDRESS_H
#define ORDEAL_TRIAL_ADDRESS_H

#include "base/error.h"

#include <stdint.h>
#include <sys/socket.h>

struct address {
    struct sockaddr_storage storage;
    socklen_t size;
};

// A name may stand for several addresses, such as ::1 and 127.0.0.1: they are tried in order.
#define ADDRESS_CHOICES 8
struct address_list {
    struct address choices[ADDRESS_CHOICES];
    size_t count;
};

#define ADDRESS_TEXT 160

// May ask the name service. An error says what is wrong with the text.
_must_check_ struct error *address_parse(const char *text, struct address_list *ret_list);
// A socket that is bound, listening and non-blocking; *ret_address is what it is bound to.
_must_check_ struct error *address_listen(const struct address_list *list, int *ret_socket,
                                          struct address *ret_address);
// A connected non-blocking socket, after at most timeout_ns for each choice.
_must_check_ struct error *address_connect(const struct address_list *list, uint64_t timeout_ns,
                                           int *ret_socket);
// In the spelling address_parse() reads.
void address_format(const struct address *address, char text[ADDRESS_TEXT]);

#endif
