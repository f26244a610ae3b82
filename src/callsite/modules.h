// SPDX-License-Identifier: GPL-3.0-or-later
// The modules whose call sites are asked for: what their imports can fail with, and their sites.
#ifndef ORDEAL_CALLSITE_MODULES_H
#define ORDEAL_CALLSITE_MODULES_H

#include "callsite/imports.h"
#include "callsite/site.h"

// What is known of one import.
struct callsite_import {
    ARRAY(int64_t) codes; // results that mean failure
    ARRAY(int) errors;    // of each, an errno that goes with it, or 0
    enum site_success success;
};

struct callsite_module {
    char *path;
    const struct flow_image *image;
    ARRAY(struct callsite_import) imports; // of the image
    struct callsite_imports learnt;
    struct sites sites;
    struct error *error;
};

struct callsite_modules {
    struct profile_set *set;
    const struct profile_cache *cache; // or NULL
    struct error_set excluded;         // error numbers that do not count
    bool failing;                      // find branches that only failures take, too
    ARRAY(struct callsite_module) items;
};
void callsite_modules_deinit(struct callsite_modules *modules);

// A program (looked for as the shell would) or a shared object, and everything it needs.
_must_check_ struct error *callsite_modules_add(struct callsite_modules *modules, const char *name);
// Keeps what was worked out about imports for the next time, if there is a cache.
void callsite_modules_keep(const struct callsite_modules *modules);
// Finds the sites of all of them, in `threads` threads.
_must_check_ struct error *callsite_modules_find(struct callsite_modules *modules,
                                                 unsigned threads);
// Functions of the C library that cannot fail, whatever their code looks like; sorted.
const char *const *callsite_never_failing(size_t *ret_count);
// The errno that goes with a result of an import, or 0.
int callsite_modules_error(void *modules, size_t module, uint32_t import, int64_t result);

#endif
