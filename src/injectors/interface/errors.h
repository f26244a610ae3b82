// SPDX-License-Identifier: GPL-3.0-or-later
// Errors at interfaces as rules of ordeal-scenario(5): those of a profile, and classical ones at
// the same places.
#ifndef ORDEAL_INJECTORS_INTERFACE_ERRORS_H
#define ORDEAL_INJECTORS_INTERFACE_ERRORS_H

#include "interface/corruption.h"
#include "stats/stats.h"

// Profiles of a file, as `ordeal report --profile` writes it.
struct error_profiles {
    ARRAY(struct corruption) items;
};
_must_check_ struct error *error_profiles_read(const char *path, struct error_profiles *ret_list);
void error_profiles_deinit(struct error_profiles *profiles);

enum error_model { MODEL_MEASURED, MODEL_BIT_FLIP, MODEL_BOUNDARY, MODEL_POINTER, ERROR_MODELS };
extern const char *const error_model_names[ERROR_MODELS];

// The rule that makes a call return with this error. *ret_spec stays NULL if there is nothing that
// can be injected: the call never ended, or no pointer leads to what was corrupted. *ret_cut: a
// part of the error cannot.
_must_check_ struct error *error_spec(const struct corruption *corruption, const char *library,
                                      enum error_model model, struct stats_random *random,
                                      char **ret_spec, bool *ret_cut);

#endif
