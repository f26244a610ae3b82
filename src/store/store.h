// SPDX-License-Identifier: GPL-3.0-or-later
// A file of campaigns: an SQLite database, readable with the plain sqlite3 shell
// (docs/ordeal-store.5). All text in rows is UTF-8; other bytes are replaced. Secrets
// (base/secrets.h) are masked in everything that is stored. Pointers in a row
// that a callback gets live until it returns. NULL text is SQL's NULL. There may be one writer at a
// time and any number of readers. Only one thread at a time may use a struct store.
//
// Errors name the file and say what is wrong. An error from a row callback ends the iteration and
// is returned.
#ifndef ORDEAL_STORE_STORE_H
#define ORDEAL_STORE_STORE_H

#include "base/error.h"
#include "store/enum-names.h"
#include "store/severity.h"
#include "store/verdict.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STORE_DEFAULT "ordeal.db" // in the working directory, where nobody says otherwise

struct store;

enum store_mode {
    STORE_READ,  // must exist; an older schema is read as it is, or refused with a reason
    STORE_WRITE, // created if missing, migrated if old; refused while another controller writes
};
// Opens a store; the caller closes it. An error if the file is no store, is damaged, was made by a
// newer version, or is in use by another writer.
_must_check_ struct error *store_open(const char *path, enum store_mode mode,
                                      struct store **ret_store);
// Puts all that was written into the one file that others may copy; an error if it has no room.
_must_check_ struct error *store_gather(struct store *store);
// Closes it. A store belongs to the process that opened it: in a forked child this does nothing.
void store_close(struct store *store);
static inline void store_closep(struct store **store)
{
    store_close(*store);
}
// Closes it. If store_open() created the file and it holds no campaign, removes the file, too.
void store_discard(struct store *store);
const char *store_path(const struct store *store); // as given to store_open()

// A transaction: everything between is stored completely or not at all. A reader sees the file as
// it was at one moment. A write outside a transaction is a transaction of its own. store_commit()
// is durable: what it covers survives SIGKILL of this process. After an error in a transaction,
// nothing of it will be stored.
_must_check_ struct error *store_begin(struct store *store);
_must_check_ struct error *store_commit(struct store *store);
void store_rollback(struct store *store);

struct store_campaign {
    int64_t id;
    const char *name;
    const char *injector;
    const char *definition; // YAML: the campaign can be run again from it, see ordeal-store(5)
    const char *command;    // of the workload, as a shell would show it
    const char *directory;  // where it was started
    const char *version;    // version of Ordeal
    const char *machine;    // kernel release and processors: text for the report
    const char *program;    // the workload's executable: "SIZE MTIME BUILD-ID PATH", or NULL
    uint64_t seed;
    int64_t created_s;            // seconds since 1970
    double elapsed_s;             // running time so far, including resumed runs
    uint64_t candidates, planned; // planned: trials to run; 0 while not known (sweep)
    enum store_state state;
    enum store_stop stopped_by;
    // What reports need from the definition:
    bool automatic; // Ordeal chose the faults, nobody named them
    enum store_selection selection;
    const char *per;      // a fixed number is chosen for each of these ("type"), or NULL
    bool weighted;        // chosen by weights that were given
    bool listed;          // trials run in the order in which the injector lists candidates
    bool changes_only;    // only code that has changed since an earlier campaign
    bool long_lived;      // many faults in one life of a server
    bool filtered;        // the definition limits which outputs are compared
    const char *settings; // read besides what was given: "/p/.ordeal.yaml, ORDEAL_OPTS"; or NULL
    const char
        *environment_key; // identifies the key of the variables' hashes; NULL: there are none
};
// Sets row->id.
_must_check_ struct error *store_add_campaign(struct store *store, struct store_campaign *row);
// Updates state, stopped_by, elapsed_s, candidates and planned of the campaign with row->id.
_must_check_ struct error *store_update_campaign(struct store *store,
                                                 const struct store_campaign *row);
_must_check_ struct error *store_set_definition(struct store *store, int64_t id,
                                                const char *definition);
// Removes it with everything that belongs to it.
_must_check_ struct error *store_remove_campaign(struct store *store, int64_t id);
// id 0: the newest. An error if there is none. store_campaign_deinit() frees the texts.
_must_check_ struct error *store_find_campaign(struct store *store, int64_t id,
                                               struct store_campaign *ret_campaign);
