// SPDX-License-Identifier: GPL-3.0-or-later
// What the files about sets of libraries share: modules, who calls whom, what was looked at.
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
    dev_t device; // it may be asked for by several names
    ino_t inode;
    struct elf_object *object;
    uint64_t digest;          // of the file
    struct flow_image *image; // NULL until it is needed, and when it is needed no more
    bool opened;              // what follows is there, whether the image still is or not
    bool broken;              // it could not be decoded
    size_t function_count;
    ARRAY(struct module_export) exports; // by name
    ARRAY(size_t) scope;                 // modules searched for its imports, in order
    struct summary *summaries;           // by function
    unsigned char *states;               // by function
    uint8_t *private_stores;
    uint32_t *import_functions; // by import: function of the module below; FLOW_NONE: unknown
    uint32_t *import_modules;   // FLOW_NONE: not looked up yet
    uint32_t *hints, *import_hints;
    int64_t error_offset; // errno's place in its thread storage, -1 if it has none
};

struct profile_set {
    struct profile_options options;
    ARRAY(struct module) modules;
    struct error_sets sets;
};

struct node { // a function of a module
    uint32_t module, function;
};

// Everything a module needs is added, too, if it is not there.
_must_check_ struct error *module_find_scope(struct profile_set *set, size_t module);
// Decodes its code, unless that was done.
_must_check_ struct error *module_open(struct module *module);
// The function behind a callee; its function is FLOW_NONE if that is not known.
_must_check_ struct error *module_node(struct profile_set *set, uint32_t module, uint32_t callee,
                                       struct node *ret_node);
// Looks at a function and, before it, at what it calls, unless that was done.
_must_check_ struct error *module_analyse(struct profile_set *set, struct node node);

#endif
