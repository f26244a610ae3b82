// SPDX-License-Identifier: GPL-3.0-or-later
// Fault profiles for people and machines.
#ifndef ORDEAL_REPORT_PROFILE_PROFILE_H
#define ORDEAL_REPORT_PROFILE_PROFILE_H

#include "base/array.h"
#include "profile/man.h"
#include "profile/profile.h"

#include <stdbool.h>

struct profile_view {
    bool all; // also failures that are not likely, functions without any, old versions
    const char *const *globs; // only functions with one of these names; all if there are none
    size_t glob_count;
    // Whether a function is wanted; NULL: every one.
    bool (*wanted)(const void *data, const struct profile *profile,
                   const struct profile_function *function);
    const void *data;
};
bool profile_name_fits(const char *glob, const char *name);
// Whether a function is to be shown at all, and a failure of it.
bool profile_shows(const struct profile_view *view, const struct profile *profile,
                   const struct profile_function *function);
bool profile_shows_failure(const struct profile_view *view, const struct failure *failure);

struct profile_counts {
    size_t functions, failing, unknown, cut;
};

// A table per library; adds to the counts.
_must_check_ struct error *report_profile_text(const struct profile *profile,
                                               const struct profile_view *view,
                                               struct profile_counts *counts, struct buffer *text);
// One object for all libraries.
_must_check_ struct error *report_profiles_json(const struct profile *profiles, size_t count,
                                                const struct profile_view *view,
                                                struct buffer *text);
// As the LFI article's profiler writes it.
_must_check_ struct error *report_profiles_xml(const struct profile *profiles, size_t count,
                                               const struct profile_view *view,
                                               struct buffer *text);

struct profile_agreement {
    size_t functions, agreeing;  // with a manual page that lists errors
    size_t both, missing, extra; // error numbers
};
// Where a profile and the manual pages on this machine differ; adds to the counts.
_must_check_ struct error *report_profile_man(const struct profile *profile,
                                              const struct profile_view *view,
                                              struct profile_agreement *agreement,
                                              struct buffer *text);

// An error number's usual name, or its number in `digits`.
const char *profile_error_name(unsigned number, char digits[static 16]);

#endif
