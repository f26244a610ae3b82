// Addresses of the coordinator: HOST:PORT, [IPv6]:PORT, or the path of a Unix socket (with a /).
#ifndef ORDEAL_CAMPAIGN_ADDRESS_H
#define ORDEAL_CAMPAIGN_ADDRESS_H

#include "base/error.h"

#include <sys/socket.h>

struct address {
    struct sockaddr_storage storage;
    socklen_t size;
};

#define ADDRESS_TEXT 160

// May ask the name service. An error says what is wrong with the text.
struct error *address_parse(const char *text, struct address *ret_address);
// A socket that is bound, listening and non-blocking. *address becomes what it is really bound to.
struct error *address_listen(struct address *address, int *ret_socket);
// A connected non-blocking socket, after at most timeout_ms.
struct error *address_connect(const struct address *address, int timeout_ms, int *ret_socket);
// In the spelling address_parse() reads.
void address_format(const struct address *address, char text[ADDRESS_TEXT]);

#endif
