// SPDX-License-Identifier: GPL-3.0-or-later
// Parses the words of a definition that say when a server is ready ("port 8080") and how it is
// stopped ("SIGTERM").
#ifndef ORDEAL_DEFINITION_SERVER_WORDS_H
#define ORDEAL_DEFINITION_SERVER_WORDS_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum ready_kind {
    READY_PORT,    // port N, port N/udp: a process listens there
    READY_SOCKET,  // socket PATH: likewise
    READY_FILE,    // file PATH: it is there, and new if it was there before
    READY_OUTPUT,  // output REGEX: a line of its stdout or stderr matches
    READY_COMMAND, // command CMD: exit status 0
    READY_DELAY,   // delay TIME
};
struct ready {
    enum ready_kind kind;
    const char *text; // path, expression or command; points into the parsed text
    unsigned port;
    bool udp;
    uint64_t delay_ns;
};
// Errors say what is allowed.
_must_check_ struct error *ready_parse(const char *text, struct ready *ret_ready);

enum stop_kind {
    STOP_SIGNAL,
    STOP_COMMAND, // given to /bin/sh
    STOP_NONE,    // the server ends by itself when the load is done
};
struct stop {
    enum stop_kind kind;
    int signal;
    const char *command;
};
_must_check_ struct error *stop_parse(const char *text, struct stop *ret_stop);

#endif
