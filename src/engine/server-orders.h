// SPDX-License-Identifier: GPL-3.0-or-later
// The memory that a job slot shares with the driver of a server inside the sandbox: orders for the
// driver, and its report.
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

struct server_load { // one run of the load
    int32_t status;  // as of wait()
    uint32_t ended;
    uint64_t out_begin, out_end, err_begin, err_end; // its part of the streams, in bytes
};
struct server_round {
    struct server_load load, again; // again: on demand, with the fault switched off
    uint32_t crashed;               // a process crashed, by the runtime's record
    uint32_t damaged;               // the count of its rule was overwritten
    uint64_t fired;                 // how often the rule fired
    uint64_t ns;
};

enum server_look { SERVER_WORKS, SERVER_LATE, SERVER_LOOKED };

struct server_state {
    // SERVER_LATE: the phase's time is over. The driver waits until the slot has looked at the
    // server's stack and sets SERVER_LOOKED.
    _Atomic uint32_t look;
    uint32_t phase; // the current phase, or the last one
    uint32_t late;  // the last phase ended because its time was over
    uint32_t gone;  // or because the server exited, unasked
    uint32_t ended; // the server ended, asked or unasked; status as of wait()
    int32_t status;
    int32_t server; // its PID inside
    uint32_t begun; // rounds begun; in the last one the fault is switched on
    // Rounds on demand: how many are wanted so far (SERVER_ENOUGH: no more), how many are done, and
    // which rule the next one switches on.
    _Atomic uint32_t wanted, done;
    uint32_t rule;
    struct server_round rounds[SERVER_ROUNDS];
    char trouble[512]; // why the driver failed; "" if it did not
    uint64_t orders;   // bytes of orders that follow this struct
};

struct server_orders {
    char *const *server, *const *server_environment; // lists end with NULL
    char *const *load, *const *environment;          // load: NULL if there is none
    const char *ready, *stop;                        // as of server-words.h
    const char *input;                               // file for the load's stdin, or ""
    uint64_t ready_ns, load_ns, stop_ns;
    uint32_t rounds; // of the load; 0: on demand
    // The injector whose `switches` switch faults on, one per round; "": none. The others are
    // arguments of its open().
    const char *injector, *switches;
    uint64_t first_switch, switch_count;
};

// The slot's side: makes the memory. *ret_descriptor is for the driver. The caller closes it, and
// unmaps the memory with server_state_close().
_must_check_ struct error *server_state_open(const struct server_orders *orders,
                                             int *ret_descriptor, struct server_state **ret_state,
                                             size_t *ret_size);
void server_state_close(struct server_state *state, size_t size);

// The driver's side: maps the memory. The caller frees the lists; everything else points into the
// mapping.
_must_check_ struct error *server_orders_read(int descriptor, struct server_state **ret_state,
                                              struct server_orders *ret_orders);

#endif
