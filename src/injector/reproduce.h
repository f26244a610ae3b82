// SPDX-License-Identifier: GPL-3.0-or-later
// Parts of shell command lines that repeat a shot outside a campaign. Text is appended to `text`.
#ifndef ORDEAL_INJECTOR_REPRODUCE_H
#define ORDEAL_INJECTOR_REPRODUCE_H

#include "base/array.h"
#include "base/error.h"
#include "injector/injector.h"

// "cd DIRECTORY && NAME=VALUE ". Only variables that differ from this process's own are written.
// The directory always is: whoever reads the command later may be elsewhere. Secrets are
// written as "$NAME".
_must_check_ struct error *reproduce_put_place(struct buffer *text,
                                               const struct injector_setup *setup);
// "cd DIRECTORY && NAME=VALUE ordeal run [--sandbox KIND] [-t TIME] ". No time for `timeout_ns` 0.
_must_check_ struct error *
reproduce_put_run(struct buffer *text, const struct injector_setup *setup, uint64_t timeout_ns);
// "--inject RULE" for each rule of a spec.
_must_check_ struct error *reproduce_put_rules(struct buffer *text, const char *spec);
// The workload's command, and a redirection of its stdin.
_must_check_ struct error *reproduce_put_command(struct buffer *text,
                                                 const struct injector_setup *setup);

#endif
