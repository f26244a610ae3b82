// SPDX-License-Identifier: GPL-3.0-or-later
// Fault profiles as text, JSON and XML, and compared with manual pages. Each report appends to
// `text`, which belongs to the caller.
#ifndef ORDEAL_REPORT_PROFILE_PROFILE_H
#define ORDEAL_REPORT_PROFILE_PROFILE_H

#include "base/array.h"
#include "profile/man.h"
#include "profile/profile.h"

#include <stdbool.h>

struct profile_view {
    bool all; // also unlikely failures, functions without failures, and old versions
    const char *const *globs; // show only functions that match one of these; all if there are none
    size_t glob_count;
    // Whether to show a function; NULL: show every one.
    bool (*wanted)(const void *data, const struct profile *profile,
                   const struct profile_function *function);
    const void *data;
};
bool profile_name_fits(const char *glob, const char *name);
// Whether to show a function at all, and one failure of it.
bool profile_shows(const struct profile_view *view, const struct profile *profile,
                   const struct profile_function *function);
bool profile_shows_failure(const struct profile_view *view, const struct failure *failure);

struct profile_counts {
    size_t functions, failing, unknown, cut;
};

// Appends one table for a library and adds to the counts.
_must_check_ struct error *report_profile_text(const struct profile *profile,
                                               const struct profile_view *view,
                                               struct profile_counts *counts, struct buffer *text);
// Writes one object for all libraries.
_must_check_ struct error *report_profiles_json(const struct profile *profiles, size_t count,
                                                const struct profile_view *view,
                                                struct buffer *text);
// Writes the XML format of the profiler in the LFI article.
_must_check_ struct error *report_profiles_xml(const struct profile *profiles, size_t count,
                                               const struct profile_view *view,
                                               struct buffer *text);

struct profile_agreement {
    size_t functions, agreeing;  // with a manual page that lists errors
    size_t both, missing, extra; // error numbers
};
// Appends where a profile and the manual pages on this machine differ. Adds to the counts.
_must_check_ struct error *report_profile_man(const struct profile *profile,
                                              const struct profile_view *view,
                                              struct profile_agreement *agreement,
                                              struct buffer *text);

// The usual name of an error number, or the number itself, written to `digits`.
const char *profile_error_name(unsigned number, char digits[static 16]);

#endif
