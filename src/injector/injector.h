// SPDX-License-Identifier: GPL-3.0-or-later
// The contract between a way of making faults real and everything else. An injector is one folder
// below src/injectors/ with one const descriptor; engine, oracle, campaign, reports and command
// line know nothing else of it. docs/HOWTO-add-an-injector.md shows how to write one.
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

// What an injector has to say of a campaign: kind, about and text.
typedef struct error *remark_say(void *data, const struct store_remark *remark);
struct source; // scenario/source.h

// What an injector may know of its campaign. It may copy the struct; what the pointers lead to
// belongs to the definition, which outlives the injector.
struct injector_setup {
    const struct parameters *parameters;
    const struct words *command, *environment; // the workload's
    const char *directory;                     // in which it runs, absolute
    const char *input;                         // file for its stdin, or NULL
    bool has_setup;                            // a command of the user's may make the program
    uint64_t seed;
    uint32_t references;      // number of fault-free runs
    bool sweeps;              // only the first candidate of each series is wanted
    uint64_t sample;          // how many candidates are chosen; 0: it is no sample
    const char *weights_file; // of fault types, or NULL
};

// One shot: one run of the workload, with a fault (spec) or without (spec NULL: a reference run, of
// which the injector may record what it needs to know).
struct shot {
    const char *spec;
    uint64_t seed;
    bool follow;              // of a shot with a fault: record what is called in consequence
    char *const *command;     // the workload's
    char *const *environment; // the workload's without any injector
    // Instead of a spec: several that are all off at first, to be switched on one by one by who
    // leads the shot (struct injector_switches).
    const char *const *switched;
    size_t switched_count;
    // Set by prepare(); they live until the next shot or close().
    const char *switches; // for injector_switches.open()
    uint64_t first_switch;
    char *const *use_environment; // to start the command with; NULL: `environment`
    const char *const *visible;   // files for sandbox_run(), or NULL
};

struct fork_shot { // one of many
    const char *spec;
    uint64_t seed;
};

// ---- Optional abilities ----

// It acts on the workload from outside; both as in sandbox_step.
struct injector_outside {
    uint64_t (*started)(void *self, pid_t pid);
    uint64_t (*tick)(void *self, pid_t pid, uint64_t ns);
};

// Many faults in one run of the workload, which forks where each is injected: trial/forking.h.
struct injector_forks {
    // What keeps this campaign from it, as the end of "trials are not forked: ..."; or NULL.
    const char *(*obstacle)(void *self);
    // As prepare() of the injector. `suits` says for each of the shots whether it is among them.
    _must_check_ struct error *(*prepare)(void *self, struct shot *shot,
                                          const struct fork_shot *shots, size_t count, bool *suits);
    struct forking *(*forking)(void *self); // from begin() until observe()
    // Which of the shots a rule stands for.
    size_t (*which)(void *self, uint32_t rule);
    // As observe() of the injector, of the child that has ended.
    _must_check_ struct error *(*observe)(void *self, const char *root, size_t index,
                                          struct observation *observation);
};

// Many faults in one life of a server. Except for fits(), these are called by the process that
// drives the server, which has no instance of the injector. `rule` is an index of shot.switched.
struct injector_switches {
    // Whether a fault can wait, switched off, in a server that lives through others.
    bool (*fits)(const char *spec);
    // Before the server starts: all faults are off then.
    _must_check_ struct error *(*open)(const char *file, uint64_t first, uint64_t count,
                                       void **ret_switches);
    void (*close)(void *switches);
    void (*set)(void *switches, uint32_t rule, bool on);
    uint64_t (*fired)(const void *switches, uint32_t rule); // how often, so far
    // Processes that died of a signal so far, also those that the server replaces without a word.
    uint32_t (*crashes)(const void *switches);
};

// Faults in the code that handles other faults.
struct injector_second_faults {
    bool (*wanted)(void *self);
    // Identifies the place of a fault: faults of one place are handled by the same code.
    uint64_t (*place)(const char *spec);
    // After reference runs and shots with `follow`: candidates that are one of these shots and a
    // second fault, in what only it made the workload call.
    _must_check_ struct error *(*candidates)(void *self, candidate_add *add, void *data);
};

// Trying one occurrence after the other until a fault is not hit any more.
struct injector_sweep {
    // The candidate after `last` in its series.
    _must_check_ struct error *(*next)(void *self, const struct candidate *last,
                                       struct candidate *ret_next);
};

// Looking at a shot in gdb.
struct injector_debugger {
    // After prepare(): what runs the shot under gdb, stopped at the injection, instead of the
    // command; to be freed with debug_list_free(). `input` is a path for the command's stdin;
    // `batch` as of debug.h.
    _must_check_ struct error *(*words)(void *self, const struct shot *shot, const char *input,
                                        bool batch, char ***ret_arguments, char ***ret_environment);
};

