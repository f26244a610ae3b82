// SPDX-License-Identifier: GPL-3.0-or-later
// Threads that get no signals. The threads that existed before handle them.
#ifndef ORDEAL_BASE_THREAD_H
#define ORDEAL_BASE_THREAD_H

#include "base/error.h"

#include <pthread.h>
#include <signal.h>

// Blocks every signal in the calling thread until signals_restore().
_must_check_ struct error *signals_block(sigset_t *ret_before);
void signals_restore(const sigset_t *before);

// Starts a thread, which the caller joins.
_must_check_ struct error *thread_start(pthread_t *ret_thread, void *(*run)(void *),
                                        void *argument);

#endif
