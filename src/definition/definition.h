// SPDX-License-Identifier: GPL-3.0-or-later
// The definition of a campaign: what a YAML file (docs/ordeal-campaign.5) and flags say; flags win.
// A campaign can be run, resumed and replayed from it alone. The struct owns its strings.
#ifndef ORDEAL_DEFINITION_DEFINITION_H
#define ORDEAL_DEFINITION_DEFINITION_H

#include "base/array.h"
#include "base/error.h"
#include "base/words.h"
#include "injector/injector.h"
#include "injector/inputs.h"
#include "sandbox/sandbox.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum selection_kind { SELECT_ALL, SELECT_SAMPLE, SELECT_SWEEP };
enum selection_order { ORDER_RANDOM, ORDER_LISTED };
struct selection {
    enum selection_kind kind;
    uint64_t sample;      // how many, in all or per group
    char *per;            // "type", "function", "module", "file", "component"; NULL: in all
    char *weights_file;   // "FAULT-TYPE WEIGHT" lines; NULL: uniform
    uint64_t most;        // of a sweep: the last position to try; 0: 10000
    uint64_t repeat;      // trials per candidate, at least 1
    bool until_activated; // no more of them once the fault was activated
    char *since;          // path of a store: leave out what it tried in unchanged code
    char *since_revision; // of Git: leave out calls in functions that have not changed; NULL: none
    enum selection_order order; // of trials: at random, or as the injector lists candidates
};

struct filter {    // replaces text in outputs before they are compared
    char *pattern; // POSIX extended
    char *replacement;
};

struct oracle {
    uint32_t references; // fault-free runs, at least 1
    uint64_t spread_ns;  // least time between the first and the last of them
    uint32_t status;     // exit status that they must have
    bool compare_stdout, compare_stderr, compare_files;
    bool behaviour;         // compare visible system calls, too
    char *invocations;      // likewise, of each start of this program alone; or NULL
    struct words interface; // libraries: compare what they give their user, too; or empty
    struct words ignored;   // fnmatch patterns of paths
    ARRAY(struct filter) filters;
    struct words command;      // the user's oracle, or empty
    double timeout_factor;     // a trial's timeout is this × mean time of the references
    uint64_t timeout_floor_ns; // but at least
};

static inline bool oracle_has_behaviour(const struct oracle *oracle)
{
    return oracle->behaviour || oracle->invocations != NULL;
}

struct service {       // the command is a server
    char *ready;       // when it is ready, see server-words.h; NULL: it is no server
    char *stop;        // how it is stopped, likewise
    struct words load; // drives it; may be empty
    uint64_t grace_ns; // time to stop; 0: a trial's timeout
    bool long_lived;   // many faults in one life
};

// Which findings count for the exit status, and which are shown first; see campaign/scope.h.
enum scope_choice {
    SCOPE_MINE_FIRST, // those in the user's own code count, the others are listed after them
    SCOPE_ONLY_MINE,  // the others are not shown
    SCOPE_ALL         // all alike
};
enum forks { FORKS_AUTO, FORKS_NEVER, FORKS_ALWAYS };
enum network { NETWORK_AUTO, NETWORK_HOST, NETWORK_PRIVATE };

struct definition {
    char *name;
    struct words command, setup, teardown, pretest, posttest; // argv each; may be empty
    char *directory;                                          // absolute
    struct words environment;                                 // complete, "NAME=VALUE"
    struct words set_variables; // names of those that the definition sets itself
    struct words
        missing_variables; // names of those that it takes from this process, which has none
    struct words secret;   // patterns of names whose values are never stored
    char *input;           // file for stdin, or NULL
    struct inputs inputs;
    struct service service;
    char *injector;
    struct parameters parameters;
    struct selection selection;
    struct oracle oracle;
    enum sandbox_kind sandbox;
    enum network network; // AUTO: see campaign/preparation-network.h
    struct sandbox_limits limits;
    char *engine;             // its name: engine/engine.h
    struct {                  // of an engine that uses other machines
        char *directory;      // that all of them share; NULL: beside the store
        char *partition;      // NULL: the usual one
        struct words options; // further words for the command that submits jobs
    } cluster;
    enum forks forks; // whether trials fork where faults are injected
    uint32_t jobs;    // 0: as many as there are processors
    uint64_t seed;
    uint64_t time_budget_ns; // 0: none
    uint64_t max_trials;     // 0: none
    uint64_t stop_after;     // findings; 0: never
    double until_interval; // stop when the failure proportion's interval extends at most so far to
                           // either side; 0: never
    bool confirm;          // run each new finding's trial twice more
    enum scope_choice scope;
    char *origin; // where settings come from besides files and flags: not a field of files; or NULL
    struct words mine; // fnmatch patterns of programs and modules; empty: see campaign/scope.h
};

// Sets everything to its default. Directory and environment are this process's own.
_must_check_ struct error *definition_new(struct definition *ret_definition);
void definition_deinit(struct definition *definition);
// Reads a file; its fields replace those of the definition. Errors show file, line and a caret, and
// name what is allowed.
_must_check_ struct error *definition_read(struct definition *definition, const char *path);
// Likewise from memory, as stored.
_must_check_ struct error *definition_parse(struct definition *definition, const char *name,
                                            const char *text, size_t size);
// Writes YAML from which definition_parse() reads the same definition.
_must_check_ struct error *definition_write(const struct definition *definition,
                                            struct buffer *text);
// Likewise for the store, without secrets: of variables that the definition does not set, or marks
// as secret, only the names, unless the values are public (base/secrets.h). definition_parse()
// takes their values from this process's environment.
_must_check_ struct error *definition_write_stored(const struct definition *definition,
                                                   struct buffer *text);
// Likewise for people: writes only variables that differ from this process's environment.
_must_check_ struct error *definition_write_brief(const struct definition *definition,
                                                  struct buffer *text);
// Makes the secrets of the definition and of this process known to base/secrets.h.
_must_check_ struct error *definition_learn_secrets(const struct definition *definition);
// Puts values in place of "<secret:NAME>" in all texts. An error names a variable that has none.
_must_check_ struct error *definition_restore_secrets(struct definition *definition);
// Whether the store may hold the value of this variable.
bool definition_keeps_variable(const struct definition *definition, const char *name, size_t size);
// Names a variable that the definition sets, with a name that looks secret, and does not mark.
// NULL: there is no such variable.
const char *definition_unmarked_secret(const struct definition *definition);
// Names a variable that the definition takes from this process though this has none; with
// `secret_only`, only if it is marked as secret. NULL: there is no such variable.
const char *definition_missing_variable(const struct definition *definition, bool secret_only);
bool definition_is_server(const struct definition *definition);
// Checks what can be checked before anything runs.
_must_check_ struct error *definition_check(const struct definition *definition);
// Checks a selection alone: that its fields go together, and that its file of weights can be read.
_must_check_ struct error *selection_check(const struct selection *selection);

// Sets one field, for flags. The key is that of the file, or its end: "oracle.references",
// "timeout.factor".
_must_check_ struct error *definition_set(struct definition *definition, const char *key,
                                          const char *value);
_must_check_ struct error *definition_add_parameter(struct definition *definition, const char *name,
                                                    const char *value);
// Sets the injector. If it was another one before, its parameters are dropped.
_must_check_ struct error *definition_use_injector(struct definition *definition, const char *name,
                                                   size_t size);
// The definition's injector; an error if it names none.
_must_check_ struct error *definition_injector(const struct definition *definition,
                                               const struct injector **ret_injector);
// What an injector may know. It is valid as long as the definition.
struct injector_setup definition_setup(const struct definition *definition);

#endif
