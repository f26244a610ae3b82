// SPDX-License-Identifier: GPL-3.0-or-later
// Keeps the books about jobs. A result counts if its job is not over, and then the job is. A piece
// that was lost is forgotten: if it is running all the same, on a node that the cluster does not
// reach, nobody takes its results any more, since its jobs have gone to another piece.
#include "engines/slurm/book.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

static void book_job_deinit(struct book_job *job)
{
    free(TAKE(job->spec));
}

void piece_free(struct piece *piece)
{
    if (piece == NULL)
        return;
    for (size_t i = 0; i < piece->jobs.count; i++) {
        struct piece_job *job = &piece->jobs.items[i];
        book_job_deinit(&job->job);
        if (job->early != NULL)
            engine_result_deinit(job->early);
        free(job->early);
    }
    ARRAY_DEINIT(&piece->jobs);
    words_deinit(&piece->files);
    free(piece);
}

void book_deinit(struct book *book)
{
    for (size_t i = 0; i < book->pieces.count; i++)
        piece_free(book->pieces.items[i]);
    for (size_t i = book->first; i < book->waiting.count; i++)
        book_job_deinit(&book->waiting.items[i]);
    for (size_t i = 0; i < book->again.count; i++)
        book_job_deinit(&book->again.items[i]);
    for (size_t i = book->taken; i < book->ready.count; i++)
        engine_result_deinit(&book->ready.items[i]);
    ARRAY_DEINIT(&book->pieces);
    ARRAY_DEINIT(&book->waiting);
    ARRAY_DEINIT(&book->again);
    ARRAY_DEINIT(&book->ready);
    ARRAY_DEINIT(&book->claims);
    map_deinit(&book->known);
    *book = (struct book){0};
}

static uint64_t identity(const struct engine_job *job)
{
    return hash_mix(hash_mix(hash_text(job->spec), job->seed), job->number);
}

static struct error *new_piece(struct book *book, uint64_t id, struct piece **ret_piece)
{
    struct piece *piece = calloc(1, sizeof *piece);
    if (piece == NULL)
        return error_no_memory();
    struct piece **added = ARRAY_ADD(&book->pieces);
    if (added == NULL) {
        free(piece);
        return error_no_memory();
    }
    // They are mostly made in the order of their ids; adopted ones come in any.
    size_t at = book->pieces.count - 1;
    for (; at > 0 && book->pieces.items[at - 1]->id > id; at--)
        book->pieces.items[at] = book->pieces.items[at - 1];
    book->pieces.items[at] = piece;
    piece->id = id;
    if (book->next <= id)
        book->next = id + 1;
    *ret_piece = piece;
    return NULL;
}

