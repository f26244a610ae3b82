// SPDX-License-Identifier: GPL-3.0-or-later
// The kernel's filter of system calls that decides which calls stop a traced program.
#ifndef ORDEAL_OBSERVE_FILTER_H
#define ORDEAL_OBSERVE_FILTER_H

#include "base/array.h"
#include "base/error.h"

#include <linux/filter.h>
#include <stdbool.h>
#include <stdint.h>

struct filter {
    ARRAY(struct sock_filter) code;
};

// How calls stop, by linux_call_index().
enum filter_stop {
    FILTER_PASS,
    FILTER_STOP,
    FILTER_STOP_IF_VISIBLE, // as far as the filter can tell
    // If an argument is of interest; see FILTER_ABOUT().
    FILTER_STOP_IF_PROCESS,  // may be a virtual process number
    FILTER_STOP_IF_POSITIVE, // a number of 32 bits above 0
    FILTER_STOP_IF_POINTER,  // not NULL
    FILTER_STOP_IF_DEADLINE, // of a futex: not NULL, and the second argument says: an absolute time
    FILTER_STOP_IF_PEER,     // asks who is at the other end of a socket
    FILTER_STOP_IF_FILTERS,  // of prctl(): adds a filter, or bars calls from elsewhere
};
#define FILTER_ABOUT(stop, argument) ((unsigned char)((stop) | (argument) << 4))

// Code of ours, whose calls pass. Its start is a multiple of 2^32.
struct filter_code {
    uint64_t start;
    uint32_t size;
};

// `trusted` may be NULL.
_must_check_ struct error *filter_make(const unsigned char *stops,
                                       const struct filter_code *trusted,
                                       struct filter *ret_filter);
void filter_deinit(struct filter *filter);
// Installs it in this process for good. Only makes system calls. False: errno says why.
bool filter_install(const struct filter *filter);

#endif
