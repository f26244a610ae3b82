// SPDX-License-Identifier: GPL-3.0-or-later
// Questions to the coordinator, through the region: the controller asks, and the target opens no
// connection of its own.
#include "runtime/evaluate.h"

#include "runtime/call.h"
#include "runtime/function.h"
#include "runtime/journal.h"
#include "runtime/runtime.h"
#include "runtime/system.h"

static struct wire_remote *claim(void)
{
    struct wire_remote *table = region_at(runtime.region->remotes);
    for (uint32_t i = 0; i < WIRE_REMOTES; i++)
        if (atomic_swap_if(&table[i].state, WIRE_REMOTE_FREE, WIRE_REMOTE_CLAIMED))
            return &table[i];
    return NULL;
}

static bool wait_for_answer(struct wire_remote *question)
{
    while (atomic_load(&question->state) == WIRE_REMOTE_ASKED)
        if (!system_wait(&question->state, WIRE_REMOTE_ASKED, runtime.region->answer_timeout_ms))
            return false;
    return true;
}

bool remote_ask(const struct call *call, uint32_t rule, uint32_t name)
{
    uint32_t cut, answer = WIRE_REMOTE_UNREACHABLE;
    struct wire_remote *question = claim();
    if (question != NULL) {
        question->pid = system_pid();
        question->tid = system_tid();
        question->name = name;
        question->rule = rule;
        question->occurrence = call->occurrence;
        memcpy(question->arguments, call->frame->arguments, sizeof question->arguments);
        text_copy(question->function, sizeof question->function, call->function->name);
        question->frame_count =
            journal_frames(call->frame, question->frames, WIRE_REMOTE_FRAMES, &cut);
        atomic_store(&question->state, WIRE_REMOTE_ASKED);
        atomic_add(&runtime.region->requests, 1);
        system_wake(&runtime.region->requests);
        // An entry that got no answer is not used again: the controller may still write to it.
        if (wait_for_answer(question)) {
            answer = question->answer;
            atomic_store(&question->state, WIRE_REMOTE_FREE);
        }
    }
    if (answer == WIRE_REMOTE_UNREACHABLE)
        journal_note(WIRE_NOTE_REMOTE_UNREACHABLE, plan_string(name));
    return answer == WIRE_REMOTE_YES;
}