void store_campaign_deinit(struct store_campaign *campaign);
_must_check_ struct error *
store_each_campaign(struct store *store,
                    struct error *(*row)(void *, const struct store_campaign *), void *data);

// A variable of the workload's environment.
struct store_variable {
    int64_t campaign;
    const char *name;
    const char *value; // NULL: not stored
    const char *hash;  // keyed, of a value that is not stored; or NULL
};
_must_check_ struct error *store_add_variable(struct store *store, struct store_variable *row);
// In the order in which they were added.
_must_check_ struct error *
store_each_variable(struct store *store, int64_t campaign,
                    struct error *(*row)(void *, const struct store_variable *), void *data);

// A sentence about a campaign. remark_put() writes it for people.
struct store_remark {
    int64_t id, campaign;
    enum remark_kind kind;
    const char *about; // the fault that is not tested; the path of the output that varies (NULL:
                       // others do, too); or NULL
    const char *text;  // why a fault is not tested, or ""; for other kinds a sentence
};
_must_check_ struct error *store_add_remark(struct store *store, struct store_remark *row);
// In the order in which they were added.
_must_check_ struct error *
store_each_remark(struct store *store, int64_t campaign,
                  struct error *(*row)(void *, const struct store_remark *), void *data);

// A reference run, and what it left behind.
struct store_reference {
    int64_t id, campaign;
    uint32_t number; // from 1
    enum store_outcome outcome;
    int status; // exit status or signal number
    double seconds;
};
#define ARTIFACT_NO_MODE ~0u
struct store_artifact { // an output of a reference run
    const char *path;   // "<stdout>", "<stderr>" or an absolute path
    enum artifact_kind kind;
    unsigned mode; // permission bits of a file or directory; ARTIFACT_NO_MODE: not known
    uint64_t size;
    uint64_t hash;       // of the whole content
    const void *content; // the beginning of it, or NULL
    size_t content_size;
    const char *format; // of a packed file, archive, image or database that could be read; or NULL
    bool decoded;       // what it holds is known
    uint64_t inside;    // hash of what it holds
};
_must_check_ struct error *store_add_reference(struct store *store, struct store_reference *row);
_must_check_ struct error *store_add_artifact(struct store *store, int64_t reference,
                                              const struct store_artifact *row);
_must_check_ struct error *
store_each_reference(struct store *store, int64_t campaign,
                     struct error *(*row)(void *, const struct store_reference *), void *data);
_must_check_ struct error *
store_each_artifact(struct store *store, int64_t reference,
                    struct error *(*row)(void *, const struct store_artifact *), void *data);

// A place together with a fault type.
struct store_candidate {
    int64_t id, campaign;
    uint64_t number;       // from 1, in the injector's order
    const char *spec;      // everything the injector needs to inject it
    const char *type;      // fault type, what is injected: "read=-1/EIO"
    const char *function;  // the function it is injected into, or NULL
    const char *module;    // or NULL
    const char *file;      // source file, or NULL
    unsigned line;         // or 0
    const char *component; // the larger part that the place belongs to, or NULL
    // In sweeps, candidates of one series differ in position only; for faults that Ordeal chose,
    // the class of the call
    const char *series;
    uint64_t position;
    double weight;
    bool selected;    // chosen to be run
    uint64_t content; // equal in other builds if the code around the call is equal; 0: not known
    // Its verdict in an earlier campaign, in place of a trial in this one; or NULL
    const char *carried;
    enum store_basis basis;
};
_must_check_ struct error *store_add_candidate(struct store *store, struct store_candidate *row);
// Sorted by number, only those above `after`, at most `limit` (0: all).
_must_check_ struct error *
store_each_candidate(struct store *store, int64_t campaign, uint64_t after, uint64_t limit,
                     struct error *(*row)(void *, const struct store_candidate *), void *data);

