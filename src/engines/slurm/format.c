// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers are as in memory: a node whose program is another one is not used. Jobs and results are
// the messages of job slots.
#include "engines/slurm/format.h"

#include "base/cleanup.h"
#include "base/cursor.h"
#include "base/secrets.h"
#include "engine/slot-message.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_MOST 65536u

enum format_kind { FORMAT_SETUP = 0x31535244, FORMAT_WORK = 0x31575244, FORMAT_DONE = 0x31445244 };

static struct error *put_u32(struct buffer *bytes, uint32_t value)
{
    return buffer_append(bytes, &value, sizeof value);
}

static struct error *put_u64(struct buffer *bytes, uint64_t value)
{
    return buffer_append(bytes, &value, sizeof value);
}

static struct error *put_text(struct buffer *bytes, const char *text)
{
    size_t size = text != NULL ? strnlen(text, TEXT_MOST - 1) : 0;
    TRY(put_u32(bytes, text != NULL ? (uint32_t)size + 1 : 0));
    return size != 0 ? buffer_append(bytes, text, size) : NULL;
}

// NULL if there is none, or the cursor failed.
static char *get_text(struct cursor *cursor)
{
    uint32_t size = cursor_u32(cursor);
    cursor->failed |= size > TEXT_MOST;
    const void *bytes = size != 0 ? cursor_bytes(cursor, size - 1) : NULL;
    if (bytes == NULL)
        return NULL;
    cursor->failed |= memchr(bytes, '\0', size - 1) != NULL;
    char *text = strndup(bytes, size - 1);
    cursor->failed |= text == NULL;
    return text;
}

static struct error *damaged(const char *what)
{
    return error_new("the shared directory has a damaged file of %s", what);
}

// Without the secrets in it: whoever may read the shared directory need not know them. Jobs have
// them in their environment.
static struct error *put_masked(struct buffer *bytes, const char *text)
{
    _cleanup_free_ char *copy = strdup(text);
    if (copy == NULL)
        return error_no_memory();
    TRY(secrets_mask(&copy));
    return put_text(bytes, copy);
}

static struct error *put_words(struct buffer *bytes, const struct words *words)
{
    TRY(put_u32(bytes, (uint32_t)words->count));
    for (size_t i = 0; i < words->count; i++)
        TRY(put_masked(bytes, words->items[i]));
    return NULL;
}

struct error *setup_put(struct buffer *bytes, const struct setup *setup)
{
    TRY(put_u32(bytes, FORMAT_SETUP));
    TRY(put_u64(bytes, setup->stuck_ns));
    TRY(put_u32(bytes, setup->ahead));
    TRY(put_words(bytes, &setup->switchable));
    return put_words(bytes, &setup->ignored);
}

static struct error *get_words(struct cursor *cursor, struct words *words)
{
    uint32_t count = cursor_u32(cursor);
    cursor->failed |= count > FORMAT_WORDS_MOST;
    for (uint32_t i = 0; i < count && !cursor->failed; i++) {
        _cleanup_free_ char *word = get_text(cursor);
        cursor->failed |= word == NULL;
        TRY(secrets_restore(&word));
        if (word != NULL)
            TRY(words_add(words, word, strlen(word)));
    }
    return NULL;
}

struct error *setup_get(const struct buffer *bytes, struct setup *ret_setup)
{
    struct cursor cursor = {.data = (const void *)bytes->data, .size = bytes->size};
    _cleanup_(setup_deinit) struct setup setup = {0};
    cursor.failed = cursor_u32(&cursor) != FORMAT_SETUP;
    setup.stuck_ns = cursor_u64(&cursor);
    setup.ahead = cursor_u32(&cursor) != 0;
    TRY(get_words(&cursor, &setup.switchable));
    TRY(get_words(&cursor, &setup.ignored));
    if (cursor.failed || cursor.at != cursor.size)
        return damaged("settings");
    *ret_setup = setup;
    setup = (struct setup){0};
    return NULL;
}

void setup_deinit(struct setup *setup)
{
    words_deinit(&setup->switchable);
    words_deinit(&setup->ignored);
}

struct error *work_put(struct buffer *bytes, const struct work *work)
{
    TRY(put_u32(bytes, FORMAT_WORK));
    TRY(put_u64(bytes, work->piece));
    TRY(put_u32(bytes, (uint32_t)work->jobs.count));
    for (size_t i = 0; i < work->jobs.count; i++) {
        struct engine_job job = work->jobs.items[i].job;
        _cleanup_free_ char *spec = strdup(job.spec);
        if (spec == NULL)
            return error_no_memory();
        TRY(secrets_mask(&spec));
        job.spec = spec;
        job.tag = i;
        TRY(put_u64(bytes, job.number));
        TRY(slot_message_put_job(bytes, &job, work->jobs.items[i].more));
    }
    return NULL;
}

