// SPDX-License-Identifier: GPL-3.0-or-later
// Analyses the code around recorded calls: how the function can fail, and whether its caller would
// notice.
#ifndef ORDEAL_INJECTORS_LIBRARY_ANALYSIS_H
#define ORDEAL_INJECTORS_LIBRARY_ANALYSIS_H

#include "base/error.h"
#include "callsite/modules.h"
#include "injector/recording.h"

struct analysis {
    struct callsite_modules modules;
    struct map by_path; // from a hash of the path to the module
};
// Analyses every program and library that made a recorded call. Skips files that cannot be read:
// they may be gone, or have existed in the sandbox only.
_must_check_ struct error *analysis_make(struct analysis *analysis,
                                         const struct recording *recording);
void analysis_deinit(struct analysis *analysis);

struct analysed {
    enum site_class class;
    unsigned danger;                      // 0 to 100
    bool counts;                          // the caller is gcov's own code
    bool guards;                          // the calling function never passes the failure on
    const struct site *site;              // or NULL
    const struct flow_image *image;       // of the site, or NULL
    const struct site_callee *callee;     // of the site, or NULL
    const struct callsite_import *import; // what the module knows the function as, or NULL
};
// Whether a function belongs to gcov (gcc --coverage), and is not to be tested.
bool analysis_is_counter(const char *name, size_t size);
// What is known about the call of `function` that returns to `site`. The class is SITE_UNKNOWN if
// nothing is. The pointers are valid as long as the analysis.
struct analysed analysis_find(const struct analysis *analysis, const struct recorded_site *site,
                              const char *function);

#endif