struct store_trial {
    int64_t id, campaign;
    int64_t candidate;
    uint64_t number; // from 1 within the campaign; 0: it was carried over
    uint64_t seed;
    const char *spec; // what was injected: the candidate's spec made concrete
    enum verdict verdict;
    const char *reason; // one sentence: why it has this verdict
    enum store_outcome outcome;
    int status;
    double seconds;   // running time of the workload
    double started_s; // seconds since the campaign began
    uint64_t activations;
    uint64_t plan_hash; // identifies the compiled plan, 0 if none
    const char *crash;  // what killed it, "SIGSEGV at 0x0", or NULL
    const char *stack;  // of the crash or hang: one frame per line, innermost first, or NULL
    const char *output; // end of stderr, for people; or NULL
    int64_t finding;    // the finding it shows, or 0
    // It ran again to confirm or replay, or was carried over. Not part of any count.
    bool confirmation;
    enum store_way way;
    enum store_damage damage;
    // Of a long-lived server: the number of this fault in its life; 0: another kind of trial
    uint32_t round;
    bool carried; // ran in an earlier campaign, and was copied with its finding
    bool proving; // ran to find out whether the fault of its finding can happen
};
struct store_injection {
    int64_t id, trial;
    const char *fault; // "read=-1/EIO"
    const char *function, *module, *file;
    uint64_t offset; // link-time address of the call site
    unsigned line;
    const char *symbol; // function that contains the site
    uint64_t occurrence;
    uint32_t process, thread;
    const char *program;
    double seconds;    // since the trial began
    const char *stack; // as in store_trial
};
// Both set row->id. Equal stacks are stored once.
_must_check_ struct error *store_add_trial(struct store *store, struct store_trial *row);
_must_check_ struct error *store_add_injection(struct store *store, struct store_injection *row);
_must_check_ struct error *store_set_trial_finding(struct store *store, int64_t trial,
                                                   int64_t finding);
struct store_count; // below
// Makes the trial with this number invalid, and those of its finding that have the very same
// reason; that becomes `reason`. Says how many of them had which verdict.
_must_check_ struct error *store_invalidate_trials(struct store *store, int64_t campaign,
                                                   uint64_t number, const char *reason,
                                                   struct store_count *ret_before);
// Leaves out trials that confirm something unless `confirmations` is set.
_must_check_ struct error *
store_each_trial(struct store *store, int64_t campaign, bool confirmations,
                 struct error *(*row)(void *, const struct store_trial *), void *data);
_must_check_ struct error *store_find_trial(struct store *store, int64_t id,
                                            struct store_trial *ret_trial,
                                            struct store_candidate *ret_candidate);
void store_trial_deinit(struct store_trial *trial);
void store_candidate_deinit(struct store_candidate *candidate);
_must_check_ struct error *
store_each_injection(struct store *store, int64_t trial,
                     struct error *(*row)(void *, const struct store_injection *), void *data);

// A start of the target in which the fault was activated, if behaviour was compared.
struct store_invocation {
    int64_t id, trial;
    uint32_t number;             // within the trial, from 1
    uint64_t differing;          // visible calls that differ from the reference; 0: none
    bool same_status, same_time; // as the reference
    const char *call;            // the first one that differs, or NULL
    const char *about;           // how it does, in words; or NULL
    const void *trace;           // packed (trace_pack()), of one that differs; or NULL
    size_t trace_size;
    const char *calls; // the names of those that differ, each once, with a blank between; or NULL
    double seconds;    // that it took
};
_must_check_ struct error *store_add_invocation(struct store *store, struct store_invocation *row);
// Of a trial, by number.
_must_check_ struct error *
store_each_invocation(struct store *store, int64_t trial,
                      struct error *(*row)(void *, const struct store_invocation *), void *data);

// How what a library gave its user differed, if that was compared (oracle.interface). The trace of
// the first reference run and the numbers of its accesses (packed as trace_pack() does) are
// artifacts of these paths.
#define STORE_INTERFACE "<interface>"
#define STORE_ACCESSES  "<interface accesses>"
struct store_propagation {
    int64_t id, trial;
    enum store_interface outcome;
    uint64_t call;                     // of the library, from 1: the first that differs
    const char *function;              // of that call, or NULL
    uint64_t corrupted;                // bytes of memory, each once
    uint64_t wrong, omitted, spurious; // bytes of stores
    enum store_result result;
    const char *profile; // interface/corruption.h; NULL: no call differs
};
_must_check_ struct error *store_add_propagation(struct store *store,
                                                 struct store_propagation *row);
_must_check_ struct error *
store_each_propagation(struct store *store, int64_t trial,
                       struct error *(*row)(void *, const struct store_propagation *), void *data);

// A trial of a campaign beside it.
struct store_interface_trial {
    enum verdict verdict;
    const char *type; // of the candidate
    double seconds;
    bool known; // there is a row
    enum store_interface outcome;
    enum store_result result;
    uint64_t corrupted;
    const char *profile; // or NULL
};
// Without those that only confirm something, by number.
_must_check_ struct error *
store_each_interface_trial(struct store *store, int64_t campaign,
                           struct error *(*row)(void *, const struct store_interface_trial *),
                           void *data);

