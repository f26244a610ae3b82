// SPDX-License-Identifier: GPL-3.0-or-later
// What the controller knows of its jobs: those that wait to be cut into pieces, the pieces that
// the cluster has, and results. Every job that was offered comes back exactly once, whatever
// becomes of pieces, and however often a result arrives. No command of the cluster is run here.
#ifndef ORDEAL_ENGINES_SLURM_BOOK_H
#define ORDEAL_ENGINES_SLURM_BOOK_H

#include "base/array.h"
#include "base/error.h"
#include "base/map.h"
#include "base/words.h"
#include "engine/engine.h"
#include "engines/slurm/cluster.h"
#include "engines/slurm/format.h"

#include <stdbool.h>
#include <stdint.h>

struct book_job {
    char *spec; // owned
    struct engine_job job;
    uint32_t more;   // as of work_job
    unsigned losses; // of pieces that ended when it was this job's turn
};

struct piece_job {
    struct book_job job;
    bool claimed; // it was offered by this controller; the others were by an earlier one
    bool over;    // it has come back, or never will
    struct engine_result *early; // the result of a job that was not claimed yet
};

struct piece {
    uint64_t id;
    ARRAY(struct piece_job) jobs;
    size_t left;               // claimed jobs that are not over
    struct words files;        // with its results
    uint64_t last;             // number of its last result
    uint64_t told_ns;          // when it last had news; 0: none yet
    uint64_t missing_ns;       // since when it is not in the queue; 0: it is
    bool submitted, early_end; // early_end: its jobs that have not begun are withdrawn
    // As of the last listing:
    bool listed, running;
    enum task_state ended; // how, if it is not listed; TASK_WAITING: not known
    uint64_t job, index;   // of its array, and in it
};

struct book {
    ARRAY(struct piece *) pieces;   // those that are not over, by id
    ARRAY(struct book_job) waiting; // from `first` on
    size_t first;
    ARRAY(struct book_job) again;      // of pieces that were lost; they go first
    ARRAY(struct engine_result) ready; // from `taken` on
    size_t taken;
    uint64_t returned; // results in all
    uint64_t next;     // piece
    struct map known;  // hashes of the jobs of an earlier controller: indexes of `claims`
    ARRAY(struct {
        uint64_t piece;
        size_t index;
    })
    claims;
    size_t open;            // jobs that have not come back
    unsigned losses_in_row; // pieces that were lost since the last result
};

void book_deinit(struct book *book);

// A piece that an earlier controller has made. Takes the jobs out of `work`.
_must_check_ struct error *book_adopt(struct book *book, struct work *work);
// Jobs to be done: one, or a lot.
_must_check_ struct error *book_offer(struct book *book, const struct engine_job *jobs,
                                      size_t count);
size_t book_waiting(const struct book *book);
// Cuts a piece of about `size` jobs; lots stay whole. NULL if no job waits. It belongs to the book.
_must_check_ struct error *book_cut(struct book *book, size_t size, struct piece **ret_piece);
struct piece *book_find(const struct book *book, uint64_t id); // or NULL
// Takes results out of `done`, and notes the file that they are from.
_must_check_ struct error *book_take(struct book *book, struct done *done, const char *file);
// The cluster will do no more for a piece: what it owes is cut anew. `why` says what became of
// it; NULL: it is not the fault of its jobs. A job that was the first without a result in
// BOOK_LOSSES_MOST pieces comes back as invalid.
#define BOOK_LOSSES_MOST 5
_must_check_ struct error *book_lose(struct book *book, struct piece *piece, const char *why);
// What waits comes back as WAY_NOT_RUN, and so does what the present pieces do not begin any more.
// Confirmations stay.
_must_check_ struct error *book_withdraw(struct book *book);
// The next result. False: there is none.
bool book_next(struct book *book, struct engine_result *ret_result);
// Removes a piece whose results have all been returned. NULL: there is none. The caller frees it
// with piece_free().
struct piece *book_remove_done(struct book *book);
void piece_free(struct piece *piece);

#endif
