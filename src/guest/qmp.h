// SPDX-License-Identifier: GPL-3.0-or-later
// QEMU's machine protocol: commands with an answer each, and events that come by themselves.
#ifndef ORDEAL_GUEST_QMP_H
#define ORDEAL_GUEST_QMP_H

#include "guest/link.h"

struct guest_events {
    bool shutdown;      // the machine has ended, or is about to
    bool by_guest;      // because of something that the guest did
    char reason[32];    // "guest-reset", "guest-shutdown", "guest-panic", …
    bool panicked;      // the guest said so by its panic device
    bool no_space;      // this machine has no room for what the guest writes to its disk
    char migration[32]; // "completed", "failed", …: how far writing or reading a state is
};

struct guest_qmp {
    struct guest_link link;
    struct guest_events events;
    char answer_error[64]; // of the last error, "" if the last answer was none
    char answer_text[512]; // of the last answer that is one
    unsigned answers;      // that came so far
};

// Says hello on a fresh connection.
_must_check_ struct error *guest_qmp_start(struct guest_qmp *qmp, uint64_t deadline_ns);
// Understands what has come: counts answers, notes events.
_must_check_ struct error *guest_qmp_take(struct guest_qmp *qmp);
// Sends a command and waits for its answer.
_must_check_ struct error *guest_qmp_command(struct guest_qmp *qmp, const char *command,
                                             uint64_t deadline_ns);
// The same with arguments, a JSON object.
_must_check_ struct error *guest_qmp_command_with(struct guest_qmp *qmp, const char *command,
                                                  const char *arguments, uint64_t deadline_ns);
// Gives QEMU a descriptor, which it knows by this name.
_must_check_ struct error *guest_qmp_give(struct guest_qmp *qmp, int descriptor, const char *name,
                                          uint64_t deadline_ns);
// The same with a command of the monitor for people, which needs no escaping in JSON. What it
// prints, mostly nothing, is in `answer_text`.
_must_check_ struct error *guest_qmp_monitor(struct guest_qmp *qmp, const char *command,
                                             uint64_t deadline_ns);

#endif
