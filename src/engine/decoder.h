// SPDX-License-Identifier: GPL-3.0-or-later
// Has the installed programs of oracle/format.h read what a run left behind. They get the open file
// as stdin, and run in a sandbox of their own: what they read was written by a failing program, and
// may be made to harm them. That sandbox has a private view of files, whatever the trials have.
// Only where the machine refuses one, it has nothing but limits of time, memory and file sizes.
#ifndef ORDEAL_ENGINE_DECODER_H
#define ORDEAL_ENGINE_DECODER_H

#include "base/error.h"
#include "oracle/outcome.h"
#include "oracle/reference.h"
#include "sandbox/sandbox.h"

struct decoder;
// The sandbox is made when it is first needed.
_must_check_ struct error *decoder_new(struct decoder **ret_decoder);
void decoder_free(struct decoder *decoder);

// Fills in `decoding` of the run's artifacts that have a format: of those that the judgement
// depends on, or of all if `reference` is NULL. What cannot be found out is DECODING_NONE.
_must_check_ struct error *decoder_run(struct decoder *decoder, struct outcome_run *run,
                                       const struct reference *reference);

#endif
