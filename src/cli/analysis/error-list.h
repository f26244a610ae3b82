// SPDX-License-Identifier: GPL-3.0-or-later
// The value of --exclude-errno: names of error numbers.
#ifndef ORDEAL_CLI_ANALYSIS_ERROR_LIST_H
#define ORDEAL_CLI_ANALYSIS_ERROR_LIST_H

#include "base/error.h"
#include "profile/value.h"

// Parses "ENOSYS,EINTR" and adds the numbers to the set. An error if a name is unknown.
_must_check_ struct error *error_list_parse(const char *list, struct error_set *numbers);

#endif
