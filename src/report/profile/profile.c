// SPDX-License-Identifier: GPL-3.0-or-later
// What all reports of fault profiles share: which functions and failures to show, and the names of
// error numbers.
#include "report/profile/profile.h"

#include "scenario/tables.h"

#include <fnmatch.h>
#include <stdio.h>
#include <threads.h>

bool profile_name_fits(const char *glob, const char *name)
{
    return fnmatch(glob, name, FNM_EXTMATCH) == 0;
}

bool profile_shows(const struct profile_view *view, const struct profile *profile,
                   const struct profile_function *function)
{
    bool named = view->glob_count == 0;
    for (size_t i = 0; i < view->glob_count && !named; i++)
        named = profile_name_fits(view->globs[i], profile_text(profile, function->name));
    if (!named)
        return false;
    if (view->wanted != NULL)
        return view->wanted(view->data, profile, function);
    return view->all || !function->old;
}

bool profile_shows_failure(const struct profile_view *view, const struct failure *failure)
{
    return failure->confidence >= (view->all ? 1 : FAILURE_LIKELY);
}

// Names are looked up very often, so they are found once.
static const char *names[ERROR_NUMBERS];
static once_flag names_found = ONCE_FLAG_INIT;

static void find_names(void)
{
    for (unsigned i = 0; i < ERROR_NUMBERS; i++)
        names[i] = constant_name(CONSTANT_ERRNO, i);
}

const char *profile_error_name(unsigned number, char digits[static 16])
{
    call_once(&names_found, find_names);
    if (number < ERROR_NUMBERS && names[number] != NULL)
        return names[number];
    snprintf(digits, 16, "%u", number);
    return digits;
}
