// SPDX-License-Identifier: GPL-3.0-or-later
// What can be told from the code about calls that were recorded: what the function can fail with,
// and whether its caller would notice.
#ifndef ORDEAL_INJECTORS_LIBRARY_ANALYSIS_H
#define ORDEAL_INJECTORS_LIBRARY_ANALYSIS_H

#include "base/error.h"
#include "callsite/modules.h"
#include "injectors/library/recording.h"

struct analysis {
    struct callsite_modules modules;
    struct map by_path; // from a hash of the path to the module
};
// Of every program and library that calls something. What cannot be read is left out: it may be
// gone, or have been there in the sandbox only.
_must_check_ struct error *analysis_make(struct analysis *analysis,
                                         const struct recording *recording);
void analysis_deinit(struct analysis *analysis);

struct analysed {
    enum site_class class;
    unsigned danger;                      // 0 to 100
    bool counts;                          // the caller is what counts lines for gcov
    bool guards;                          // the function that calls ends or goes on without failing
    const struct site *site;              // or NULL
    const struct flow_image *image;       // of the site, or NULL
    const struct site_callee *callee;     // of the site, or NULL
    const struct callsite_import *import; // what the module knows the function as, or NULL
};
// Whether a function was linked in to count lines (gcc --coverage), and is nobody's to test.
bool analysis_is_counter(const char *name, size_t size);
// Nothing known is SITE_UNKNOWN.
struct analysed analysis_find(const struct analysis *analysis, const struct recorded_site *site,
                              const char *function);

#endif
