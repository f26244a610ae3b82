// SPDX-License-Identifier: GPL-3.0-or-later
// Call stacks of stopped tasks, read from outside: by the tables of Go, by .eh_frame, and where
// code has neither, by return addresses that are found on the stack.
#ifndef ORDEAL_TRACER_STACK_H
#define ORDEAL_TRACER_STACK_H

#include "base/array.h"
#include "base/error.h"
#include "observe/tracer.h"
#include "tracer/code.h"

#define STACK_FRAMES 64

struct stack_frame {
    uint64_t address;       // where the call returns to; of the first one, behind the instruction
    struct code_file *code; // NULL: not known
    uint64_t offset;        // link-time address
    bool guessed;           // no table tells its caller
};

struct stack {
    struct stack_frame frames[STACK_FRAMES];
    unsigned count;
    unsigned site;   // the frame that the call is blamed on: see stack_read()
    bool of_runtime; // Go's runtime makes the call for itself
    bool loading;    // the dynamic loader makes it
    bool finished;   // the frames are all of the stack
};

// Reads the stack of a task that has stopped. `site` is the place that called the
// library: the first frame behind the wrapper of the call. In Go it is the first frame outside of
// the standard library, if there is one.
void stack_read(struct address_space *space, const struct tracer_task *task,
                struct stack *ret_stack);
// Of a Go program that ends itself: sets `site` to what panicked. *ret_error: it was an error that
// Go found, such as a nil pointer, and no decision of the program's. False: nobody panicked.
bool stack_find_panic(struct stack *stack, bool *ret_error);
// Of the frames from `site` on; the same for the same path through the same builds.
uint64_t stack_hash(const struct stack *stack);

#endif
