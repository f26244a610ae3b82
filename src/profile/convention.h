// SPDX-License-Identifier: GPL-3.0-or-later
// What the functions of a library tell about each other's results.
#ifndef ORDEAL_PROFILE_CONVENTION_H
#define ORDEAL_PROFILE_CONVENTION_H

#include "profile/profile.h"

// Changes the confidence of failures by what other functions of the library return.
void convention_apply(struct profile *profile);

#endif
