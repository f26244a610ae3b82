// SPDX-License-Identifier: GPL-3.0-or-later
// Looks up an address and uses the list that it may not have got.
#include "common.h"

#include <netdb.h>
#include <sys/socket.h>

int main(void)
{
    struct addrinfo *list = NULL, hints = {.ai_flags = AI_NUMERICHOST};
    int failed = getaddrinfo("127.0.0.1", "80", &hints, &list); // SEEDED
    CHECK(failed == 0, "127.0.0.1");
    (void)failed;
    printf("family %d\n", list->ai_family);
    freeaddrinfo(list);
    return finish();
}
