// SPDX-License-Identifier: GPL-3.0-or-later
// The contract between injectors and the rest of Ordeal. An injector knows one way to inject
// faults. It is one folder below src/injectors/ with one const descriptor. Engine, oracle,
// campaign, reports and command line use nothing else of it. docs/HOWTO-add-an-injector.md shows
// how to write one.
#ifndef ORDEAL_INJECTOR_INJECTOR_H
#define ORDEAL_INJECTOR_INJECTOR_H

#include "base/array.h"
#include "base/error.h"
#include "injector/candidate.h"
#include "injector/observation.h"
#include "injector/parameters.h"
#include "store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct forking; // trial/forking.h
struct inputs;  // injector/inputs.h

// Receives one remark about a campaign. The injector fills in kind, about and text; the strings
// stay the injector's.
typedef struct error *remark_add(void *data, const struct store_remark *remark);
struct source; // scenario/source.h

// What an injector may know about its campaign. It may copy the struct. The pointers lead into the
// definition, which outlives the injector.
struct injector_setup {
    const struct parameters *parameters;
    const struct words *command, *environment; // the workload's
    const char *directory;                     // in which it runs, absolute
    const char *input;                         // file for its stdin, or NULL
    const struct inputs *inputs;               // that it is run with; there may be none
    const char *sandbox; // what `ordeal run --sandbox` takes; NULL: there is none
    bool has_setup;      // a setup command runs first; it may build the program
    uint64_t seed;
    uint32_t references; // number of fault-free runs
    bool compares_code;  // runs with and without a fault are compared instruction by instruction:
                         // but for the fault, both must execute the same code
    bool compares_behaviour;  // what runs do is recorded, and how long they take
    bool sweeps;              // only the first candidate of each series is wanted
    uint64_t sample;          // how many candidates are chosen; 0: it is no sample
    const char *weights_file; // of fault types, or NULL
};

// A file that has another content in one shot.
struct shot_file {
    const char *path; // absolute, as the user knows it
    const struct buffer *content;
};

// One shot is one run of the workload. With a spec it has that fault. Without one (NULL) it is a
// reference run, and the injector may record what it needs to know.
struct shot {
    const char *spec;
    uint64_t seed;
    uint32_t input;           // index of the campaign's input; 0 without any
    bool follow;              // with a fault: record which calls the program makes after it
    char *const *command;     // the workload's
    char *const *environment; // the workload's without any injector
    // Several specs instead of one. All are off at the start; the process that leads the shot
    // switches them on one by one (struct injector_switches).
    const char *const *switched;
    size_t switched_count;
    // Set by prepare(). They are valid until the next shot or close().
    const char *switches; // for injector_switches.open()
    uint64_t first_switch;
    char *const *use_environment; // to start the command with; NULL: `environment`
    bool fixed_addresses;         // the workload's addresses are not random
    char *const *use_command;     // to start instead of `command`, which it starts; NULL: that one
    const char *const *visible;   // files for sandbox_run(), or NULL
    // Files that get another content in the sandbox, just before `build` or, without it, before
    // the workload. They must exist; the user's own stay as they are. Needs a private view of them.
    const struct shot_file *files;
    size_t file_count;
    // A command that runs in the sandbox between pretest and workload, with `environment`; or NULL.
    // What it changes and what `files` change is no result of the shot.
    char *const *build;
};

struct fork_shot { // one of many
    const char *spec;
    uint64_t seed;
};

// ---- Optional abilities ----

// The injector acts on the workload from outside. Both functions are those of sandbox_step.
struct injector_outside {
    uint64_t (*started)(void *self, pid_t pid);
    uint64_t (*tick)(void *self, pid_t pid, uint64_t ns);
};

// Many faults in one run: the workload forks at each injection, and the child gets the fault. See
// trial/forking.h.
struct injector_forks {
    // Why this campaign cannot fork, to follow "trials are not forked: "; NULL if it can.
    const char *(*obstacle)(void *self);
    // Like prepare() of the injector. Sets `suits` for each shot: whether it takes part in this
    // run.
    _must_check_ struct error *(*prepare)(void *self, struct shot *shot,
                                          const struct fork_shot *shots, size_t count, bool *suits);
    struct forking *(*forking)(void *self); // from begin() until observe()
    // The index of the shot that a rule belongs to.
    size_t (*which)(void *self, uint32_t rule);
    // Like observe() of the injector, for the child that has ended.
    _must_check_ struct error *(*observe)(void *self, const char *root, size_t index,
                                          struct observation *observation);
};

