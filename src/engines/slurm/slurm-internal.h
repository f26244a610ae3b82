// SPDX-License-Identifier: GPL-3.0-or-later
// What the controller's files of the engine share.
#ifndef ORDEAL_ENGINES_SLURM_SLURM_INTERNAL_H
#define ORDEAL_ENGINES_SLURM_SLURM_INTERNAL_H

#include "base/map.h"
#include "engine/engine.h"
#include "engines/slurm/book.h"
#include "engines/slurm/cluster.h"
#include "engines/slurm/node-facts.h"
#include "engines/slurm/spool.h"

struct slurm {
    struct engine_options options;
    struct spool spool;
    struct cluster cluster;
    struct book book;
    struct node_facts facts;  // of this machine
    struct words excluded;    // nodes that are set aside
    struct map seen;          // hashes of the names of files of results that were read
    char *script, *output;    // paths for sbatch
    unsigned workers;         // tasks that can run at a time
    unsigned kinds;           // of nodes that are being checked
    double work_s, work_jobs; // measured: so many jobs took so long
    uint64_t look_ns, read_ns, nodes_ns, send_ns; // when to do that again
    uint64_t check_ns;                            // since when nodes are checked; 0: that is over
    uint64_t trouble_ns;                          // since when something does not work; 0: all does
    bool fresh;                                   // no earlier controller left anything
    char *failure;
};

// Something did not work that may work later. Frees the error, and tells the user once. Gives up
// when that has gone on for too long.
_must_check_ struct error *slurm_note_trouble(struct slurm *slurm, struct error *error);
void slurm_give_up(struct slurm *slurm, const char *why);
double slurm_job_seconds(const struct slurm *slurm);

// Looks for results, and at the queue: takes what is there, and finds what was lost.
_must_check_ struct error *intake_look(struct slurm *slurm);
_must_check_ struct error *intake_read_results(struct slurm *slurm);

// Counts the nodes that are up and not set aside.
_must_check_ struct error *nodes_count(struct slurm *slurm);
// Submits a small job for each kind of node.
_must_check_ struct error *nodes_begin_check(struct slurm *slurm);
// Ends the check when it is done, and tells a table. `listed`: it is still in the queue.
_must_check_ struct error *nodes_follow_check(struct slurm *slurm, bool listed);
_must_check_ struct error *nodes_set_aside(struct slurm *slurm, const char *node, const char *why);

#endif