// How many of a campaign; those of trials that only confirm something are left out.
struct store_invocation_counts {
    uint64_t all, deviating;     // behave differently
    uint64_t status, time, both; // of these: with the same status, the same time, both
};
_must_check_ struct error *store_count_invocations(struct store *store, int64_t campaign,
                                                   struct store_invocation_counts *ret_counts);

// Upsets that were drawn uniformly over the instructions that the references execute and the bits
// of registers. Candidates are classes of equal ones; a candidate's weight is how many were drawn
// of it.
struct store_upsets {
    int64_t id, campaign;
    uint64_t points;               // drawn; 0: the campaign has none
    uint64_t instructions, bits;   // over which
    uint64_t unread;               // of the points: overwritten before it is read, or never read
    uint64_t classes, all_classes; // that points are in; that there are
    double read;                   // of all instructions and bits, those that are in a class
};
_must_check_ struct error *store_add_upsets(struct store *store, struct store_upsets *row);
_must_check_ struct error *store_find_upsets(struct store *store, int64_t campaign,
                                             struct store_upsets *ret_upsets);

// By verdict, without trials that only confirm something: the weights of their candidates, and how
// many there are.
struct store_weights {
    double weights[VERDICTS];
    uint64_t trials[VERDICTS];
};
_must_check_ struct error *store_count_weights(struct store *store, int64_t campaign,
                                               struct store_weights *ret_weights);

struct store_latency {
    int64_t id, trial;
    double seconds; // from the activation of the fault to the crash
};
_must_check_ struct error *store_add_latency(struct store *store, int64_t trial, double seconds);
// Of a campaign's trials without those that only confirm something, the shortest first.
_must_check_ struct error *
store_each_latency(struct store *store, int64_t campaign,
                   struct error *(*row)(void *, const struct store_latency *), void *data);

// The call stacks that faults were injected at, with the program, each once.
_must_check_ struct error *
store_each_program_and_stack(struct store *store, int64_t campaign,
                             struct error *(*row)(void *, const char *program, const char *stack),
                             void *data);

// Whether the trial that shows a finding failed the same way when it was run again.
enum store_confirmed { STORE_NOT_CONFIRMED, STORE_CONFIRMED, STORE_FLAKY };

struct store_finding {
    int64_t id, campaign;
    enum verdict verdict;
    const char *cause; // key of the group: equal for trials with the same cause
    const char *title; // one line
    const char *site;  // where the fault was injected, for people
    const char *file;  // source file of the crash or of the injection; or NULL
    unsigned line;
    const char *stack;   // or NULL
    int64_t trial;       // the simplest trial that shows it
    uint64_t trials;     // number of trials that show it
    const char *command; // command that reproduces it
    enum store_confirmed confirmed;
    const char *suppressed; // name of the suppression that hides it, or NULL
    enum severity severity;
    // File name of the store that it was carried over from, because the code has not changed since
    // and no trial of this campaign shows it; or NULL. Its trials ran in that store.
    const char *carried;
    int64_t carried_s; // when the campaign began that ran them; seconds since 1970, or 0
    enum store_proof proof;
    unsigned proof_tries; // trials that were run for it
    // Of STORE_PROOF_CAUSED; 0 or NULL: not known
    int64_t proof_trial;      // that shows the finding, by its cause
    const char *proof_call;   // that fails: "malloc"
    const char *proof_error;  // with which error: "ENOMEM"
    const char *proof_caller; // the function that makes that call
    const char *proof_result; // what the function of the fault returns then, as in rules. Of
                              // STORE_PROOF_UNPROVEN: what it returns without any fault, too
    bool proof_lasting;       // later calls must fail, too
    const char *library;      // file name of the system library whose bug it is; NULL: none
    int64_t part_of;          // the finding that stands for this one, too; 0: none
    enum store_scope scope;   // of the program; see store_scope_of()
};
// Whose bug it is: a system library's if there is one, else by the program that runs it. Lost data
// is the matter of the program that loses it, whoever is to blame.
static inline enum store_scope store_scope_of(const struct store_finding *row)
{
    bool lost = row->severity == SEVERITY_LOSS;
    return row->library != NULL && !lost ? STORE_SCOPE_LIBRARY : row->scope;
}
// A part of the explanation of a finding, see enum consequence_kind. Members that do not belong to
// the kind are 0 or NULL.
struct store_consequence {
    int64_t id, finding;
    enum consequence_kind kind;
    bool probable; // it was not seen, but everything that is known fits
    const char *function;
    const char *name;  // of a variable, a member, a stream or a file
    unsigned argument; // from 1
    int64_t number;
    // Where: path, link-time address of the instruction, function, and its address
    const char *module;
    uint64_t offset;
    const char *symbol;
    uint64_t start; // of `symbol`
    const char *file;
    unsigned line;
};
_must_check_ struct error *store_add_consequence(struct store *store,
                                                 struct store_consequence *row);
