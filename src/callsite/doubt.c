// SPDX-License-Identifier: GPL-3.0-or-later
// Compares what all calls of a function do with its result. A failure that is a guess from the code
// of a library is believed if the program checks for it elsewhere.
#include "callsite/doubt.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

bool doubt_is_of_c_library(const struct site_callee *callee)
{
    return callee->version != NULL && strncmp(callee->version, "GLIBC_", 6) == 0;
}

struct habit { // what the calls of a function do with its result
    uint32_t checked, used, ignored;
};

// dbus_message_iter_next(): nothing more is no failure. Who does not look knows that there is more.
static bool may_be_at_end(const struct site_callee *callee, const struct site *site)
{
    static const char end[] = "_next";
    size_t size = strlen(callee->name);
    return site->use == SITE_IGNORED && size >= sizeof end &&
           strcmp(callee->name + size - strlen(end), end) == 0;
}

static struct error *find_habits(const struct sites *sites, struct habit **ret_habits)
{
    struct habit *habits = calloc(sites->callees.count + 1, sizeof *habits);
    if (habits == NULL)
        return error_no_memory();
    for (size_t i = 0; i < sites->items.count; i++) {
        const struct site *site = &sites->items.items[i];
        struct habit *habit = &habits[site->callee];
        if (site->class == SITE_CHECKED || site->class == SITE_PARTLY)
            habit->checked++;
        else if (site->class == SITE_UNCHECKED && site->use == SITE_IGNORED)
            habit->ignored++;
        else
            habit->used++;
    }
    *ret_habits = habits;
    return NULL;
}

// Why a call of a function of another library than C's is not called unchecked, or NULL. A pointer
// is what a function is called for: if all calls ignore it, the function has no result, and the
// pointer or zero is what its code leaves in the register. Where it is a guess what a failure is,
// other calls must check for it. Of pointers, most must: a caller that knows that there is one does
// not ask.
static const char *find_doubt(const struct site_callee *callee, const struct habit *habit)
{
    bool pointer = callee->success == SITE_SUCCESS_POINTER;
    bool only_zero = callee->count == 1 && callee->codes[0] == 0;
    if ((pointer || only_zero) && habit->checked + habit->used == 0)
        return "no call of the program looks at the result: there may be none";
    if (callee->guessed && (habit->checked == 0 || (pointer && habit->checked < habit->used)))
        return "it is a guess that the function fails like this, and other calls do not check";
    return NULL;
}

struct error *doubt_guesses(struct sites *sites)
{
    _cleanup_free_ struct habit *habits = NULL;
    TRY(find_habits(sites, &habits));
    for (size_t i = 0; i < sites->items.count; i++) {
        struct site *site = &sites->items.items[i];
        const struct site_callee *callee = &sites->callees.items[site->callee];
        if (site->class != SITE_UNCHECKED || doubt_is_of_c_library(callee))
            continue;
        const char *reason = may_be_at_end(callee, site)
                                 ? "the function may say that there is no more"
                                 : find_doubt(callee, &habits[site->callee]);
        if (reason != NULL) {
            site->class = SITE_UNKNOWN;
            site->reason = reason;
        }
    }
    return NULL;
}
