// SPDX-License-Identifier: GPL-3.0-or-later
// The cluster, by Slurm's commands: sinfo, scontrol, sbatch, squeue, scancel. They are asked for
// named columns, which all versions have. `squeue --json` is not used: of Slurm 22.05 it lists the
// jobs of everybody, with everything that is known of them, whatever it is asked for.
#ifndef ORDEAL_ENGINES_SLURM_CLUSTER_H
#define ORDEAL_ENGINES_SLURM_CLUSTER_H

#include "base/array.h"
#include "base/error.h"
#include "base/words.h"

#include <stdbool.h>
#include <stdint.h>

#define CLUSTER_ARRAY_MOST 1000u // tasks of one array; many clusters take no more

struct cluster {
    const char *partition;       // or NULL
    const struct words *options; // of sbatch
    char *name;                  // of all our jobs
    unsigned array_most;
};

struct cluster_node {
    char *name, *kind; // nodes of one kind have the same processors, memory, features and devices
    unsigned processors;
};
typedef ARRAY(struct cluster_node) cluster_nodes;
void cluster_nodes_deinit(cluster_nodes *nodes);
// The nodes of the partition that are up.
_must_check_ struct error *cluster_find_nodes(const struct cluster *cluster, cluster_nodes *nodes);
// The same from what sinfo prints.
_must_check_ struct error *cluster_read_nodes(const char *text, bool any_partition,
                                              cluster_nodes *nodes);

// Learns the limits of the cluster. An error says why it cannot be used.
_must_check_ struct error *cluster_ask_limits(struct cluster *cluster);

struct cluster_array {
    const char *script, *output; // output: with sbatch's placeholders
    uint64_t base;               // task N gets the piece base + N
    unsigned count;
    const struct words *excluded; // nodes that are not to be used
};
_must_check_ struct error *cluster_submit(const struct cluster *cluster,
                                          const struct cluster_array *array);

enum task_state {
    TASK_WAITING,
    TASK_RUNNING,
    TASK_TAKEN,  // it ended because somebody needed the node, or cancelled it
    TASK_DIED,   // because its node did
    TASK_FAILED, // by itself
    TASK_ENDED,  // well
    TASK_STATES
};
struct cluster_task {
    uint64_t piece;
    uint64_t job, index; // of its array, and in it
    enum task_state state;
};
typedef ARRAY(struct cluster_task) cluster_tasks;
void cluster_tasks_deinit(cluster_tasks *tasks);
// Our tasks that wait or run, and those that ended a few minutes ago.
_must_check_ struct error *cluster_find_tasks(const struct cluster *cluster, cluster_tasks *tasks);
// The same from what squeue prints.
_must_check_ struct error *cluster_read_tasks(const char *text, cluster_tasks *tasks);

// Cancels all our tasks; with `waiting`, those that do not run yet.
_must_check_ struct error *cluster_cancel(const struct cluster *cluster, bool waiting);
// Cancels one task.
_must_check_ struct error *cluster_cancel_task(uint64_t job, uint64_t index);
// Keeps an array's waiting tasks off these nodes.
_must_check_ struct error *cluster_exclude(uint64_t job, const struct words *nodes);

#endif
