// SPDX-License-Identifier: GPL-3.0-or-later
// The process that leads a server's life, inside: its children, what they print, and waiting for
// something until a deadline. One thread, one loop.
#ifndef ORDEAL_ENGINE_SERVER_DRIVER_H
#define ORDEAL_ENGINE_SERVER_DRIVER_H

#include "engine/server-orders.h"
#include "engine/server-probe.h"
#include "injector/injector.h"

#include <regex.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define LINE_MOST 4096 // of the server's, for a match

struct stream { // a pipe whose content is passed on
    int in, out;
    int to;
    uint64_t passed;
};

struct child {
    pid_t pid; // 0: none
    bool gone;
    int status;
};

struct driver {
    struct server_state *state;
    struct server_orders orders;
    struct probe probe;
    struct stop stop;
    struct stream load_output, other_output; // the load's stdout; everything else
    int signals;
    struct child server, helper; // helper: the load, or a command that asks or stops
    bool ready;
    uint64_t ready_at_ns, listening_at_ns, quiet_at_ns; // 0: not yet, not now
    regex_t expression;                                 // of READY_OUTPUT
    bool matched;
    char line[LINE_MOST];
    size_t line_size;
    uint64_t nap_ns;
    const struct injector_switches *switching; // NULL: no fault is switched on
    void *switches;                            // its own
    uint32_t crashes;                          // so far
};

_must_check_ struct error *driver_open_stream(struct stream *stream, int to);

// Passes on what there is; notes which children have ended.
void driver_pump(struct driver *driver);
void driver_reap(struct driver *driver);
// Until something happens, at most nap_ns (0: a second) or until the deadline.
void driver_nap(struct driver *driver, uint64_t deadline_ns);

enum driver_end { HELD, GONE, LATE };
// Until `holds`, the server's end (unless `alone` says that it does not matter) or the deadline.
enum driver_end driver_await(struct driver *driver, bool (*holds)(struct driver *), uint64_t ns,
                             bool alone);

_must_check_ struct error *driver_run(struct driver *driver, char *const *command,
                                      char *const *environment, int input, struct child *ret_child,
                                      bool quiet);
// As the helper.
_must_check_ struct error *driver_run_shell(struct driver *driver, const char *text, bool quiet);

bool driver_is_alone(struct driver *driver);
void driver_end_all(struct driver *driver);

#endif
