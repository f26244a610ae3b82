// SPDX-License-Identifier: GPL-3.0-or-later
// One life of a server, seen from the job slot: what the driver inside the sandbox is told, when it
// is looked at, and what its report makes of the run.
#ifndef ORDEAL_ENGINE_SERVER_LIFE_H
#define ORDEAL_ENGINE_SERVER_LIFE_H

#include "base/error.h"
#include "definition/definition.h"
#include "engine/server-orders.h"
#include "oracle/outcome.h"

struct server_life;
struct server_life_options {
    const struct definition *definition;
    char *const *environment;        // of the load, ends with NULL
    char *const *server_environment; // likewise
    const char *input;               // or NULL
    uint64_t timeout_ns;             // for every phase; 0: none
    uint32_t rounds;                 // of the load; 0: as they are asked for
    const char *injector, *switches; // as of server_orders; NULL: none
    uint64_t first_switch, switch_count;
};
_must_check_ struct error *server_life_new(const struct server_life_options *options,
                                           struct server_life **ret_life);
void server_life_free(struct server_life *life);

// Makes a step of it; time, input and data are not touched.
void server_life_fill(const struct server_life *life, struct sandbox_step *step);
const struct server_state *server_life_state(const struct server_life *life);
bool server_life_is_late(const struct server_life *life); // its stack is looked at in the next tick
// As of sandbox_step.tick; `pid` is the driver's. `root` as of sandbox_root().
uint64_t server_life_tick(struct server_life *life, pid_t pid, uint64_t ns, const char *root,
                          const struct injected_thread *injected, struct outcome_run *run);
// The next round of the load, with this rule; server_life_enough() ends it and stops the server.
void server_life_ask(struct server_life *life, uint32_t rule);
void server_life_enough(struct server_life *life);
// The part of a load in the streams, to their end if `to_end`. *ret_there is false if it is not
// there yet, or not any more.
_must_check_ struct error *server_life_cut(const struct server_load *load, bool to_end,
                                           const struct sandbox_result *whole,
                                           struct sandbox_result *ret_cut, bool *ret_there);
// The exit status of a load: a client that dies of a signal is told as shells tell it.
int server_load_status(const struct server_load *load);
// When all is over: what run->workload is of the driver becomes the server's and the load's.
_must_check_ struct error *server_life_conclude(const struct server_life *life,
                                                struct outcome_run *run);

#endif