// The whole message at the cursor, or NULL.
static const void *get_message(struct cursor *cursor, size_t *ret_size)
{
    size_t size = 0;
    _cleanup_error_ struct error *error =
        slot_message_size(cursor->data + cursor->at, cursor->size - cursor->at, &size);
    *ret_size = size;
    cursor->failed |= error != NULL || size == 0;
    return cursor_bytes(cursor, size);
}

static struct error *get_work_job(struct cursor *cursor, struct work *work)
{
    size_t size;
    uint64_t number = cursor_u64(cursor);
    const void *message = get_message(cursor, &size);
    if (message == NULL)
        return NULL;
    _cleanup_(slot_job_deinit) struct slot_job job = {0};
    TRY(slot_message_get_job(message, size, &job));
    struct work_job *added = ARRAY_ADD(&work->jobs);
    if (added == NULL)
        return error_no_memory();
    added->job = (struct engine_job){.candidate = job.candidate,
                                     .seed = job.seed,
                                     .number = number,
                                     .tag = work->jobs.count - 1};
    cursor->failed |= job.tag != added->job.tag || job.spec == NULL || job.more > FORMAT_JOBS_MOST;
    added->spec = TAKE(job.spec);
    added->more = job.more;
    TRY(secrets_restore(&added->spec));
    added->job.spec = added->spec;
    return NULL;
}

struct error *work_get(const struct buffer *bytes, struct work *ret_work)
{
    struct cursor cursor = {.data = (const void *)bytes->data, .size = bytes->size};
    _cleanup_(work_deinit) struct work work = {0};
    cursor.failed = cursor_u32(&cursor) != FORMAT_WORK;
    work.piece = cursor_u64(&cursor);
    uint32_t count = cursor_u32(&cursor);
    cursor.failed |= count == 0 || count > FORMAT_JOBS_MOST;
    for (uint32_t i = 0; i < count && !cursor.failed; i++)
        TRY(get_work_job(&cursor, &work));
    if (cursor.failed || cursor.at != cursor.size || work.piece == 0)
        return damaged("trials");
    *ret_work = work;
    work = (struct work){0};
    return NULL;
}

void work_deinit(struct work *work)
{
    for (size_t i = 0; i < work->jobs.count; i++)
        free(work->jobs.items[i].spec);
    ARRAY_DEINIT(&work->jobs);
}

struct error *done_put(struct buffer *bytes, const struct done *done)
{
    TRY(put_u32(bytes, FORMAT_DONE));
    TRY(put_u64(bytes, done->piece));
    TRY(put_u64(bytes, done->start_ns));
    TRY(put_u64(bytes, done->work_ns));
    TRY(put_text(bytes, done->node));
    return put_text(bytes, done->refusal);
}

static struct error *get_result(struct cursor *cursor, struct done *done)
{
    size_t size;
    bool refused;
    const void *message = get_message(cursor, &size);
    if (message == NULL)
        return NULL;
    struct engine_result result;
    TRY(slot_message_get_result(message, size, &result, &refused));
    struct engine_result *added = ARRAY_ADD(&done->results);
    if (added == NULL) {
        engine_result_deinit(&result);
        return error_no_memory();
    }
    *added = result;
    return NULL;
}

struct error *done_get(const struct buffer *bytes, struct done *ret_done)
{
    struct cursor cursor = {.data = (const void *)bytes->data, .size = bytes->size};
    _cleanup_(done_deinit) struct done done = {0};
    cursor.failed = cursor_u32(&cursor) != FORMAT_DONE;
    done.piece = cursor_u64(&cursor);
    done.start_ns = cursor_u64(&cursor);
    done.work_ns = cursor_u64(&cursor);
    done.node = get_text(&cursor);
    done.refusal = get_text(&cursor);
    while (!cursor.failed && cursor.at < cursor.size && done.results.count < FORMAT_JOBS_MOST)
        TRY(get_result(&cursor, &done));
    if (cursor.failed || cursor.at != cursor.size || done.node == NULL)
        return damaged("results");
    *ret_done = done;
    done = (struct done){0};
    return NULL;
}

void done_deinit(struct done *done)
{
    for (size_t i = 0; i < done->results.count; i++)
        engine_result_deinit(&done->results.items[i]);
    ARRAY_DEINIT(&done->results);
    free(TAKE(done->node));
    free(TAKE(done->refusal));
}
