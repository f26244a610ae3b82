// SPDX-License-Identifier: GPL-3.0-or-later
// One life of a server, seen from the job slot: what the driver inside the sandbox is told, when
// the slot looks at the server, and what the run's outcome is.
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
    char *const *server_command;     // NULL: that of the definition
    const char *input;               // or NULL
    uint64_t timeout_ns;             // of every phase; 0: no limit
    uint32_t rounds;                 // of the load; 0: on demand
    const char *injector, *switches; // as of server_orders; NULL: none
    uint64_t first_switch, switch_count;
};
// The definition must outlive it; everything else is copied.
_must_check_ struct error *server_life_new(const struct server_life_options *options,
                                           struct server_life **ret_life);
void server_life_free(struct server_life *life);

// Fills in a step that runs it. `started`, `tick` and `data` are left to the caller.
void server_life_fill(const struct server_life *life, struct sandbox_step *step);
const struct server_state *server_life_state(const struct server_life *life);
// Whether its time is over, so that the next tick looks at its stack.
bool server_life_is_late(const struct server_life *life);
// For sandbox_step.tick; `pid` is the driver's. `root` is what sandbox_root() returns. Puts the
// stack of a late server into the run.
uint64_t server_life_tick(struct server_life *life, pid_t pid, uint64_t ns, const char *root,
                          const struct injected_thread *injected, struct outcome_run *run);
// server_life_ask() asks for the next round of the load, with this rule switched on.
// server_life_enough() asks for the end.
void server_life_ask(struct server_life *life, uint32_t rule);
void server_life_enough(struct server_life *life);
// Copies the part of the streams that belongs to a load. With `to_end`, stderr is taken to its end.
// *ret_there is false if the part has not arrived yet, or was not kept.
_must_check_ struct error *server_life_cut(const struct server_load *load, bool to_end,
                                           const struct sandbox_result *whole,
                                           struct sandbox_result *ret_cut, bool *ret_there);
// The exit status of a load. If a signal killed it, 128 plus the signal, as in a shell.
int server_load_status(const struct server_load *load);
// When the run is over: turns run->workload, which is about the driver, into the result of the
// server and the load.
_must_check_ struct error *server_life_conclude(const struct server_life *life,
                                                struct outcome_run *run);

#endif
