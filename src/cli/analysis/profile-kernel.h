// SPDX-License-Identifier: GPL-3.0-or-later
// Where profiles get the errors of system calls from: the built-in table, or a kernel's image,
// which is looked at only when somebody asks.
#ifndef ORDEAL_CLI_ANALYSIS_PROFILE_KERNEL_H
#define ORDEAL_CLI_ANALYSIS_PROFILE_KERNEL_H

#include "profile/kernel.h"
#include "profile/library.h"
#include "profile/profile.h"

#include <pthread.h>

struct profile_kernel {
    const char *path;
    char *identity; // of what is used
    pthread_mutex_t lock;
    bool tried, spoilt; // spoilt: it could not be looked at
    struct kernel *kernel;
    struct error *error; // why it could not be looked at; to be asked for at the end
};
// `path` may be NULL. Fills in the options, which refer to it from then on.
_must_check_ struct error *profile_kernel_open(const char *path, struct profile_kernel *kernel,
                                               struct profile_options *options);
void profile_kernel_close(struct profile_kernel *kernel);

// Profiles a file that is a kernel's image: its functions are the system calls. *ret_is: whether it
// is one; what is not is no error.
_must_check_ struct error *profile_kernel_image(const char *path, struct profile *ret_profile,
                                                bool *ret_is);

#endif
