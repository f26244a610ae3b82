// SPDX-License-Identifier: GPL-3.0-or-later
// The inside of struct profile_set, shared by library.c, order.c, batch.c and cache.c: modules,
// their callees, and which functions were searched.
#ifndef ORDEAL_PROFILE_LIBRARY_INTERNAL_H
#define ORDEAL_PROFILE_LIBRARY_INTERNAL_H

#include "profile/library.h"

#include <sys/types.h>

struct module_export {
    const char *name, *version;
    uint64_t address;
    uint32_t function; // or FLOW_NONE
    bool hidden_version, indirect;
};

enum module_state { STATE_NEW, STATE_OPEN, STATE_DONE }; // of a function

struct module {
    char *path;
    dev_t device; // device and inode identify it: it may have several names
    ino_t inode;
    struct elf_object *object;
    uint64_t digest;          // of the file
    struct flow_image *image; // NULL before it is opened and after it is released
    bool opened;              // the fields below are filled in, and stay after a release
    bool broken;              // its code could not be decoded
    size_t function_count;
    ARRAY(struct module_export) exports; // by name
    ARRAY(size_t) scope;                 // modules searched for its imports, in order
    struct summary *summaries;           // by function
    unsigned char *states;               // by function
    uint8_t *private_stores;
    uint32_t *import_functions; // by import: function in that module; FLOW_NONE: unknown
    uint32_t *import_modules;   // by import; FLOW_NONE: not looked up yet
    uint32_t *hints, *import_hints;
    int64_t error_offset; // offset of errno in its thread storage, or -1
};

struct profile_set {
    struct profile_options options;
    ARRAY(struct module) modules;
    struct error_sets sets;
    struct error *shortage; // the first one, or NULL
};

struct node { // a function of a module
    uint32_t module, function;
};

// Takes an error that does not end the work. If the machine was short of something, the results are
// incomplete: profile_set_check() tells. Several threads may call it.
void profile_set_note(struct profile_set *set, struct error *error);
// Finds the modules where imports are looked up, and adds those that are missing in the set.
_must_check_ struct error *module_find_scope(struct profile_set *set, size_t module);
// Decodes the code of a module, unless that was done before.
_must_check_ struct error *module_open(struct module *module);
// The function that a callee stands for; ret_node->function is FLOW_NONE if unknown.
_must_check_ struct error *module_node(struct profile_set *set, uint32_t module, uint32_t callee,
                                       struct node *ret_node);
// Searches a function and before that all its callees, unless that was done before.
_must_check_ struct error *module_analyse(struct profile_set *set, struct node node);

#endif
