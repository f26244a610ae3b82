// SPDX-License-Identifier: GPL-3.0-or-later
// What a journal says, in names: injections, crashes, stacks. For injectors that have the runtime
// in the target. Keeps what it has read about modules; one per job slot.
#ifndef ORDEAL_INJECTOR_JOURNAL_READER_H
#define ORDEAL_INJECTOR_JOURNAL_READER_H

#include "base/array.h"
#include "base/error.h"
#include "injector/injector.h"
#include "scenario/scenario.h"
#include "wire/view.h"

#include <stdbool.h>
#include <stdint.h>

struct journal_reader;
_must_check_ struct error *journal_reader_new(struct journal_reader **ret_reader);
void journal_reader_free(struct journal_reader *reader);

// Before frames of another life of the sandbox are named. `root` goes before paths of modules that
// are not the same outside.
_must_check_ struct error *journal_reader_begin(struct journal_reader *reader, const char *root);

// Fills in activations, injections, crash and note. `scenario` is what the plan was made of.
_must_check_ struct error *journal_reader_observe(struct journal_reader *reader,
                                                  const struct wire_view *view,
                                                  const struct scenario *scenario,
                                                  struct observation *observation);

// When the run is over: ends its session and does both of the above. The view lives until the next
// run is prepared.
struct runtime_session; // trial/runtime-session.h
_must_check_ struct error *
journal_reader_end_session(struct journal_reader *reader, struct runtime_session *session,
                           const char *root, const struct scenario *scenario,
                           struct wire_view *ret_view, struct observation *observation);

// Where an address of a module's file is. Strings live until the next journal_reader_begin().
struct journal_reader_place {
    const char *symbol; // the function, the innermost of those inlined there; or NULL
    const char *file;   // or NULL
    unsigned line;
};
struct journal_reader_place journal_reader_find(struct journal_reader *reader, const char *module,
                                                uint64_t address);

// "FUNCTION at FILE:LINE (MODULE)", "FUNCTION (MODULE)", "MODULE+0xOFFSET" or, without a module
// (NULL), "0xADDRESS". `offset` is a link-time address; one that a call returns to if `returns`.
// `brief`: without file and line, for keys.
_must_check_ struct error *journal_reader_put_frame(struct journal_reader *reader,
                                                    const char *module, uint64_t offset,
                                                    bool returns, bool brief, struct buffer *text);

// How much of a symbol to show: of the twin that has a function's faults, the function's name.
int journal_reader_name_size(const char *symbol);

// The path of a module of the table in `storage`; NULL if it is not known.
const char *journal_reader_module(const struct wire_view *view, uint32_t index,
                                  char storage[WIRE_MODULE_PATH + 1]);

// Whether this is the library of ours in the target. Its frames are no part of the target's stacks.
bool journal_reader_is_runtime(const char *module);

#endif
