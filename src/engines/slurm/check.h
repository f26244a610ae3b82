// SPDX-License-Identifier: GPL-3.0-or-later
// On a node: what all its tasks need, and whether the node can serve.
#ifndef ORDEAL_ENGINES_SLURM_CHECK_H
#define ORDEAL_ENGINES_SLURM_CHECK_H

#include "base/error.h"
#include "engine/engine.h"
#include "engine/shooting.h"
#include "engines/slurm/format.h"
#include "engines/slurm/node-facts.h"
#include "engines/slurm/spool.h"

struct site { // the campaign, on this machine
    struct setup setup;
    struct definition definition;
    const struct injector *injector;
    struct shooting *shooting; // its injector is the leader of the job slots
    struct reference *reference;
};
// Writes what site_load() reads.
_must_check_ struct error *site_save(const struct spool *spool,
                                     const struct engine_options *options);
// The site must stay where it is.
_must_check_ struct error *site_load(const struct spool *spool, struct site *site);
void site_deinit(struct site *site);

// Adds all that is found out about this machine, with a reference run.
_must_check_ struct error *site_check(const struct site *site, struct node_facts *facts);

#endif
