// SPDX-License-Identifier: GPL-3.0-or-later
// What the reports of fault profiles have in common.
#include "report/profile.h"

#include "scenario/tables.h"

#include <fnmatch.h>
#include <stdio.h>
#include <threads.h>

bool profile_shows(const struct profile_view *view, const struct profile *profile,
                   const struct profile_function *function)
{
    if (view->glob != NULL &&
        fnmatch(view->glob, profile_text(profile, function->name), FNM_EXTMATCH) != 0)
        return false;
    if (view->wanted != NULL)
        return view->wanted(view->data, profile, function);
    return view->all || !function->old;
}

bool profile_shows_failure(const struct profile_view *view, const struct failure *failure)
{
    return view->all || failure->confidence >= FAILURE_LIKELY;
}

// A name is asked for very often.
static const char *names[ERROR_NUMBERS];
static once_flag named = ONCE_FLAG_INIT;

static void find_names(void)
{
    for (unsigned i = 0; i < ERROR_NUMBERS; i++)
        names[i] = constant_name(CONSTANT_ERRNO, i);
}

const char *profile_error_name(unsigned number, char digits[static 16])
{
    call_once(&named, find_names);
    if (number < ERROR_NUMBERS && names[number] != NULL)
        return names[number];
    snprintf(digits, 16, "%u", number);
    return digits;
}
