// SPDX-License-Identifier: GPL-3.0-or-later
// Where a module calls functions that can fail, and whether it notices when they do: the forward
// analysis of Algorithms 2 and 3 of the LFI article, extended.
#ifndef ORDEAL_CALLSITE_SITE_H
#define ORDEAL_CALLSITE_SITE_H

#include "base/array.h"
#include "base/error.h"
#include "flow/image.h"

#include <stdbool.h>
#include <stdint.h>

#define SITE_CODES 48 // error results of one function that are looked at

// What a function's result means when it has not failed.
enum site_success {
    SITE_SUCCESS_ANY,     // nothing is known: 0 or a positive number
    SITE_SUCCESS_ZERO,    // 0 and nothing else
    SITE_SUCCESS_LENGTH,  // what was asked for: how much, where, which process; less is no success
    SITE_SUCCESS_VALUE,   // a descriptor, a character, a process: not negative
    SITE_SUCCESS_POINTER, // an address
    SITE_SUCCESS_NEVER,   // who comes back has failed: nothing is to be checked
};
// Of well-known functions of the C library; false if it is none.
bool site_success_known(const char *name, enum site_success *ret_success);

// What is known about a function that is called.
struct site_failures {
    const int64_t *codes; // results that mean failure, sign-extended
    size_t count;
    enum site_success success;
};

struct site_callee {
    const char *name, *version; // version may be NULL
    uint32_t import;            // of the image
    size_t count;
    int64_t codes[SITE_CODES];
    bool more; // codes that are not among these
    enum site_success success;
};

enum site_class {
    SITE_UNCHECKED, // no failure is told apart from success
    SITE_PARTLY,    // some failures are; `unchecked` says which are not
    SITE_CHECKED,
    SITE_UNKNOWN, // `reason` says why
};

// The first thing that is done with the result while it may still be a failure.
enum site_use {
    SITE_IGNORED, // nothing at all
    SITE_CHECKED_FIRST,
    SITE_DEREFERENCED,
    SITE_PASSED, // to `passed_to`, as its argument `argument`
    SITE_RETURNED,
    SITE_STORED_GLOBAL,
    SITE_STORED_ELSEWHERE, // on the heap or through an argument
    SITE_CALCULATED,       // arithmetic, or an index
    SITE_COMPARED,         // only compared, with something that tells no failure
};

enum site_check {
    SITE_CHECK_NONE,
    SITE_CHECK_BEFORE, // on every path before the result is used
    SITE_CHECK_AFTER,  // only after a use on some path
    SITE_CHECK_SOME,   // on some paths; on others the result is used without
};

enum site_place {         // of the check
    SITE_PLACE_HERE,      // in the function that calls
    SITE_PLACE_ERRNO,     // likewise, but errno is what is compared
    SITE_PLACE_CALLERS,   // in those who get the result returned
    SITE_PLACE_CALLED_ON, // in a function that the result is passed on to
};

enum site_role { // of the function a site lies in
    SITE_ROLE_NONE,
    SITE_ROLE_GUARDS, // gives its callers successes only, like xmalloc: they need no check
    SITE_ROLE_PASSES, // gives failures to its callers as they are: they are sites, too
};

struct site {
    uint64_t address;       // of the call, or of the jump that is one
    uint64_t after;         // where it returns to; 0 of a tail call
    uint32_t function;      // of the image, which it lies in
    uint32_t callee;        // of sites.callees
    uint8_t class;          // enum site_class
    uint8_t use;            // enum site_use
    uint8_t check;          // enum site_check
    uint8_t place;          // enum site_place
    uint8_t role;           // enum site_role
    uint8_t argument;       // from 0
    uint32_t passed_to;     // as flow_block.callee; FLOW_NONE if it is not known
    uint64_t unchecked;     // a bit per code of the callee
    uint64_t use_address;   // or 0
    uint64_t check_address; // or 0
    // The call is to a function of the module that passes on the failures of the callee: this one,
    // with the site within it. Both FLOW_NONE for a direct call.
    uint32_t wrapper, inner;
    uint32_t callers, callers_checked; // where the result is returned: in how many it was followed
    const char *reason;                // or NULL; lives as long as the program
};

// A branch that only failures of a call take; found on request.
struct site_edge {
    uint32_t call; // block that ends with the call
    uint32_t from; // block that ends with the branch
    uint32_t kind; // enum flow_edge_kind
};

struct sites {
    ARRAY(struct site_callee) callees;
    ARRAY(struct site) items; // by address
    uint32_t calls;           // all calls of imports, whether they can fail or not
    uint32_t unresolved;      // calls of which nobody knows where they lead
    ARRAY(struct site_edge) failing;
};
void sites_deinit(struct sites *sites);

struct sites_context {
    // What is known of an import: false if nothing is, or if it never fails. `*ret_failures` must
    // stay valid until the next question.
    bool (*failures)(void *data, uint32_t import, struct site_failures *ret_failures);
    void *data;
    bool failing; // fill sites.failing, which takes as long again
};
// Every site of an image. Time and memory are linear in the code: what exceeds a budget is
// SITE_UNKNOWN.
_must_check_ struct error *sites_find(const struct flow_image *image,
                                      const struct sites_context *context, struct sites *ret_sites);

const char *site_class_name(enum site_class class);
const char *site_use_name(enum site_use use);

#endif