// What it finds out besides verdicts. Each of the functions may be NULL.
struct injector_learning {
    // Between reference runs: what would take too long within one.
    _must_check_ struct error *(*learn)(void *self);
    // Whether a reference run so far took a port, as far as that can be told.
    bool (*takes_ports)(void *self);
    // Measurements, into the store: after the reference runs and in the end; and back when a
    // campaign is resumed.
    _must_check_ struct error *(*save)(void *self, struct store *store, int64_t campaign);
    _must_check_ struct error *(*load)(void *self, struct store *store, int64_t campaign);
    // In a job slot: measures what the controller's injector `leader` measures.
    void (*join)(void *self, const void *leader);
};

// What stored texts mean: no instance is needed. Each of the functions may be NULL.
struct injector_stored {
    // Of a fault as in struct injection: what it is injected into (a function), and the error that
    // is injected, or "". NULL: the fault's first word, and no error.
    void (*split)(const char *fault, char function[128], char error[32]);
    // An injection in words, for `ordeal show`. NULL: the call, its process and place.
    _must_check_ struct error *(*describe)(const struct store_injection *row, struct buffer *text);
    // The options of `ordeal run` that inject the same. NULL: it cannot.
    _must_check_ struct error *(*run_options)(const char *spec, struct buffer *text);
};

// An option of the command line that sets a parameter, and with it chooses the injector.
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
    // What `ordeal test` sets when it is told nothing else; ends with a NULL parameter. It uses the
    // first injector that has this. NULL: not for `ordeal test`.
    const struct injector_setting *test_settings;
    // What is wrong with a value of a parameter by itself, at its place in the file; or NULL.
    _must_check_ struct error *(*check)(const char *parameter, const struct source *source);
    // Checks the parameters. Nothing has run yet.
    _must_check_ struct error *(*open)(const struct injector_setup *setup, void **ret_self);
    void (*close)(void *self);

    // Before the command is started.
    _must_check_ struct error *(*prepare)(void *self, struct shot *shot);
    // Before begin(): the workload knows what is below `to`, its directory, as below `from`, a
    // copy. Places are told by the names that the user knows. NULL if the injector knows no paths.
    _must_check_ struct error *(*moved)(void *self, const char *from, const char *to);
    // Just before the start; `root` as of sandbox_root().
    _must_check_ struct error *(*begin)(void *self, const char *root); // or NULL
    // While the workload runs; NULL if there is no telling.
    struct injected_thread (*last_injected)(void *self);
    // When all processes are gone, `root` still being there. The observation starts zeroed; also
    // after an error, what is in it is the caller's to free.
    _must_check_ struct error *(*observe)(void *self, const char *root,
                                          struct observation *observation);

    // After the reference runs: all candidates, in a fixed order.
    _must_check_ struct error *(*candidates)(void *self, candidate_add *add, void *data);
    // After that: what of the definition has no candidate, and what was left out; or NULL.
    _must_check_ struct error *(*remarks)(void *self, remark_say *say, void *data);
    // What happens to the workload, after "... when ": "read fails with EIO". `fault` is as in
    // struct injection, or a spec; `injection` is NULL if it never happened. NULL: "FAULT is
    // injected".
    _must_check_ struct error *(*describe)(void *self, const char *fault,
                                           const struct injection *injection, struct buffer *text);
    // A command line that shows a shot outside any campaign, shell-quoted; or NULL. `timeout_ns` is
    // the time to end it after, 0: none.
    _must_check_ struct error *(*reproduce)(void *self, const char *spec, uint64_t seed,
                                            uint64_t timeout_ns, char **ret_command);

    // NULL: it is not able to do that.
    bool servers; // the workload may be a server
    const struct injector_switches *switches;
    const struct injector_outside *outside;
    const struct injector_forks *forks;
    const struct injector_second_faults *second_faults;
    const struct injector_sweep *sweep;
    const struct injector_debugger *debugger;
    const struct injector_learning *learning;
    const struct injector_stored *stored;
};

// All injectors, in the order in which they are listed; ends with NULL. injectors/registry.c has
// it.
extern const struct injector *const injectors[];
const struct injector *injector_find(const char *name); // or NULL
// What stored texts of the injector of that name mean; NULL if it cannot tell, is not known, or
// `name` is NULL.
const struct injector_stored *injector_stored(const char *name);
// Likewise; an error names those that there are.
_must_check_ struct error *injector_named(const char *name, size_t size,
                                          const struct injector **ret_injector);

#endif