// Many faults in one life of a server. All functions but fits() are called by the process that
// drives the server. It has no instance of the injector. `rule` is an index of shot.switched.
struct injector_switches {
    // Whether a fault can stay switched off in a running server while others are tried.
    bool (*fits)(const char *spec);
    // Called before the server starts. Switches all faults off.
    _must_check_ struct error *(*open)(const char *file, uint64_t first, uint64_t count,
                                       void **ret_switches);
    void (*close)(void *switches);
    void (*set)(void *switches, uint32_t rule, bool on);
    uint64_t (*fired)(const void *switches, uint32_t rule); // how often, so far
    // Number of processes that a signal has killed so far. It includes workers that the server
    // silently replaces.
    uint32_t (*crashes)(const void *switches);
};

// Second faults: faults in the code that handles other faults.
struct injector_second_faults {
    bool (*wanted)(void *self);
    // Identifies the place of a fault. The same code handles all faults of one place.
    uint64_t (*place)(const char *spec);
    // Called after the reference runs and the shots with `follow`. Each candidate is the fault of
    // one such shot and a second fault, in a call that only the first fault causes.
    _must_check_ struct error *(*candidates)(void *self, candidate_add *add, void *data);
};

// Proof that a fault can happen, which was only guessed. A proof is a series of shots; each shows
// the finding by what would cause the fault, or does not.
struct proof_subject {
    const char *spec;       // of the fault
    const char *library;    // that defines its function: a path, or NULL
    enum store_basis basis; // of its candidate
};
struct proof_result {
    enum store_proof proof;
    unsigned tries;
    // Of a cause, as in store_finding; they belong to the prover.
    const char *call, *error, *caller, *returned;
    bool lasting;
};
struct injector_proof {
    _must_check_ struct error *(*begin)(const struct proof_subject *subject, void **ret_prover);
    void (*end)(void *prover);
    // Says what to shoot next. *ret_spec is NULL if nothing is left to try; otherwise the caller
    // frees it and calls take().
    _must_check_ struct error *(*next)(void *prover, char **ret_spec);
    // What came of it. `shows`: the finding.
    _must_check_ struct error *(*take)(void *prover, const struct observation *observation,
                                       bool shows);
    // After the last shot.
    struct proof_result (*result)(const void *prover);
};

// A sweep: try one occurrence after the other until the fault is no longer hit.
struct injector_sweep {
    // Makes the candidate after `last` in its series.
    _must_check_ struct error *(*next)(void *self, const struct candidate *last,
                                       struct candidate *ret_next);
};

// Looking at a shot in gdb.
struct injector_debugger {
    // Called after prepare(). Returns the command line that runs the shot under gdb and stops at
    // the injection. Free both lists with debug_list_free(). `input` is a path for the command's
    // stdin; `batch` is the one of debug.h.
    _must_check_ struct error *(*words)(void *self, const struct shot *shot, const char *input,
                                        bool batch, char ***ret_arguments, char ***ret_environment);
};

// What the injector learns besides verdicts. Each function may be NULL.
struct injector_learning {
    // Called between reference runs, for work that would take too long within one.
    _must_check_ struct error *(*learn)(void *self);
    // Whether a reference run bound a port, as far as the injector can tell.
    bool (*takes_ports)(void *self);
    // save() writes measurements to the store, after the reference runs and at the end. load()
    // reads them back when a campaign is resumed.
    _must_check_ struct error *(*save)(void *self, struct store *store, int64_t campaign);
    _must_check_ struct error *(*load)(void *self, struct store *store, int64_t campaign);
    // Called in a job slot: add measurements to those of `leader`, the controller's injector.
    void (*join)(void *self, const void *leader);
};

// What texts in the store mean. These need no instance. Each function may be NULL.
struct injector_stored {
    // Splits a fault (as in struct injection) into the function that it is injected into and the
    // error, or "". If NULL, callers use the fault's first word and no error.
    void (*split)(const char *fault, char function[128], char error[32]);
    // Describes an injection for `ordeal show`. If NULL, callers show the call, its process and
    // place.
    _must_check_ struct error *(*describe)(const struct store_injection *row, struct buffer *text);
};

// A command-line option that sets a parameter. Using it also chooses the injector.
struct injector_option {
    const char *name; // without "--"
    char letter;      // or 0
    bool test;        // of `ordeal test`, otherwise of `ordeal campaign`
    bool file;        // its argument is a file's name
    const char *parameter;
    const char *value;    // what it sets, of an option without argument; or NULL
    const char *argument; // what the help calls its argument; or NULL
    const char *help;
};

