// SPDX-License-Identifier: GPL-3.0-or-later
// Modules, what their imports can fail with, and their call sites.
#ifndef ORDEAL_CALLSITE_MODULES_H
#define ORDEAL_CALLSITE_MODULES_H

#include "callsite/imports.h"
#include "callsite/site.h"

// What one import can return.
struct callsite_code {
    bool forced; // as in struct failure; and nothing about the function is unknown
    bool answer; // nothing to inject: a function that only looks and computes gives it, it is a
                 // sign of success, or the outputs that come with it are not known
    // What the function stores where an argument points to when it fails like this; argument 0:
    // nothing that is known.
    uint8_t out_argument, out_width; // from 1; bytes
    int64_t out_value;
};

struct callsite_import {
    ARRAY(int64_t) codes;              // results that mean failure
    ARRAY(int) errors;                 // for each code, an errno that goes with it, or 0
    ARRAY(struct callsite_code) facts; // about each code
    enum site_success success;
    bool guessed; // as in struct site_failures
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
    bool failing;                      // also find branches that only failures take
    ARRAY(struct callsite_module) items;
};
void callsite_modules_deinit(struct callsite_modules *modules);

// Adds a program (found as the shell finds it) or a shared object, and all libraries it needs.
_must_check_ struct error *callsite_modules_add(struct callsite_modules *modules, const char *name);
// Writes what was worked out about imports to the cache, if there is one. Errors are ignored.
void callsite_modules_keep(const struct callsite_modules *modules);
// Finds the sites of all modules, in `threads` threads. The error names the module.
_must_check_ struct error *callsite_modules_find(struct callsite_modules *modules,
                                                 unsigned threads);
// Functions of the C library that cannot fail, whatever their code looks like; sorted.
const char *const *callsite_never_failing(size_t *ret_count);
// Functions of GLib that end the program when there is no memory; sorted.
const char *const *callsite_ending_without_memory(size_t *ret_count);
// The errno that goes with a result of an import, or 0.
int callsite_modules_error(void *modules, size_t module, uint32_t import, int64_t result);

#endif
