// SPDX-License-Identifier: GPL-3.0-or-later
// Rates call sites by what happens to a result that may be a failure.
#include "callsite/danger.h"

#include <string.h>

bool site_is_late(const struct site *site)
{
    return site->class == SITE_CHECKED &&
           (site->check == SITE_CHECK_AFTER || site->check == SITE_CHECK_SOME);
}

// Functions whose failure hardly any program checks: they release something, print something, or
// fail only if the program has a bug.
static bool hardly_matters(const char *name)
{
    static const char *const words[] = {"close",         "munmap",         "destroy",     "free",
                                        "unlock",        "shutdown",       "print",       "put",
                                        "pthread_mutex", "pthread_rwlock", "pthread_cond"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(name, words[i]) != NULL)
            return true;
    return false;
}

bool site_is_harmless(const struct site *site, const struct site_callee *callee)
{
    return site->class == SITE_UNCHECKED && site->use == SITE_IGNORED &&
           hardly_matters(callee->name);
}

static unsigned danger_of_use(const struct site *site, const struct site_callee *callee)
{
    switch ((enum site_use)site->use) {
    case SITE_DEREFERENCED:
        return 95;
    case SITE_CALCULATED:
        return 80;
    case SITE_PASSED:
        return 70;
    case SITE_STORED_GLOBAL:
    case SITE_STORED_ELSEWHERE:
        return 60;
    case SITE_RETURNED:
        return 50;
    case SITE_CHECKED_FIRST:
    case SITE_COMPARED:
        return 45;
    case SITE_IGNORED:
        break;
    }
    if (hardly_matters(callee->name))
        return 20;
    return callee->success == SITE_SUCCESS_ZERO ? 30 : 40;
}

unsigned site_danger(const struct site *site, const struct site_callee *callee)
{
    unsigned use = danger_of_use(site, callee);
    switch ((enum site_class)site->class) {
    case SITE_UNCHECKED:
        return use;
    case SITE_PARTLY:
        return use - 15;
    case SITE_UNKNOWN:
        return 3;
    case SITE_CHECKED:
        break;
    }
    return site_is_late(site) ? use / 2 : 0;
}