// A value of a parameter.
struct injector_setting {
    const char *parameter, *value;
};

// ---- The descriptor ----

struct injector {
    const char *name, *summary;
    const struct injector_parameter *parameters; // ends with a NULL name
    const struct injector_option *options;       // ends with a NULL name; or NULL
    // Defaults for `ordeal test`; ends with a NULL parameter. `ordeal test` uses the first injector
    // that has them and that serves the command. NULL: not for `ordeal test`.
    const struct injector_setting *test_settings;
    // Why the injector cannot serve a command although another one may; NULL: it can, or nothing
    // is known. The caller frees the text. May be NULL.
    char *(*unfit)(const char *command);
    // Checks one value of a parameter on its own. Errors point at its place in the file. May be
    // NULL.
    _must_check_ struct error *(*check)(const char *parameter, const struct source *source);
    // Makes an instance and checks the parameters. Nothing has run yet.
    _must_check_ struct error *(*open)(const struct injector_setup *setup, void **ret_self);
    void (*close)(void *self);

    // The input that a spec belongs to, counted from 1; 0: to any, so that one is drawn for each
    // trial. NULL: the injector serves one input only.
    uint32_t (*input)(const char *spec);
    // Called before the command starts.
    _must_check_ struct error *(*prepare)(void *self, struct shot *shot);
    // Called before begin() when the workload runs in a copy: it sees the files of its directory
    // `to` below `from`. Observations must use the names below `to`, which the user knows. NULL if
    // the injector handles no paths.
    _must_check_ struct error *(*moved)(void *self, const char *from, const char *to);
    // Called just before the start. `root` is that of sandbox_root().
    _must_check_ struct error *(*begin)(void *self, const char *root); // or NULL
    // May be called while the workload runs. NULL if the injector cannot tell.
    struct injected_thread (*last_injected)(void *self);
    // Called when all processes are gone but `root` still exists. The observation starts zeroed.
    // The caller frees its contents, also after an error.
    _must_check_ struct error *(*observe)(void *self, const char *root,
                                          struct observation *observation);

    // Called after the reference runs: whether one more run of each input is wanted, which may take
    // longer and is no reference. May be NULL.
    bool (*survey)(void *self);
    // Called after the reference runs. Lists all candidates, in a fixed order.
    _must_check_ struct error *(*candidates)(void *self, candidate_add *add, void *data);
    // Called after candidates(). Says which parts of the definition got no candidate, and what was
    // left out. May be NULL.
    _must_check_ struct error *(*remarks)(void *self, remark_add *add, void *data);
    // What happens to the workload, to follow "... when ": "read fails with EIO". `fault` is that
    // of struct injection, or a spec. `injection` is NULL if the fault was never injected. If the
    // function is NULL, callers write "FAULT is injected".
    _must_check_ struct error *(*describe)(void *self, const char *fault,
                                           const struct injection *injection, struct buffer *text);
    // A complete shell command line that repeats a shot outside any campaign, in the same sandbox
    // if it can have one. It ends the run after `timeout_ns`; 0: never. *ret_command stays NULL if
    // there is none. May be NULL.
    _must_check_ struct error *(*reproduce)(void *self, const char *spec, uint64_t seed,
                                            uint64_t timeout_ns, char **ret_command);

    bool reproduces_inside; // that command line runs in the sandbox of the setup

    // Abilities; NULL: the injector does not have it.
    bool servers; // the workload may be a server
    const struct injector_switches *switches;
    const struct injector_outside *outside;
    const struct injector_forks *forks;
    const struct injector_second_faults *second_faults;
    const struct injector_sweep *sweep;
    const struct injector_proof *proof;
    const struct injector_debugger *debugger;
    const struct injector_learning *learning;
    const struct injector_stored *stored;
};

// All injectors, in the order of listings; ends with NULL. Defined in injectors/registry.c.
extern const struct injector *const injectors[];
const struct injector *injector_find(const char *name); // or NULL
// The end of open(): gives the caller an instance that was filled, or closes it after an error.
_must_check_ struct error *injector_opened(struct error *error, void *self, void (*close)(void *),
                                           void **ret_self);
// What the injector of that name says of stored texts; NULL if it says nothing, if there is no such
// injector, or if `name` is NULL.
const struct injector_stored *injector_stored(const char *name);
// Like injector_find(), but an unknown name is an error that lists the injectors there are.
_must_check_ struct error *injector_named(const char *name, size_t size,
                                          const struct injector **ret_injector);

#endif
