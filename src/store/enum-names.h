// SPDX-License-Identifier: GPL-3.0-or-later
// Enums in the program, words in the store. Each enum has one table of names, indexed by value. The
// schema has the same words (schema.c); a test compares them.
#ifndef ORDEAL_STORE_ENUM_NAMES_H
#define ORDEAL_STORE_ENUM_NAMES_H

struct enum_names {
    const char *what;         // what the enum is, for messages: "outcome"
    const char *const *names; // by value; a NULL entry is stored as SQL's NULL
    unsigned count;
};
// The name of a value, or NULL.
const char *enum_name(const struct enum_names *names, unsigned value);
// The value of a name (NULL: the value without a name). names->count if there is no such name.
unsigned enum_value(const struct enum_names *names, const char *name);

enum store_state { STORE_RUNNING, STORE_INTERRUPTED, STORE_FINISHED, STORE_STATES };

// Why a campaign ended before all its planned trials were run.
enum store_stop {
    STORE_STOP_NONE, // everything was run, or it is still running
    STORE_STOP_TIME,
    STORE_STOP_TRIALS,
    STORE_STOP_INTERVAL,
    STORE_STOP_INTERRUPT,
    STORE_STOP_INVALID,
    STORE_STOP_SLOTS, // a job slot died again and again
    STORE_STOP_FINDINGS,
    STORE_STOPS
};

// How what a library gave its user differs from the reference.
enum store_interface {
    STORE_INTERFACE_SAME,
    STORE_INTERFACE_DIFFERS,
    STORE_INTERFACE_DIVERGED, // it was called otherwise, without a difference before
    STORE_INTERFACES
};

// The return value of the first call that differs.
enum store_result {
    STORE_RESULT_RIGHT, // or there is none
    STORE_RESULT_MINUS_ONE,
    STORE_RESULT_NULL, // instead of a pointer
    STORE_RESULT_ZERO, // and no pointer
    STORE_RESULT_POINTER,
    STORE_RESULT_VALUE,
    STORE_RESULTS
};

// Which candidates of a campaign are run.
enum store_selection {
    STORE_SELECT_ALL,
    STORE_SELECT_SAMPLE,
    STORE_SELECT_SWEEP,
    STORE_SELECTIONS
};

// Remarks that a campaign makes besides its numbers.
enum remark_kind {
    REMARK_NOTE,
    REMARK_UNTESTED, // a fault that was asked for has no candidate
    REMARK_VARIES,   // an output differs between reference runs
    REMARK_KINDS
};

// How a run of the workload ended.
enum store_outcome {
    STORE_OUTCOME_NONE, // it was not started
    STORE_OUTCOME_EXIT,
    STORE_OUTCOME_SIGNAL,
    STORE_OUTCOME_TIMEOUT,
    STORE_OUTCOMES
};

enum artifact_kind {
    ARTIFACT_STREAM,
    ARTIFACT_FILE,
    ARTIFACT_DIRECTORY,
    ARTIFACT_LINK,
    ARTIFACT_DELETED,
    ARTIFACT_OTHER,
    ARTIFACT_KINDS
};

// How a trial got its result.
enum store_way {
    STORE_WAY_FULL,     // by a run of its own
    STORE_WAY_FORKED,   // in a forked child of a run for many trials
    STORE_WAY_CHECKED,  // in a forked child, and a run of its own agreed
    STORE_WAY_DISPUTED, // by a run of its own, which disagreed with the forked child
    STORE_WAYS
};

// What of a trial's numbers, which the target could overwrite, cannot be true.
enum store_damage {
    STORE_DAMAGE_NONE,
    STORE_DAMAGE_FIRED,  // a fault struck more often than its functions were called
    STORE_DAMAGE_FELL,   // a count went down
    STORE_DAMAGE_TIME,   // more is counted than there was time for
    STORE_DAMAGE_RECORD, // the journal does not agree with the counts, or with itself
    STORE_DAMAGE_MARK,   // of coverage
    STORE_DAMAGE_HEADER, // what only Ordeal writes was overwritten
    STORE_DAMAGES
};

