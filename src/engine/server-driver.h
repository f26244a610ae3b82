// SPDX-License-Identifier: GPL-3.0-or-later
// The process inside the sandbox that runs a server: its children, what they print, and waiting for
// a condition until a deadline. One thread, one loop.
#ifndef ORDEAL_ENGINE_SERVER_DRIVER_H
#define ORDEAL_ENGINE_SERVER_DRIVER_H

#include "engine/server-orders.h"
#include "engine/server-probe.h"
#include "injector/injector.h"

#include <regex.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define LINE_MOST 4096 // bytes of a line of the server's that are matched

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
    struct stream load_output, other_output; // the load's stdout; all other output
    int signals;
    struct child server, helper; // helper: the load, or the command of `ready` or `stop`
    bool ready;
    uint64_t ready_at_ns, listening_at_ns, quiet_at_ns; // 0: not yet, or not any more
    regex_t expression;                                 // of READY_OUTPUT
    bool matched;
    char line[LINE_MOST];
    size_t line_size;
    uint64_t nap_ns;
    const struct injector_switches *switching; // NULL: faults are not switched
    void *switches;                            // the state of `switching`
    uint32_t crashes;                          // so far
};

// Makes a pipe whose content goes to the descriptor `to`.
_must_check_ struct error *driver_open_stream(struct stream *stream, int to);

// driver_pump() passes on the output that is there. driver_reap() notes which children have ended.
void driver_pump(struct driver *driver);
void driver_reap(struct driver *driver);
// Sleeps until something happens, at most nap_ns (0: a second) and not beyond the deadline.
void driver_nap(struct driver *driver, uint64_t deadline_ns);

enum driver_end { HELD, GONE, LATE };
// Waits until `holds` returns true (HELD), the server ends (GONE; not if `alone`) or `ns` are over
// (LATE).
enum driver_end driver_await(struct driver *driver, bool (*holds)(struct driver *), uint64_t ns,
                             bool alone);

// Starts a command. `input` negative: /dev/null. `quiet`: its output is dropped.
_must_check_ struct error *driver_run(struct driver *driver, char *const *command,
                                      char *const *environment, int input, struct child *ret_child,
                                      bool quiet);
// Runs a shell command as the helper.
_must_check_ struct error *driver_run_shell(struct driver *driver, const char *text, bool quiet);

// driver_is_alone(): no child is left. driver_end_all() kills all children and waits for them.
bool driver_is_alone(struct driver *driver);
void driver_end_all(struct driver *driver);

#endif
