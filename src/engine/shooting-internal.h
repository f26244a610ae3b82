// SPDX-License-Identifier: GPL-3.0-or-later
// A shot while it runs in the sandbox, shared by the files that run it: shooting-run.c,
// shooting-server.c for servers, shooting-branch.c for workloads that fork. shooting.c sets up what
// they share.
#ifndef ORDEAL_ENGINE_SHOOTING_INTERNAL_H
#define ORDEAL_ENGINE_SHOOTING_INTERNAL_H

#include "engine/decoder.h"
#include "engine/observed-workload.h"
#include "engine/server-life.h"
#include "engine/shooting.h"
#include "oracle/sanitizer-report.h"
#include "trial/forking.h"

#include <time.h>

// NUMBERS takes a process ID, so that those of the workload are others.
enum step { SETUP, PRETEST, BUILD, NUMBERS, WORKLOAD, POSTTEST, ORACLE, TEARDOWN, STEPS };
_Static_assert(STEPS == 3 + SHOOTING_OTHER_STEPS, "there are other steps");

typedef ARRAY(char *) borrowed; // only the list is ours, not the words; ends with NULL
_must_check_ struct error *shooting_add_word(borrowed *list, char *word);

struct shooting {
    const struct definition *definition;
    const struct injector *injector;
    void *self; // the injector's
    struct sandbox *sandbox;
    struct decoder *decoder;
    bool busy;                // there is a run in the sandbox
    borrowed commands[STEPS]; // empty: no such step
    borrowed environment, oracle_environment;
    borrowed ignored;
    char *oracle_variable;
    char *input;                // path of the workload's stdin, or NULL
    struct words input_command; // of the campaign's input that is set, if it has any
    uint32_t number_of_input;   // its index
    sanitizer_report_paths logs;
    struct trial_directory *trial_directory; // if there is an oracle command
    uint32_t references;                     // reference runs so far, of a server that goes on
    uint32_t numbered;                       // reference runs so far, of other commands
    bool apart;                              // runs have a network of their own
    struct sandbox_traffic traffic;
    const volatile int *stop; // as in struct sandbox_step
    int stop_above;
    void (*lingering)(void *data, const char *names);
    void *lingering_data;
};

// A change of the file system that was made before the workload.
struct made_change {
    char *path;
    enum sandbox_change_kind kind;
    uint64_t size, hash;
    uint32_t mode;
};
struct made_changes { // by path
    ARRAY(struct made_change) items;
};

// One shot while it runs.
struct shot_run {
    struct shooting *shooting;
    struct shot shot;
    struct outcome_run *run;
    struct error *error;              // the first error of a callback
    bool blocked;                     // setup or pretest failed
    bool put;                         // the shot's files have their content
    bool begun;                       // the injector's begin() was called
    bool overdue;                     // the workload timed out
    unsigned waits;                   // how often in a row it was seen waiting for a terminal
    bool collected;                   // changes of files were collected
    struct made_changes before, made; // before the shot's files; by them and by the build
    struct timespec start;
    struct sandbox_result results[STEPS]; // in the order of `steps`
    struct sandbox_step steps[STEPS];
    enum step kinds[STEPS];
    size_t count;
    borrowed visible;
    int input;
    char *copy;                 // where the sandbox copied the working directory to, or NULL
    struct server_life *server; // if the command is a server
    struct observed_workload *observed; // if its behaviour is recorded
    const struct shooting_session *session;
    bool looked;          // for files that are absent while it serves
    uint32_t asked, rule; // rounds asked for; the rule of the last one
    int64_t answer;       // the last one of next()
    size_t workload;      // index of the workload's step
    // Of many shots in one run:
    const struct shooting_branches *branches;
    size_t branch;       // index of the branch that is wanted or has ended
    bool branch_refused; // it was no valid trial
    enum wire_fork_refusal refusal;
    // Under gdb:
    bool debugged;
    int terminal;
    char **gdb, **gdb_environment;
};

void shot_run_deinit(struct shot_run *shot_run);
// Takes the error; only the first one is kept.
void shot_run_keep_error(struct shot_run *shot_run, struct error *error);
struct injected_thread shot_run_last_injected(const struct shot_run *shot_run);
// Runs all steps and fills in *shot_run->run.
_must_check_ struct error *shot_run_execute(struct shot_run *shot_run, uint64_t timeout_ns);

// Puts the shot's files into the sandbox, once.
_must_check_ struct error *shot_files_put(struct shot_run *shot_run);
// After the build, or without one after shot_files_put(): notes what both have changed.
_must_check_ struct error *shot_files_note(struct shot_run *shot_run);
// Whether a change is one of those, and nothing came after it.
bool shot_files_made(const struct shot_run *shot_run, const struct sandbox_change *change);
void shot_files_deinit(struct shot_run *shot_run);

// Servers. The callbacks are those of sandbox_step.
_must_check_ struct error *shot_run_prepare_server(struct shot_run *shot_run, uint64_t timeout_ns);
uint64_t shot_run_server_started(void *data, pid_t pid);
uint64_t shot_run_server_tick(void *data, pid_t pid, uint64_t ns);
// When the run of a long-lived server is over: reduces the result to that of one load.
_must_check_ struct error *shot_run_narrow(struct shot_run *shot_run);

// Branches: shots in forked copies of the workload.
extern const struct sandbox_branching shot_run_branching;
_must_check_ struct error *shot_run_prepare_branches(struct shot_run *shot_run);
_must_check_ struct error *shot_run_finish_branch(struct shot_run *shot_run,
                                                  struct sandbox *sandbox);

#endif
