// SPDX-License-Identifier: GPL-3.0-or-later
// The coordinator of distributed scenarios. Controllers of many nodes ask it about remote(NAME),
// and its rules see the questions of all of them. Protocol: docs/coordinator-protocol.md.
#ifndef ORDEAL_TRIAL_COORDINATOR_H
#define ORDEAL_TRIAL_COORDINATOR_H

#include "base/error.h"
#include "trial/address.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct coordinator;

enum coordinator_event_kind {
    COORDINATOR_JOINED,  // sets `node`
    COORDINATOR_LEFT,    // sets `node`
    COORDINATOR_ANSWER,  // sets everything but `text`
    COORDINATOR_REFUSED, // sets `node`, and `text`: why a peer was turned away
};
// Its texts are valid during the call only.
struct coordinator_event {
    enum coordinator_event_kind kind;
    const char *node; // "" before it has said its name
    const char *text;
    const char *name, *function; // of a question
    uint64_t count, node_count;
    const char *pid;  // as the node wrote it
    const char *rule; // that said yes, or NULL
    bool yes;
};

struct coordinator_options {
    const char *address;
    const char *const *rules; // NAME when EXPRESSION
    size_t rule_count;
    uint64_t seed;
    void (*event)(void *data, const struct coordinator_event *event); // or NULL
    void *data;
};

// Parses the rules and listens on the address. The options' texts must outlive this call only;
// `event` and `data` are used until coordinator_close().
_must_check_ struct error *coordinator_open(const struct coordinator_options *options,
                                            struct coordinator **ret_coordinator);
void coordinator_close(struct coordinator *coordinator);

// The address it listens on, with the real port where the options said port 0.
void coordinator_address(const struct coordinator *coordinator, char text[ADDRESS_TEXT]);
// Serves until the descriptor `stop` becomes readable. Fails if poll() does.
_must_check_ struct error *coordinator_serve(struct coordinator *coordinator, int stop);

// How many nodes have joined, and how often it was asked and said yes.
struct coordinator_totals {
    uint64_t nodes, questions, yes;
};
struct coordinator_totals coordinator_totals(const struct coordinator *coordinator);

#endif
