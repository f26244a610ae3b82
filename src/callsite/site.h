// SPDX-License-Identifier: GPL-3.0-or-later
// Call sites: where a module calls functions that can fail, and whether it checks for failures.
// This is the forward analysis of Algorithms 2 and 3 of the LFI article, extended.
#ifndef ORDEAL_CALLSITE_SITE_H
#define ORDEAL_CALLSITE_SITE_H

#include "base/array.h"
#include "base/error.h"
#include "flow/image.h"

#include <stdbool.h>
#include <stdint.h>

#define SITE_CODES 48 // failure codes of one function that are looked at

// What a function's result means when it has not failed.
enum site_success {
    SITE_SUCCESS_ANY,        // unknown: 0 or a positive number
    SITE_SUCCESS_ZERO,       // always 0
    SITE_SUCCESS_LENGTH,     // the length or process asked for; less is no full success
    SITE_SUCCESS_BELOW,      // a length that is less than the limit asked for, like snprintf()
    SITE_SUCCESS_POSITION,   // the position or descriptor asked for, which may be 0
    SITE_SUCCESS_VALUE,      // a character, process or count: not negative
    SITE_SUCCESS_DESCRIPTOR, // a descriptor; 0 is one like others
    SITE_SUCCESS_CONVERTED,  // a number that may equal a failure; errno tells them apart: strtol()
    SITE_SUCCESS_TIME, // a time that may equal a failure; a structure tells them apart: mktime()
    SITE_SUCCESS_REQUESTED, // it depends on the request, as for ioctl()
    SITE_SUCCESS_POINTER,   // an address
    SITE_SUCCESS_NEVER,     // it returns only if it fails, so no check is needed
};
// For well-known functions of the C library; false for others.
bool site_success_known(const char *name, enum site_success *ret_success);

// How a function that is called can fail.
struct site_failures {
    const int64_t *codes; // results that mean failure, sign-extended
    size_t count;
    enum site_success success;
    bool guessed; // that these are failures is a guess from the function's code
};

struct site_callee {
    const char *name, *version; // version may be NULL
    uint32_t import;            // index in the image
    size_t count;
    int64_t codes[SITE_CODES];
    bool more; // it has more codes than `codes` has room for
    enum site_success success;
    bool guessed;
};

enum site_class {
    SITE_UNCHECKED, // no failure is told apart from success
    SITE_PARTLY,    // some failures are; `unchecked` says which are not
    SITE_CHECKED,
    SITE_UNKNOWN, // `reason` says why
};

// The most important use of the result while it may still be a failure.
enum site_use {
    SITE_IGNORED, // not used at all
    SITE_CHECKED_FIRST,
    SITE_DEREFERENCED,
    SITE_PASSED, // to `passed_to`, as its argument `argument`
    SITE_RETURNED,
    SITE_STORED_GLOBAL,
    SITE_STORED_ELSEWHERE, // on the heap or through an argument
    SITE_CALCULATED,       // arithmetic, or an index
    SITE_COMPARED,         // only compared, in a way that tells no failure apart
};

enum site_check {
    SITE_CHECK_NONE,
    SITE_CHECK_BEFORE, // on every path before the result is used
    SITE_CHECK_AFTER,  // on some path only after a use
    SITE_CHECK_SOME,   // on some paths; on others the result is used without a check
};

enum site_place {         // of the check
    SITE_PLACE_HERE,      // in the function with the call
    SITE_PLACE_ERRNO,     // in the function with the call, which compares errno
    SITE_PLACE_CALLERS,   // in callers to which the function returns the result
    SITE_PLACE_CALLED_ON, // in a function to which the result is passed
};

enum site_role { // of the function a site lies in
    SITE_ROLE_NONE,
    SITE_ROLE_GUARDS, // returns only successes, like xmalloc: its callers need no check
    SITE_ROLE_PASSES, // returns failures as they are: its callers are sites, too
};

struct site {
    uint64_t address;       // of the call, or of the jump of a tail call
    uint64_t after;         // return address; 0 for a tail call
    uint32_t function;      // that contains the call; index in the image
    uint32_t callee;        // index in sites.callees
    uint8_t class;          // enum site_class
    uint8_t use;            // enum site_use
    uint8_t check;          // enum site_check
    uint8_t place;          // enum site_place
    uint8_t role;           // enum site_role
    uint8_t argument;       // SITE_PASSED: number of the argument, from 0
    uint32_t passed_to;     // SITE_PASSED: like flow_block.callee; FLOW_NONE if unknown
    uint64_t unchecked;     // a bit for each code of the callee
    uint64_t use_address;   // or 0
    uint64_t check_address; // or 0
    // If the site calls a wrapper of the callee: that function, and the site within it. Both are
    // FLOW_NONE for a direct call.
    uint32_t wrapper, inner;
    uint32_t callers, callers_checked; // if the result is returned: callers followed, and checking
    const char *reason;                // a constant text, or NULL
};

// A branch that only failures of a call take.
struct site_edge {
    uint32_t call; // block that ends with the call
    uint32_t from; // block that ends with the branch
    uint32_t kind; // enum flow_edge_kind
};

struct sites {
    ARRAY(struct site_callee) callees;
    ARRAY(struct site) items;        // by address
    uint32_t calls;                  // all calls of imports, also of those that cannot fail
    uint32_t unresolved;             // indirect calls whose callee is unknown
    ARRAY(struct site_edge) failing; // empty unless asked for
};
void sites_deinit(struct sites *sites);

struct sites_context {
    // How an import can fail. False if that is unknown or it never fails. *ret_failures must stay
    // valid until the next call.
    bool (*failures)(void *data, uint32_t import, struct site_failures *ret_failures);
    void *data;
    bool failing; // also fill sites.failing, which doubles the time
};
// Finds every site of an image. Time and memory are linear in the size of the code: a site that
// exceeds its budget is SITE_UNKNOWN. The names in *ret_sites belong to the image.
_must_check_ struct error *sites_find(const struct flow_image *image,
                                      const struct sites_context *context, struct sites *ret_sites);

const char *site_class_name(enum site_class class);
const char *site_use_name(enum site_use use);

#endif
