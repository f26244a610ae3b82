// SPDX-License-Identifier: GPL-3.0-or-later
// Parts of command lines that show a shot again outside a campaign.
#ifndef ORDEAL_INJECTOR_REPRODUCE_H
#define ORDEAL_INJECTOR_REPRODUCE_H

#include "base/array.h"
#include "base/error.h"
#include "injector/injector.h"

// "cd DIRECTORY && NAME=VALUE ", as far as directory and environment are not this process's own.
_must_check_ struct error *reproduce_put_place(struct buffer *text,
                                               const struct injector_setup *setup);
// The workload, and its standard input.
_must_check_ struct error *reproduce_put_command(struct buffer *text,
                                                 const struct injector_setup *setup);

#endif
