// SPDX-License-Identifier: GPL-3.0-or-later
// Writes and reads the orders in the memory shared with a server's driver. The memory has no name,
// so the server cannot find it.
#include "engine/server-orders.h"

#include "base/cleanup.h"
#include "base/cursor.h"
#include "sandbox/message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

static struct error *put_orders(const struct server_orders *orders, struct buffer *out)
{
    static char *const nothing[] = {NULL};
    char *const *const lists[] = {orders->server, orders->server_environment,
                                  orders->load != NULL ? orders->load : nothing,
                                  orders->environment};
    const char *const texts[] = {orders->ready, orders->stop, orders->input, orders->injector,
                                 orders->switches};
    const uint64_t numbers[] = {orders->ready_ns, orders->load_ns,      orders->stop_ns,
                                orders->rounds,   orders->first_switch, orders->switch_count};
    TRY(buffer_append(out, numbers, sizeof numbers));
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        TRY(message_add_list(out, lists[i]));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        TRY(message_add_text(out, texts[i] != NULL ? texts[i] : ""));
    return NULL;
}

struct error *server_state_open(const struct server_orders *orders, int *ret_descriptor,
                                struct server_state **ret_state, size_t *ret_size)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(put_orders(orders, &text));
    size_t size = sizeof(struct server_state) + text.size;
    _cleanup_close_ int memory = memfd_create("server", MFD_CLOEXEC);
    if (memory < 0 || ftruncate(memory, (off_t)size) < 0)
        return error_from_errno(errno, "cannot make memory for a server's life");
    void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (map == MAP_FAILED)
        return error_from_errno(errno, "cannot map memory for a server's life");
    struct server_state *state = map;
    state->orders = text.size;
    memcpy(state + 1, text.data, text.size);
    *ret_descriptor = memory;
    memory = -1;
    *ret_state = state;
    *ret_size = size;
    return NULL;
}

void server_state_close(struct server_state *state, size_t size)
{
    if (state != NULL)
        munmap(state, size);
}

struct error *server_orders_read(int descriptor, struct server_state **ret_state,
                                 struct server_orders *ret_orders)
{
    struct stat facts;
    if (fstat(descriptor, &facts) < 0)
        return error_from_errno(errno, "cannot read orders");
    size_t size = (size_t)facts.st_size;
    void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (map == MAP_FAILED)
        return error_from_errno(errno, "cannot read orders");
    struct server_state *state = map;
    struct cursor cursor = {.data = (const unsigned char *)(state + 1), .size = state->orders};
    uint64_t numbers[6];
    cursor_copy(&cursor, numbers, sizeof numbers);
    _cleanup_free_ char **server = NULL, **own = NULL, **load = NULL, **environment = NULL;
    TRY(message_list(&cursor, &server));
    TRY(message_list(&cursor, &own));
    TRY(message_list(&cursor, &load));
    TRY(message_list(&cursor, &environment));
    struct server_orders orders = {.ready_ns = numbers[0],
                                   .load_ns = numbers[1],
                                   .stop_ns = numbers[2],
                                   .rounds = (uint32_t)numbers[3],
                                   .first_switch = numbers[4],
                                   .switch_count = numbers[5]};
    orders.ready = message_text(&cursor);
    orders.stop = message_text(&cursor);
    orders.input = message_text(&cursor);
    orders.injector = message_text(&cursor);
    orders.switches = message_text(&cursor);
    if (orders.switches == NULL || orders.rounds > SERVER_ROUNDS)
        return error_new("orders are broken");
    orders.server = TAKE(server);
    orders.server_environment = TAKE(own);
    orders.load = load[0] != NULL ? TAKE(load) : NULL;
    orders.environment = TAKE(environment);
    *ret_state = state;
    *ret_orders = orders;
    return NULL;
}
