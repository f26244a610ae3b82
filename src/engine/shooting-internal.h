// SPDX-License-Identifier: GPL-3.0-or-later
// A shot on its way through the sandbox, for the files that lead it: shooting-life.c, and of
// servers and of workloads that fork shooting-server.c and shooting-branch.c. shooting.c has what
// they share.
#ifndef ORDEAL_ENGINE_SHOOTING_INTERNAL_H
#define ORDEAL_ENGINE_SHOOTING_INTERNAL_H

#include "engine/server-life.h"
#include "engine/shooting.h"
#include "oracle/sanitizer-report.h"
#include "trial/forking.h"

#include <time.h>

enum step { SETUP, PRETEST, WORKLOAD, POSTTEST, ORACLE, TEARDOWN, STEPS };
_Static_assert(STEPS == 1 + SHOOTING_OTHER_STEPS, "there are other steps");

typedef ARRAY(char *) borrowed; // words of others: only the list is ours; ends with NULL
_must_check_ struct error *shooting_add_word(borrowed *list, char *word);

struct shooting {
    const struct definition *definition;
    const struct injector *injector;
    void *self; // the injector's
    struct sandbox *sandbox;
    borrowed commands[STEPS]; // no items: no such step
    borrowed environment, oracle_environment;
    borrowed ignored;
    char *oracle_variable;
    char *input; // path for stdin, or NULL
    sanitizer_report_paths logs;
    struct trial_directory *trial_directory; // if there is an oracle command
    uint32_t references;                     // runs so far
    bool apart;                              // from the network of the machine
    struct sandbox_traffic traffic;
    const volatile int *stop; // as of struct sandbox_step
    int stop_above;
    void (*lingering)(void *data, const char *names);
    void *lingering_data;
};

// One shot on its way through the sandbox.
struct shot_run {
    struct shooting *shooting;
    struct shot shot;
    struct outcome_run *run;
    struct error *error; // of a callback: the first
    bool blocked;        // setup or pretest failed
    bool begun;          // the injector was
    bool overdue;        // the workload was
    unsigned waits;      // looks in a row that found it waiting for a terminal
    bool collected;      // changes were
    struct timespec start;
    struct sandbox_result results[STEPS]; // in the order of `steps`
    struct sandbox_step steps[STEPS];
    enum step kinds[STEPS];
    size_t count;
    borrowed visible;
    int input;
    char *copy;                 // where the working directory was, if the sandbox had moved it
    struct server_life *server; // if the command is one
    const struct shooting_session *session;
    uint32_t asked, rule; // rounds of it; what is tried in the last one
    int64_t answer;       // of next(), the last
    size_t workload;      // index of that step
    // Of many shots in one:
    const struct shooting_branches *branches;
    size_t branch;       // the one that has ended
    bool branch_refused; // and was none
    enum wire_fork_refusal refusal;
    // Under gdb:
    bool debugged;
    int terminal;
    char **gdb, **gdb_environment;
};

void shot_run_deinit(struct shot_run *shot_run);
void shot_run_keep_error(struct shot_run *shot_run, struct error *error); // if it is the first
struct injected_thread shot_run_last_injected(const struct shot_run *shot_run);
_must_check_ struct error *shot_run_lead(struct shot_run *shot_run, uint64_t timeout_ns);

// Servers. The tick as of sandbox_step.
_must_check_ struct error *shot_run_prepare_server(struct shot_run *shot_run, uint64_t timeout_ns);
uint64_t shot_run_server_started(void *data, pid_t pid);
uint64_t shot_run_server_tick(void *data, pid_t pid, uint64_t ns);
// Of a long-lived one, whose run is over: leaves what one load has done.
_must_check_ struct error *shot_run_narrow(struct shot_run *shot_run);

// Branches.
extern const struct sandbox_branching shot_run_branching;
_must_check_ struct error *shot_run_prepare_branches(struct shot_run *shot_run);
_must_check_ struct error *shot_run_finish_branch(struct shot_run *shot_run,
                                                  struct sandbox *sandbox);

#endif