_must_check_ struct error *store_delete_consequences(struct store *store, int64_t finding);
// In the order in which they were added.
_must_check_ struct error *
store_each_consequence(struct store *store, int64_t finding,
                       struct error *(*row)(void *, const struct store_consequence *), void *data);
// Finds the row with this campaign and cause and raises its `trials` by one, or adds it with
// row->trials. Sets row->id, and sets row->trials (1: it is new) and row->trial to the stored
// values. If the row existed, its other columns stay.
_must_check_ struct error *store_add_finding(struct store *store, struct store_finding *row);
// Updates verdict, severity, title, site, file, line, stack, trial, command, confirmed, carried,
// carried_s and all about the proof of the finding with row->id, because a simpler trial shows it.
_must_check_ struct error *store_update_finding(struct store *store,
                                                const struct store_finding *row);
// Sets library and part_of of the finding with row->id.
_must_check_ struct error *store_join_finding(struct store *store, const struct store_finding *row);
// Updates command and all about the proof of the finding with row->id.
_must_check_ struct error *store_prove_finding(struct store *store,
                                               const struct store_finding *row);
_must_check_ struct error *store_confirm_finding(struct store *store, int64_t id,
                                                 enum store_confirmed confirmed);
// Hides the finding, or with NULL shows it again.
_must_check_ struct error *store_suppress_finding(struct store *store, int64_t id,
                                                  const char *suppressed);
// Sorted: what loses data first, then the program's own before those of system libraries, the most
// severe verdict first, then most trials.
_must_check_ struct error *
store_each_finding(struct store *store, int64_t campaign,
                   struct error *(*row)(void *, const struct store_finding *), void *data);

// Recovery code: a block that only runs after a call has failed and somebody noticed.
enum store_reached { STORE_NEVER, STORE_BY_REFERENCE, STORE_BY_TRIAL };
struct store_recovery {
    int64_t id, campaign;
    const char *module;
    uint64_t address;     // link-time
    uint32_t code;        // its first four bytes
    const char *function; // or NULL
    const char *file;     // or NULL
    uint32_t line;        // or 0
    uint32_t reached;     // enum store_reached: what reached it first
};
// Lines of a source file, if the target was built to count them.
struct store_lines {
    int64_t id, campaign;
    const char *file;
    uint64_t lines;
    uint64_t before, after; // covered by references; by references and trials
};
// Coverage of a campaign is stored all at once. This deletes what is there, and with `lines` the
// coverage of lines, too.
_must_check_ struct error *store_delete_coverage(struct store *store, int64_t campaign, bool lines);
_must_check_ struct error *store_add_recovery(struct store *store, struct store_recovery *row);
_must_check_ struct error *store_add_lines(struct store *store, struct store_lines *row);
// Sorted by module and address.
_must_check_ struct error *
store_each_recovery(struct store *store, int64_t campaign,
                    struct error *(*row)(void *, const struct store_recovery *), void *data);
_must_check_ struct error *
store_each_lines(struct store *store, int64_t campaign,
                 struct error *(*row)(void *, const struct store_lines *), void *data);

// Trials per verdict, in groups: "type", "function", "module", "file", "component", "program",
// "way", "damage" (NULL: one group for all). "suppressed" groups by type and counts only trials
// that show suppressed findings, those that were carried over included; "caused", "unproven" and
// "impossible" those that show other findings with that proof.
struct store_count {
    const char *group;
    uint64_t verdicts[VERDICTS];
};
_must_check_ struct error *
store_each_count(struct store *store, int64_t campaign, const char *group_by,
                 struct error *(*row)(void *, const struct store_count *), void *data);

#endif
