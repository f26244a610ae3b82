// SPDX-License-Identifier: GPL-3.0-or-later
// Findings as finding-join.c compares them, and which of them are one missing check.
#ifndef ORDEAL_CAMPAIGN_FINDING_SAME_H
#define ORDEAL_CAMPAIGN_FINDING_SAME_H

#include "base/array.h"
#include "campaign/sibling-programs.h"
#include "store/store.h"

struct finding_member {
    int64_t id, trial, part_of;
    enum verdict verdict;
    enum store_proof proof;
    char *proof_call; // what makes a guess come true, or NULL
    enum severity severity;
    enum store_confirmed confirmed;
    char *cause;
    char *library, *blamed;          // as stored, and as it should be; or NULL
    char *function, *stack, *result; // of the fault: "malloc", frames, "NULL/ENOMEM"; or NULL
    char *module;                    // whose call it is, at `offset`; or NULL
    uint64_t offset;
    char *program;     // that it was injected into, or NULL
    char *crash_stack; // or NULL
    char *reason;      // of the example's verdict, or NULL
    // What became of the result, by the explanation: `untested` by the function that made the call.
    bool untested, tested, returned;
    bool in_libc; // it failed inside the C library, which has not told the program yet
    char *told;   // file name of the module that learnt of the failure last, or NULL
    // Where the failure was handed to last, as which value: module, or NULL, and instruction there
    char *handed_to;
    uint64_t handed_offset;
    int64_t handed;
    bool accesses; // it crashes by an access to `address`
    uint64_t address;
    size_t main; // the member that stands for this one, perhaps itself
};
struct finding_members {
    ARRAY(struct finding_member) items;
    struct sibling_programs siblings;
};
void finding_members_deinit(struct finding_members *members);

// Whether it matters which programs are of one package.
bool finding_members_need_packages(const struct finding_members *members);
// Whether one is a decision to end, and the other the same end, of which no message was seen.
bool finding_member_is_one_decision(const struct finding_member *a, const struct finding_member *b);
// Whether one change of the code would mend both.
bool finding_member_is_same(const struct finding_members *members, const struct finding_member *a,
                            const struct finding_member *b);

#endif
