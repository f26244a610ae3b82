// SPDX-License-Identifier: GPL-3.0-or-later
// What a job slot and the process that leads a server inside the sandbox share: one piece of
// memory, with the orders for that process and what came of them.
#ifndef ORDEAL_ENGINE_SERVER_ORDERS_H
#define ORDEAL_ENGINE_SERVER_ORDERS_H

#include "base/error.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SERVER_ROUNDS 64 // of the load in one life, at most
#define SERVER_ENOUGH UINT32_MAX

enum server_phase { SERVER_START, SERVER_LOAD, SERVER_STOP, SERVER_DONE };

struct server_load { // once
    int32_t status;  // as of wait()
    uint32_t ended;
    uint64_t out_begin, out_end, err_begin, err_end; // its part of the two streams, in bytes
};
struct server_round {
    struct server_load load, again; // again: rounds on demand, after the fault was switched off
    uint32_t crashed;               // a process did, by the runtime's record
    uint64_t fired;                 // how often the rule did
    uint64_t ns;
};

enum server_look { SERVER_WORKS, SERVER_LATE, SERVER_LOOKED };

struct server_state {
    // SERVER_LATE: the phase's time is over, and the driver waits for somebody who looks at the
    // server's stack and says SERVER_LOOKED.
    _Atomic uint32_t look;
    uint32_t phase; // where it is, or where it ended
    uint32_t late;  // it ended there because its time was over
    uint32_t gone;  // or because the server was gone, unasked
    uint32_t ended; // the server ended, asked or unasked; status as of wait()
    int32_t status;
    int32_t server; // its process's number inside
    uint32_t begun; // rounds that were begun; the fault of the last one is switched on
    // Rounds on demand: how many are wanted by now, SERVER_ENOUGH if no more; which rule is
    // switched on in the next one; how many are done.
    _Atomic uint32_t wanted, done;
    uint32_t rule;
    struct server_round rounds[SERVER_ROUNDS];
    char trouble[512]; // why it could not be led at all; "" if it was
    uint64_t orders;   // bytes that follow
};

struct server_orders {
    char *const *server, *const *server_environment; // end with NULL
    char *const *load, *const *environment;          // load NULL: there is none
    const char *ready, *stop;                        // as of server-words.h
    const char *input;                               // file for the load's stdin, or ""
    uint64_t ready_ns, load_ns, stop_ns;
    uint32_t rounds; // of the load; 0: on demand
    // Faults that are switched on one after the other, round by round, by this injector's
    // `switches`; "": none is. The others are for its open().
    const char *injector, *switches;
    uint64_t first_switch, switch_count;
};

// *ret_descriptor is what the driver gets; the mapping is the caller's to unmap with
// server_state_close().
_must_check_ struct error *server_state_open(const struct server_orders *orders,
                                             int *ret_descriptor, struct server_state **ret_state,
                                             size_t *ret_size);
void server_state_close(struct server_state *state, size_t size);

// The driver's side: the lists are to be freed, everything else is part of the mapping.
_must_check_ struct error *server_orders_read(int descriptor, struct server_state **ret_state,
                                              struct server_orders *ret_orders);

#endif
