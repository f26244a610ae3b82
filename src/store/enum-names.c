// SPDX-License-Identifier: GPL-3.0-or-later
// The tables of names for the enums that a store holds, and the lookup in both directions.
#include "store/enum-names.h"

#include <stddef.h>
#include <string.h>

const char *enum_name(const struct enum_names *names, unsigned value)
{
    return value < names->count ? names->names[value] : NULL;
}

unsigned enum_value(const struct enum_names *names, const char *name)
{
    for (unsigned i = 0; i < names->count; i++) {
        const char *known = names->names[i];
        if (known == NULL || name == NULL ? known == name : strcmp(known, name) == 0)
            return i;
    }
    return names->count;
}

static const char *const states[STORE_STATES] = {
    [STORE_RUNNING] = "running",
    [STORE_INTERRUPTED] = "interrupted",
    [STORE_FINISHED] = "finished",
};
const struct enum_names state_names = {"state of a campaign", states, STORE_STATES};

static const char *const stops[STORE_STOPS] = {
    [STORE_STOP_TIME] = "time budget",       [STORE_STOP_TRIALS] = "max trials",
    [STORE_STOP_INTERVAL] = "interval",      [STORE_STOP_INTERRUPT] = "interrupt",
    [STORE_STOP_INVALID] = "invalid trials", [STORE_STOP_SLOTS] = "dead job slots",
    [STORE_STOP_FINDINGS] = "findings",
};
const struct enum_names stop_names = {"reason to stop", stops, STORE_STOPS};

static const char *const interfaces[STORE_INTERFACES] = {
    [STORE_INTERFACE_SAME] = "same",
    [STORE_INTERFACE_DIFFERS] = "differs",
    [STORE_INTERFACE_DIVERGED] = "diverged",
};
const struct enum_names interface_names = {"interface", interfaces, STORE_INTERFACES};

static const char *const results[STORE_RESULTS] = {
    [STORE_RESULT_MINUS_ONE] = "minus-one", [STORE_RESULT_NULL] = "null",
    [STORE_RESULT_ZERO] = "zero",           [STORE_RESULT_POINTER] = "wrong-pointer",
    [STORE_RESULT_VALUE] = "wrong-value",
};
const struct enum_names result_names = {"result", results, STORE_RESULTS};

static const char *const selections[STORE_SELECTIONS] = {
    [STORE_SELECT_ALL] = "all",
    [STORE_SELECT_SAMPLE] = "sample",
    [STORE_SELECT_SWEEP] = "sweep",
};
const struct enum_names selection_names = {"selection", selections, STORE_SELECTIONS};

static const char *const remarks[REMARK_KINDS] = {
    [REMARK_NOTE] = "note",
    [REMARK_UNTESTED] = "untested",
    [REMARK_VARIES] = "varies",
};
const struct enum_names remark_names = {"kind of remark", remarks, REMARK_KINDS};

static const char *const outcomes[STORE_OUTCOMES] = {
    [STORE_OUTCOME_NONE] = "none",
    [STORE_OUTCOME_EXIT] = "exit",
    [STORE_OUTCOME_SIGNAL] = "signal",
    [STORE_OUTCOME_TIMEOUT] = "timeout",
};
const struct enum_names outcome_names = {"outcome", outcomes, STORE_OUTCOMES};

static const char *const artifacts[ARTIFACT_KINDS] = {
    [ARTIFACT_STREAM] = "stream",       [ARTIFACT_FILE] = "file",
    [ARTIFACT_DIRECTORY] = "directory", [ARTIFACT_LINK] = "link",
    [ARTIFACT_DELETED] = "deleted",     [ARTIFACT_OTHER] = "other",
};
const struct enum_names artifact_names = {"kind of file", artifacts, ARTIFACT_KINDS};

static const char *const ways[STORE_WAYS] = {
    [STORE_WAY_FORKED] = "forked",
    [STORE_WAY_CHECKED] = "checked",
    [STORE_WAY_DISPUTED] = "disputed",
};
const struct enum_names way_names = {"way of a trial", ways, STORE_WAYS};

static const char *const damages[STORE_DAMAGES] = {
    [STORE_DAMAGE_FIRED] = "fired", [STORE_DAMAGE_FELL] = "fell",
    [STORE_DAMAGE_TIME] = "time",   [STORE_DAMAGE_RECORD] = "record",
    [STORE_DAMAGE_MARK] = "mark",   [STORE_DAMAGE_HEADER] = "header",
};
const struct enum_names damage_names = {"damage of a trial", damages, STORE_DAMAGES};

static const char *const bases[STORE_BASES] = {
    [STORE_BASIS_SYSTEM] = "system",
    [STORE_BASIS_CALLS] = "calls",
    [STORE_BASIS_INPUT] = "input",
};
const struct enum_names basis_names = {"basis of a fault", bases, STORE_BASES};

static const char *const proofs[STORE_PROOFS] = {
    [STORE_PROOF_CERTAIN] = "certain",
    [STORE_PROOF_CAUSED] = "caused",
    [STORE_PROOF_UNPROVEN] = "unproven",
    [STORE_PROOF_IMPOSSIBLE] = "impossible",
};
const struct enum_names proof_names = {"proof of a finding", proofs, STORE_PROOFS};

static const char *const scopes[STORE_SCOPES] = {
    [STORE_SCOPE_MINE] = "mine",
    [STORE_SCOPE_TOOL] = "tool",
    [STORE_SCOPE_LIBRARY] = "library",
};
const struct enum_names scope_names = {"scope of a finding", scopes, STORE_SCOPES};

static const char *const consequences[CONSEQUENCES] = {
    [CONSEQUENCE_FAILS] = "fails",
    [CONSEQUENCE_UNWRITTEN] = "unwritten",
    [CONSEQUENCE_TESTED] = "tested",
    [CONSEQUENCE_TESTED_LATE] = "tested-late",
    [CONSEQUENCE_TESTED_SOMETIMES] = "tested-sometimes",
    [CONSEQUENCE_ERRNO_ONLY] = "errno-only",
    [CONSEQUENCE_COMPARED] = "compared",
    [CONSEQUENCE_UNTESTED] = "untested",
    [CONSEQUENCE_IGNORED] = "ignored",
    [CONSEQUENCE_RETURNED] = "returned",
    [CONSEQUENCE_STORED] = "stored",
    [CONSEQUENCE_PASSED] = "passed",
    [CONSEQUENCE_READ_BACK] = "read-back",
    [CONSEQUENCE_READS] = "reads",
    [CONSEQUENCE_WRITES] = "writes",
    [CONSEQUENCE_ACCESSES] = "accesses",
    [CONSEQUENCE_JUMPS] = "jumps",
    [CONSEQUENCE_DIES] = "dies",
    [CONSEQUENCE_HEAP] = "heap",
    [CONSEQUENCE_ABORTS] = "aborts",
    [CONSEQUENCE_WAITS] = "waits",
    [CONSEQUENCE_BUSY] = "busy",
    [CONSEQUENCE_LOST] = "lost",
    [CONSEQUENCE_EMPTIES] = "empties",
    [CONSEQUENCE_LACKS] = "lacks",
    [CONSEQUENCE_DIFFERS] = "differs",
    [CONSEQUENCE_LEAVES] = "leaves",
    [CONSEQUENCE_SUCCEEDS] = "succeeds",
};
const struct enum_names consequence_names = {"consequence", consequences, CONSEQUENCES};
