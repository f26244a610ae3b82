// SPDX-License-Identifier: GPL-3.0-or-later
// The system calls of a kernel in the form of a library's fault profile.
#ifndef ORDEAL_PROFILE_KERNEL_PROFILE_H
#define ORDEAL_PROFILE_KERNEL_PROFILE_H

#include "profile/kernel/kernel.h"
#include "profile/profile.h"

// Deinit the profile; the kernel may be closed before.
_must_check_ struct error *kernel_profile(const struct kernel *kernel, const char *path,
                                          struct profile *ret_profile);

#endif