static size_t find_index(const struct book *book, uint64_t id)
{
    size_t low = 0, high = book->pieces.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (book->pieces.items[middle]->id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct piece *book_find(const struct book *book, uint64_t id)
{
    size_t at = find_index(book, id);
    return at < book->pieces.count && book->pieces.items[at]->id == id ? book->pieces.items[at]
                                                                       : NULL;
}

static struct piece *remove_piece(struct book *book, size_t at)
{
    struct piece *piece = book->pieces.items[at];
    book->pieces.count--;
    memmove(book->pieces.items + at, book->pieces.items + at + 1,
            (book->pieces.count - at) * sizeof(struct piece *));
    return piece;
}

struct error *book_adopt(struct book *book, struct work *work)
{
    struct piece *piece;
    if (book_find(book, work->piece) != NULL)
        return NULL;
    TRY(new_piece(book, work->piece, &piece));
    piece->submitted = true;
    for (size_t i = 0; i < work->jobs.count; i++) {
        struct piece_job *job = ARRAY_ADD(&piece->jobs);
        __typeof__(book->claims.items) claim = ARRAY_ADD(&book->claims);
        if (job == NULL || claim == NULL)
            return error_no_memory();
        *claim = (__typeof__(*claim)){.piece = piece->id, .index = i};
        job->job = (struct book_job){.spec = TAKE(work->jobs.items[i].spec),
                                     .job = work->jobs.items[i].job};
        job->job.job.spec = job->job.spec;
        if (job->job.job.number != 0)
            TRY(map_put(&book->known, identity(&job->job.job), (uint32_t)book->claims.count - 1));
    }
    return NULL;
}

static struct error *put_ready(struct book *book, const struct engine_job *job,
                               struct engine_result *result)
{
    struct engine_result *ready = ARRAY_ADD(&book->ready);
    if (ready == NULL)
        return error_no_memory();
    *ready = *result;
    *result = (struct engine_result){0};
    ready->job = *job; // our copy is the trusted one
    ready->job.spec = NULL;
    return NULL;
}

// The number that the last result in `ready` will have.
static uint64_t last_ready(const struct book *book)
{
    return book->returned + (book->ready.count - book->taken);
}

struct search {
    const struct book *book;
    const struct engine_job *job;
};

static struct piece_job *claimed_job(const struct book *book, uint32_t claim,
                                     struct piece **ret_piece)
{
    *ret_piece = book_find(book, book->claims.items[claim].piece);
    return *ret_piece != NULL ? &(*ret_piece)->jobs.items[book->claims.items[claim].index] : NULL;
}

static bool is_same(const void *sought, uint32_t value)
{
    const struct search *search = sought;
    struct piece *piece;
    const struct piece_job *known = claimed_job(search->book, value, &piece);
    return known != NULL && !known->claimed && !known->over &&
           known->job.job.number == search->job->number &&
           known->job.job.seed == search->job->seed &&
           strcmp(known->job.job.spec, search->job->spec) == 0;
}

// Finds a job that an earlier controller has offered. It may have its result already.
static struct error *claim(struct book *book, const struct engine_job *job, bool *ret_claimed)
{
    const struct search search = {.book = book, .job = job};
    uint32_t found = MAP_NONE;
    if (job->number != 0 && book->claims.count != 0)
        found = map_find_equal(&book->known, identity(job), is_same, &search);
    *ret_claimed = found != MAP_NONE;
    if (found == MAP_NONE)
        return NULL;
    struct piece *piece;
    struct piece_job *known = claimed_job(book, found, &piece);
    known->claimed = true;
    known->job.job.candidate = job->candidate;
    known->job.job.tag = job->tag;
    book->open++;
    if (known->early == NULL) {
        piece->left++;
        return NULL;
    }
    TRY(put_ready(book, &known->job.job, known->early));
    free(TAKE(known->early));
    known->over = true;
    piece->last = last_ready(book);
    return NULL;
}

struct error *book_offer(struct book *book, const struct engine_job *jobs, size_t count)
{
    size_t before = book->waiting.count;
    for (size_t i = 0; i < count; i++) {
        bool claimed;
        TRY(claim(book, &jobs[i], &claimed));
        if (claimed)
            continue;
        struct book_job *job = ARRAY_ADD(&book->waiting);
        if (job == NULL)
            return error_no_memory();
        *job = (struct book_job){.job = jobs[i], .spec = strdup(jobs[i].spec)};
        if (job->spec == NULL) {
            book->waiting.count--;
            return error_no_memory();
        }
        job->job.spec = job->spec;
        book->open++;
    }
    for (size_t i = before; i < book->waiting.count; i++)
        book->waiting.items[i].more = (uint32_t)(book->waiting.count - i - 1);
    return NULL;
}

size_t book_waiting(const struct book *book)
{
    return book->waiting.count - book->first + book->again.count;
}

static struct error *add_to_piece(struct piece *piece, struct book_job *job)
{
    struct piece_job *added = ARRAY_ADD(&piece->jobs);
    if (added == NULL)
        return error_no_memory();
    *added = (struct piece_job){.job = *job, .claimed = true};
    job->spec = NULL;
    piece->left++;
    return NULL;
}

// Jobs that were lost before. One that may be the cause is alone in its piece.
static struct error *cut_again(struct book *book, size_t size, struct piece *piece)
{
    while (book->again.count != 0 && piece->jobs.count < size) {
        struct book_job *job = &book->again.items[book->again.count - 1];
        bool suspect = job->losses != 0;
        if (suspect && piece->jobs.count != 0)
            return NULL;
        TRY(add_to_piece(piece, job));
        book->again.count--;
        if (suspect)
            return NULL;
    }
    return NULL;
}

static struct error *cut_waiting(struct book *book, size_t size, struct piece *piece)
{
    bool inside = false; // a lot
    while (book->first < book->waiting.count && (piece->jobs.count < size || inside) &&
           piece->jobs.count < FORMAT_JOBS_MOST) {
        struct book_job *job = &book->waiting.items[book->first];
        inside = job->more != 0;
        TRY(add_to_piece(piece, job));
        book->first++;
    }
    if (book->first < book->waiting.count / 2)
        return NULL;
    book->waiting.count -= book->first;
    memmove(book->waiting.items, book->waiting.items + book->first,
            book->waiting.count * sizeof *book->waiting.items);
    book->first = 0;
    return NULL;
}

struct error *book_cut(struct book *book, size_t size, struct piece **ret_piece)
{
    struct piece *piece;
    *ret_piece = NULL;
    if (book_waiting(book) == 0)
        return NULL;
    TRY(new_piece(book, book->next != 0 ? book->next : 1, &piece));
    if (book->again.count != 0)
        TRY(cut_again(book, size, piece));
    else
        TRY(cut_waiting(book, size, piece));
    *ret_piece = piece;
    return NULL;
}

static struct error *take_one(struct book *book, struct piece *piece, struct engine_result *result)
{
    struct piece_job *job = &piece->jobs.items[result->job.tag];
    if (job->over || job->early != NULL || result->way == WAY_NOT_RUN)
        return NULL; // it came twice
    book->losses_in_row = 0;
    if (!job->claimed) {
        job->early = malloc(sizeof *job->early);
        if (job->early == NULL)
            return error_no_memory();
        *job->early = *result;
        *result = (struct engine_result){0};
        return NULL;
    }
    TRY(put_ready(book, &job->job.job, result));
    job->over = true;
    piece->left--;
    piece->last = last_ready(book);
    return NULL;
}

struct error *book_take(struct book *book, struct done *done, const char *file)
{
    struct piece *piece = book_find(book, done->piece);
    if (piece == NULL)
        return NULL;
    piece->told_ns = clock_ns();
    TRY(words_add(&piece->files, file, strlen(file)));
    for (size_t i = 0; i < done->results.count; i++)
        if (done->results.items[i].job.tag < piece->jobs.count)
            TRY(take_one(book, piece, &done->results.items[i]));
    return NULL;
}

// Adds a result that no node has sent. `why` NULL: the job was not run.
static struct error *give_up(struct book *book, const struct engine_job *job, const char *why)
{
    struct engine_result result = {.way = why != NULL ? WAY_FULL : WAY_NOT_RUN,
                                   .judgement.verdict = VERDICT_INVALID};
    if (why != NULL &&
        asprintf(&result.judgement.reason, "the cluster lost its job %u times; the last one %s",
                 BOOK_LOSSES_MOST, why) < 0)
        return error_no_memory();
    struct error *error = put_ready(book, job, &result);
    engine_result_deinit(&result);
    return error;
}

static struct error *lose_job(struct book *book, const struct piece *piece, struct piece_job *job,
                              const char *why)
{
    job->over = true;
    if (piece->early_end && job->job.job.number != 0)
        return give_up(book, &job->job.job, NULL);
    job->job.losses += why != NULL;
    if (job->job.losses >= BOOK_LOSSES_MOST)
        return give_up(book, &job->job.job, why);
    struct book_job *again = ARRAY_ADD(&book->again);
    if (again == NULL)
        return error_no_memory();
    *again = job->job;
    again->more = 0;
    job->job.spec = NULL;
    return NULL;
}

struct error *book_lose(struct book *book, struct piece *piece, const char *why)
{
    // The first job without a result was its node's last one. They go back in their order.
    size_t first = 0;
    while (first < piece->jobs.count &&
           (piece->jobs.items[first].over || piece->jobs.items[first].early != NULL))
        first++;
    book->losses_in_row += why != NULL && piece->left != 0;
    for (size_t i = piece->jobs.count; i-- > first;) {
        struct piece_job *job = &piece->jobs.items[i];
        if (job->claimed && !job->over)
            TRY(lose_job(book, piece, job, i == first ? why : NULL));
        else if (job->early == NULL)
            job->over = true; // a result that comes now is not taken
    }
    piece->left = 0;
    return NULL;
}

struct error *book_withdraw(struct book *book)
{
    size_t kept = book->first;
    for (size_t i = book->first; i < book->waiting.count; i++) {
        struct book_job *job = &book->waiting.items[i];
        if (job->job.number == 0) {
            book->waiting.items[kept++] = *job;
            continue;
        }
        TRY(give_up(book, &job->job, NULL));
        book_job_deinit(job);
    }
    book->waiting.count = kept;
    kept = 0;
    for (size_t i = 0; i < book->again.count; i++) {
        struct book_job *job = &book->again.items[i];
        if (job->job.number == 0 || job->losses != 0) {
            book->again.items[kept++] = *job;
            continue;
        }
        TRY(give_up(book, &job->job, NULL));
        book_job_deinit(job);
    }
    book->again.count = kept;
    for (size_t i = 0; i < book->pieces.count; i++)
        book->pieces.items[i]->early_end = true;
    return NULL;
}

bool book_next(struct book *book, struct engine_result *ret_result)
{
    if (book->taken == book->ready.count)
        return false;
    *ret_result = book->ready.items[book->taken++];
    book->returned++;
    book->open--;
    if (book->taken == book->ready.count)
        book->taken = book->ready.count = 0;
    return true;
}

// A piece of an earlier controller is only known to be over when it has left the queue: jobs may
// still be claimed.
static bool is_done(const struct book *book, const struct piece *piece)
{
    if (piece->left != 0 || piece->last > book->returned || !piece->submitted)
        return false;
    for (size_t i = 0; i < piece->jobs.count; i++)
        if (!piece->jobs.items[i].over)
            return false;
    return true;
}

struct piece *book_remove_done(struct book *book)
{
    for (size_t i = 0; i < book->pieces.count; i++)
        if (is_done(book, book->pieces.items[i]))
            return remove_piece(book, i);
    return NULL;
}
