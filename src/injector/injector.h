// SPDX-License-Identifier: GPL-3.0-or-later
// A way of making faults real. One file with one const descriptor, one line in injectors.c; the
// campaign, the verdicts, the store and the reports know nothing else of it.
// docs/HOWTO-add-an-injector.md shows how.
#ifndef ORDEAL_INJECTOR_INJECTOR_H
#define ORDEAL_INJECTOR_INJECTOR_H

#include "base/array.h"
#include "base/error.h"
#include "definition/definition.h"
#include "store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct forking; // trial/forking.h
struct source;  // scenario/source.h

struct injector_parameter {
    const char *name;
    const char *values; // for help: "SPEC...", "transient|persistent"
    const char *help;
    bool required, many;
};

// Strings belong to whoever has the struct; candidate_deinit() frees them. Fields as in
// store_candidate.
struct candidate {
    char *spec, *type, *function, *module, *file, *component, *series;
    unsigned line;
    uint64_t position;
    double weight;    // 1 unless the injector knows better
    uint64_t content; // as in store_candidate
};
void candidate_deinit(struct candidate *candidate);
// As it is stored; the strings stay the candidate's.
struct store_candidate candidate_row(const struct candidate *candidate, int64_t campaign,
                                     uint64_t number, bool selected);

// One shot: one run of the workload, with a fault (spec) or without (spec NULL: a reference run, of
// which the injector may record what it needs to know).
struct shot {
    const char *spec;
    uint64_t seed;
    bool follow;              // of a shot with a fault: record what is called in consequence
    char *const *command;     // the workload's
    char *const *environment; // the workload's without any injector
    // Instead of a spec: several that are all off at first, to be switched on one by one by who
    // leads the shot.
    const char *const *switched;
    size_t switched_count;
    // Set by prepare(); they live until the next shot or close().
    const char *switches; // the file that has their states (struct wire_rule_state), from here on
    uint64_t first_switch;
    char *const *use_environment; // to start the command with; NULL: `environment`
    const char *const *visible;   // files for sandbox_live(), or NULL
};

struct fork_shot { // one of many
    const char *spec;
    uint64_t seed;
};

struct injection { // one activation
    char *fault, *function, *module, *file, *symbol, *program, *stack;
    uint64_t offset, occurrence;
    unsigned line;
    uint32_t rule; // of the spec: 0, or 1 for the second of two faults
    uint32_t process, thread;
    double seconds;
};
struct observation { // what the injector saw
    uint64_t activations;
    ARRAY(struct injection) injections; // the first ones, at most a hundred
    uint64_t plan_hash;
    char *crash;       // first process that died of a signal: "SIGSEGV at 0x0 in PROGRAM", or NULL
    char *crash_stack; // frames, one per line, innermost first, or NULL
    char *crash_key;   // the same without addresses, for grouping; or NULL
    bool crash_in_command; // it was the command itself and not something it started
    char *note;            // what the user should know, or NULL
};
void observation_deinit(struct observation *observation);
// Leaves only injections by this rule, which fired so often.
void observation_keep_rule(struct observation *observation, uint32_t rule, uint64_t fired);
// The first activation of another of the spec's faults than the first one's, or NULL.
const struct injection *injection_second(const struct observation *observation);

// The thread that a fault was injected into last, by its numbers inside the sandbox; 0: none.
struct stricken {
    pid_t process, thread;
};

// Many faults in one run of the workload, which forks where each is injected: trial/forking.h.
struct injector_forks {
    // As prepare() of the injector. `suits` says for each of the shots whether it is among them.
    struct error *(*prepare)(void *self, struct shot *shot, const struct fork_shot *shots,
                             size_t count, bool *suits);
    struct forking *(*forking)(void *self); // from begin() until observe()
    // Which of the shots a rule stands for.
    size_t (*which)(void *self, uint32_t rule);
    // Of the child that has ended.
    struct error *(*observe)(void *self, const char *root, size_t index,
                             struct observation *ret_observation);
};

struct injector {
    const char *name, *summary;
    const struct injector_parameter *parameters; // ends with a NULL name
    // What is wrong with a value of a parameter by itself, at its place in the file; or NULL.
    struct error *(*check)(const char *parameter, const struct source *source);
    // Checks the parameters. Nothing has run yet.
    struct error *(*open)(const struct definition *definition, void **ret_self);
    void (*close)(void *self);

    // Before the command is started.
    struct error *(*prepare)(void *self, struct shot *shot);
    // Before begin(): the workload knows what is below `to`, its directory, as below `from`, a
    // copy. Places are told by the names that the user knows. NULL if the injector knows no paths.
    struct error *(*moved)(void *self, const char *from, const char *to);
    // Just before the start; `root` as of sandbox_root().
    struct error *(*begin)(void *self, const char *root); // or NULL
    // As in sandbox_step; NULL if the injector does nothing from outside.
    uint64_t (*started)(void *self, pid_t pid);
    uint64_t (*tick)(void *self, pid_t pid, uint64_t ns);
    // While the workload runs; NULL if there is no telling.
    struct stricken (*stricken)(void *self);
    // When all processes are gone, `root` still being there.
    struct error *(*observe)(void *self, const char *root, struct observation *ret_observation);

    // After the reference runs: all candidates, in a fixed order. `add` takes the candidate's
    // strings.
    struct error *(*candidates)(void *self,
                                struct error *(*add)(void *data, struct candidate *candidate),
                                void *data);
    // After that: what of the definition has no candidate, and what was left out; or NULL.
    struct error *(*remarks)(void *self, struct error *(*say)(void *data, const char *sentence),
                             void *data);
    // Whether faults are wanted in the code that handles other faults; NULL: there is no such
    // thing.
    bool (*is_deep)(void *self);
    // After reference runs and shots with `follow`: candidates that are one of these shots and a
    // second fault, in what only it made the workload call.
    struct error *(*deeper)(void *self,
                            struct error *(*add)(void *data, struct candidate *candidate),
                            void *data);
    // For sweeps: the candidate after `last` in its series. NULL: this injector cannot sweep.
    struct error *(*next)(void *self, const struct candidate *last, struct candidate *ret_next);
    // A command line that shows a shot outside any campaign, shell-quoted; or NULL. `timeout_ns` is
    // the time to end it after, 0: none.
    struct error *(*reproduce)(void *self, const char *spec, uint64_t seed, uint64_t timeout_ns,
                               const struct definition *definition, char **ret_command);
    // After prepare(): what runs the shot under gdb, stopped at the injection, instead of the
    // command; to be freed with debug_list_free(). `input` is a path for the command's stdin;
    // `batch` as of debug.h. NULL if there is no such thing.
    struct error *(*debug)(void *self, const struct shot *shot, const char *input, bool batch,
                           char ***ret_arguments, char ***ret_environment);
    // Whether a reference run so far took a port, as far as that can be told; or NULL.
    bool (*takes_ports)(void *self);
    // Between reference runs: what would take too long within one. Or NULL.
    struct error *(*learn)(void *self);
    // What was measured besides verdicts, into the store: after the reference runs and in the end;
    // and back when a campaign is gone on with. NULL if there is no such thing.
    struct error *(*keep)(void *self, struct store *store, int64_t campaign);
    struct error *(*recall)(void *self, struct store *store, int64_t campaign);
    // In a job slot: measures what the controller's injector measures. Or NULL.
    void (*join)(void *self, const void *leader);
    const struct injector_forks *forks; // NULL: it cannot do that
};

extern const struct injector *const injectors[];        // ends with NULL
const struct injector *injector_find(const char *name); // or NULL

#endif
