// SPDX-License-Identifier: GPL-3.0-or-later
// Starts threads with all signals blocked, so that only older threads handle signals.
#include "base/thread.h"

#include "base/cleanup.h"

struct error *signals_block(sigset_t *ret_before)
{
    sigset_t all;
    sigfillset(&all);
    int code = pthread_sigmask(SIG_SETMASK, &all, ret_before);
    return code != 0 ? error_from_errno(code, "cannot block signals") : NULL;
}

void signals_restore(const sigset_t *before)
{
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

struct error *thread_start(pthread_t *ret_thread, void *(*run)(void *), void *argument)
{
    sigset_t before;
    TRY(signals_block(&before));
    int code = pthread_create(ret_thread, NULL, run, argument);
    signals_restore(&before);
    return code != 0 ? error_from_errno(code, "cannot start a thread") : NULL;
}