// Why a candidate's fault is believed to happen.
enum store_basis {
    STORE_BASIS_NONE,   // nobody asked: it was named by the user, or the injector has no opinion
    STORE_BASIS_SYSTEM, // the system's own functions fail like this
    STORE_BASIS_CALLS,  // guessed from code: it takes nothing but the failure of system functions
    STORE_BASIS_INPUT,  // guessed from code: bytes that were read, arguments or state may decide
    STORE_BASES
};

// Whether the fault of a finding can happen.
enum store_proof {
    STORE_PROOF_NONE,       // nobody asked
    STORE_PROOF_CERTAIN,    // the system's own functions fail like this
    STORE_PROOF_CAUSED,     // the failure of a system function causes it
    STORE_PROOF_UNPROVEN,   // it could not be caused, but perhaps other things do
    STORE_PROOF_IMPOSSIBLE, // all that could cause it was tried in vain
    STORE_PROOFS
};

// Whose code the fault of a finding was injected into, see campaign/scope.h.
enum store_scope {
    STORE_SCOPE_UNKNOWN, // nobody asked
    STORE_SCOPE_MINE,    // the user's
    STORE_SCOPE_TOOL,    // of another program
    STORE_SCOPE_LIBRARY, // a system library's; not stored, see store_scope_of()
    STORE_SCOPES
};

// What happened between a failing call and the damage, one thing after the other. The words in
// backquotes are members of struct store_consequence.
enum consequence_kind {
    CONSEQUENCE_FAILS,            // a call fails: `function` returns `number`
    CONSEQUENCE_UNWRITTEN,        // what a stream has buffered cannot be written
    CONSEQUENCE_TESTED,           // the failure is told apart from success there
    CONSEQUENCE_TESTED_LATE,      // likewise, but on some way only after it was used
    CONSEQUENCE_TESTED_SOMETIMES, // likewise, but not on all ways
    CONSEQUENCE_ERRNO_ONLY, // only some values of errno are tested; the others are used like a
                            // success
    CONSEQUENCE_COMPARED,   // it is compared there, but the failure goes where successes go
    CONSEQUENCE_UNTESTED,   // no code that gets the result tests it
    CONSEQUENCE_IGNORED,    // no code looks at the result
    CONSEQUENCE_RETURNED,  // `function` returns `number` to this place; `argument` is 1: the result
                           // itself
    CONSEQUENCE_STORED,    // it is stored in `name`
    CONSEQUENCE_PASSED,    // it is passed to `function` as `argument`
    CONSEQUENCE_READ_BACK, // what is used there was read from `name`, where it was stored
    CONSEQUENCE_READS,     // the address `number` is read; in `function`, if that is known
    CONSEQUENCE_WRITES,    // likewise written
    CONSEQUENCE_ACCESSES,  // likewise, read or written
    CONSEQUENCE_JUMPS,     // likewise called
    CONSEQUENCE_DIES,      // another signal, `number`, kills it
    CONSEQUENCE_HEAP,      // the allocator finds its memory damaged, in `function`
    CONSEQUENCE_ABORTS,    // it ends itself, by `function`
    CONSEQUENCE_WAITS,     // it waits in `function`
    CONSEQUENCE_BUSY,      // it never ends, and is busy
    CONSEQUENCE_LOST,      // `number` bytes were to be transferred by `function`, to or from `name`
    CONSEQUENCE_EMPTIES,   // the file `name` or its content is lost
    CONSEQUENCE_LACKS,     // the output `name` is missing, or as it was before
    CONSEQUENCE_DIFFERS,   // the output `name` differs from that of the reference runs
    CONSEQUENCE_LEAVES,    // the file `name` is left behind
    CONSEQUENCE_SUCCEEDS,  // it ends as if nothing had happened: exit status `number`
    CONSEQUENCES
};

extern const struct enum_names interface_names, result_names;
extern const struct enum_names state_names, stop_names, selection_names, remark_names,
    outcome_names, artifact_names, way_names, damage_names, basis_names, proof_names,
    consequence_names, scope_names;

#endif
