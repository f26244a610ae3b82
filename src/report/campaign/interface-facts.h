// SPDX-License-Identifier: GPL-3.0-or-later
// What a campaign found at the interface of a library (oracle.interface): outcomes, how much was
// corrupted, which return values were wrong, and whether what is accessed often is corrupted often.
#ifndef ORDEAL_REPORT_CAMPAIGN_INTERFACE_FACTS_H
#define ORDEAL_REPORT_CAMPAIGN_INTERFACE_FACTS_H

#include "report/campaign/facts.h"
#include "report/campaign/terminal.h"

enum interface_effect {
    EFFECT_CRASH,
    EFFECT_HANG,
    EFFECT_WRONG, // results or exit status
    EFFECT_CORRUPTED,
    EFFECT_NONE,
    EFFECT_UNKNOWN, // right results, and nobody knows what the library gave
    EFFECTS
};
extern const char *const interface_effect_names[EFFECTS];
// EFFECTS: the trial says nothing.
enum interface_effect interface_effect_of(const struct store_interface_trial *trial);

// Classes of Orthogonal Defect Classification; the last is of all other fault types.
enum interface_class { ALL_CLASSES, ALGORITHM, CHECKING, INTERFACE, ASSIGNMENT, NO_CLASS, CLASSES };
extern const char *const interface_class_names[CLASSES];

struct corrupted_sizes {   // of trials that corrupted memory
    ARRAY(uint64_t) bytes; // the smallest first
};
// How many are at most so large; not NULL-safe.
uint64_t corrupted_sizes_up_to(const struct corrupted_sizes *sizes, uint64_t bytes);
double corrupted_sizes_median(const struct corrupted_sizes *sizes); // of at least one

// Bytes that a run without a fault stores to as often as 2^bin times, and less than twice that.
struct accessed_bytes {
    double bytes;
    double corruptions; // trials that corrupt them, of all bytes together
};
enum { ACCESS_BINS = 64 };

struct interface_facts {
    bool compared; // the campaign compared interfaces
    uint64_t trials, not_activated, unknown, diverged, failures;
    uint64_t effects[EFFECTS];
    struct corrupted_sizes sizes[CLASSES];
    uint64_t results[STORE_RESULTS][2]; // without and with corrupted memory
    uint64_t wrong_results, wrong_results_of_failures;
    struct stats_correlation correlation; // of bytes; n 0: not known
    struct accessed_bytes accesses[ACCESS_BINS];
    double seconds; // of all trials together
};
_must_check_ struct error *interface_facts_load(const struct campaign_facts *facts,
                                                struct interface_facts *ret_facts);
// The mean share of trials that corrupt one of the bytes.
double interface_corruption_rate(const struct interface_facts *facts, unsigned bin);
void interface_facts_deinit(struct interface_facts *facts);

// They write nothing if neither campaign injected interface errors.
_must_check_ struct error *interface_put_comparison(struct terminal *terminal,
                                                    const struct campaign_facts *before,
                                                    const struct campaign_facts *after);
_must_check_ struct error *interface_put_comparison_json(const struct campaign_facts *before,
                                                         const struct campaign_facts *after,
                                                         struct report_sink *sink);

// They write nothing if interfaces were not compared.
_must_check_ struct error *interface_put_text(struct terminal *terminal,
                                              const struct campaign_facts *facts);
_must_check_ struct error *interface_put_json(const struct campaign_facts *facts,
                                              struct report_sink *sink);

#endif
