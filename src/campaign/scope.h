// SPDX-License-Identifier: GPL-3.0-or-later
// Whether a fault was injected into the user's own code. What runs on the way to it (a shell, make,
// grep) fails, too, but the user can hardly mend it.
//
// With patterns (`mine`), own is what they match. Else the first of these rules holds by which any
// candidate of the campaign is own:
//   - what lies in the tree under test, the repository of the working directory or, without one,
//   the
//     working directory; and everything that runs in the processes of such a program;
//   - the program of the command, unless that only runs others (a shell, make, env);
//   - all programs but those that only run others;
//   - everything.
#ifndef ORDEAL_CAMPAIGN_SCOPE_H
#define ORDEAL_CAMPAIGN_SCOPE_H

#include "definition/definition.h"
#include "injector/observation.h"
#include "store/store.h"

struct scope;
// Looks at the campaign's candidates. The definition must outlive the scope, which scope_free()
// frees. *ret_unmatched is the first pattern that matches none of them, or NULL; it belongs to the
// definition.
_must_check_ struct error *scope_new(const struct definition *definition, struct store *store,
                                     int64_t campaign, struct scope **ret_scope,
                                     const char **ret_unmatched);
void scope_free(struct scope *scope);
// Of a fault: the file that makes the call, the program of the process and the call stack decide.
enum store_scope scope_of(const struct scope *scope, const struct injection *injection);
// Whether this system library is own: a pattern names it; or, without patterns, the fault was
// injected into an own program, and the library has its name or comes from the same source package.
// The C library is nobody's own.
_must_check_ struct error *scope_owns(struct scope *scope, const struct injection *injection,
                                      const char *library, bool *ret_owns);

#endif
