// SPDX-License-Identifier: GPL-3.0-or-later
// Turns the journal of a run into injections, crashes and stacks with names. For injectors that put
// the runtime into the target. It caches what it has read about modules; each job slot has one.
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

// Call this before naming frames of another life of the sandbox. `root` is prefixed to the paths of
// modules that differ from the file outside.
_must_check_ struct error *journal_reader_begin(struct journal_reader *reader, const char *root);

// Fills in activations, injections, crash and note, or only that the view is damaged. `scenario` is
// the one that the plan was compiled from. What is in the observation after an error is the
// caller's to free.
_must_check_ struct error *journal_reader_observe(struct journal_reader *reader,
                                                  const struct wire_view *view,
                                                  const struct scenario *scenario,
                                                  struct observation *observation);

// Call this when the run is over. It ends the session and does both of the above. The view is valid
// until the next run is prepared.
struct runtime_session; // trial/runtime-session.h
_must_check_ struct error *
journal_reader_end_session(struct journal_reader *reader, struct runtime_session *session,
                           const char *root, const struct scenario *scenario,
                           struct wire_view *ret_view, struct observation *observation);

// For reference runs, whose observation says that the region is damaged.
_must_check_ struct error *journal_reader_damage_error(void);

// The source position of an address in a module's file. The strings are valid until the next
// journal_reader_begin().
struct journal_reader_place {
    const char *symbol; // the function, or the innermost one inlined there; or NULL
    const char *file;   // or NULL
    unsigned line;
};
struct journal_reader_place journal_reader_find(struct journal_reader *reader, const char *module,
                                                uint64_t address);

// Writes a frame of base/frame-text.h; without a module (NULL), "0xADDRESS". `offset` is a
// link-time address. With `returns` it is a return address. With `brief`, file and line are left
// out, for keys.
_must_check_ struct error *journal_reader_put_frame(struct journal_reader *reader,
                                                    const char *module, uint64_t offset,
                                                    bool returns, bool brief, struct buffer *text);

// Copies the path of a module in the table to `storage`. NULL if it is not known.
const char *journal_reader_module(const struct wire_view *view, uint32_t index,
                                  char storage[WIRE_MODULE_PATH + 1]);

// Whether this is Ordeal's runtime. Its frames are not part of the target's stacks.
bool journal_reader_is_runtime(const char *module);

#endif
