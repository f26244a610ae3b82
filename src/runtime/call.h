// SPDX-License-Identifier: GPL-3.0-or-later
// One intercepted call, while its rules are checked.
#ifndef ORDEAL_RUNTIME_CALL_H
#define ORDEAL_RUNTIME_CALL_H

#include "runtime/assembly/stubs.h"

struct call_path;
struct thread;

// What one rule has found out about a call and the next one need not.
struct call_cache {
    struct call_path *path; // taken, see call-path.h
    bool looked;            // for a path
    bool whole;             // all its words were compared
};

struct call {
    struct call_frame *frame;
    struct function *function;
    struct thread *thread;
    uint64_t occurrence;
    struct call_cache *cache;
};

// Whether the thread is in a call that a rule observes. Calls inside it have their frames below it;
// any other shows that the observed call was left by longjmp() or an exception.
bool call_is_inside(const struct call *call);

#endif
