// SPDX-License-Identifier: GPL-3.0-or-later
// Files of campaigns of unknown origin: whatever the bytes, the reader refuses them or every
// question is answered with text that is text. An input is either a whole file, or patches to a
// sound one: a 4-byte offset and 4 bytes each.
#include "base/array.h"
#include "base/cleanup.h"
#include "base/utf8.h"
#include "store/store.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

static void must(struct error *error)
{
    require(error == NULL);
}

// UTF-8, and a reader may give up: loops in a damaged tree can make rows without end.
static struct error *use(unsigned *rows, const char *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t at = 0, size = texts[i] != NULL ? strlen(texts[i]) : 0; at < size;) {
            uint32_t character;
            unsigned length = utf8_decode(texts[i] + at, size - at, &character);
            require(length > 0);
            at += length;
        }
    return ++*rows > 500 ? error_new("enough") : NULL;
}
#define USE(data, ...)                                                                             \
    use(data, (const char *const[]){__VA_ARGS__},                                                  \
        sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static struct error *campaign(void *data, const struct store_campaign *row)
{
    require(row->name != NULL && row->definition != NULL && row->state <= STORE_FINISHED);
    return USE(data, row->name, row->definition, row->command, row->per, row->program);
}
static struct error *reference(void *data, const struct store_reference *row)
{
    require(row->outcome < STORE_OUTCOMES);
    return USE(data, NULL);
}
static struct error *artifact(void *data, const struct store_artifact *row)
{
    const unsigned char *bytes = row->content;
    static volatile unsigned sum __attribute__((unused));
    for (size_t i = 0; i < row->content_size; i++)
        sum += bytes[i];
    return USE(data, row->path);
}
static struct error *candidate(void *data, const struct store_candidate *row)
{
    return USE(data, row->spec, row->type, row->function, row->module, row->file, row->series);
}
static struct error *trial(void *data, const struct store_trial *row)
{
    require(row->verdict < VERDICTS && row->reason != NULL && row->outcome < STORE_OUTCOMES);
    return USE(data, row->spec, row->reason, row->crash, row->stack, row->output);
}
static struct error *injection(void *data, const struct store_injection *row)
{
    return USE(data, row->fault, row->function, row->symbol, row->program, row->stack);
}
static struct error *finding(void *data, const struct store_finding *row)
{
    require(row->verdict < VERDICTS && row->confirmed <= STORE_FLAKY && row->site != NULL);
    return USE(data, row->cause, row->title, row->site, row->file, row->stack, row->command);
}
static struct error *remark(void *data, const struct store_remark *row)
{
    require(row->kind < REMARK_KINDS && row->text != NULL);
    return USE(data, row->about, row->text);
}
static struct error *count(void *data, const struct store_count *row)
{
    return USE(data, row->group);
}

static void read_all(struct store *store)
{
    static const char *const groups[] = {NULL, "type", "function", "program"};
    unsigned rows = 0;
    struct store_trial one;
    struct store_candidate its;
    struct error *errors[] = {
        store_each_campaign(store, campaign, &rows),
        store_each_reference(store, 1, reference, &rows),
        store_each_artifact(store, 1, artifact, &rows),
        store_each_candidate(store, 1, 0, 100, candidate, &rows),
        store_each_trial(store, 1, false, trial, &rows),
        store_each_trial(store, 1, true, trial, &rows),
        store_each_injection(store, 1, injection, &rows),
        store_each_finding(store, 1, finding, &rows),
        store_each_remark(store, 1, remark, &rows),
    };
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        error_free(errors[i]);
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        error_free(store_each_count(store, 1, groups[i], count, &rows));
    struct error *error = store_find_trial(store, 1, &one, &its);
    if (error == NULL) {
        store_trial_deinit(&one);
        store_candidate_deinit(&its);
    }
    error_free(error);
}

static void add_rows(struct store *store)
{
    struct store_campaign row = {.name = "n",
                                 .injector = "library",
                                 .definition = "d",
                                 .command = "cp",
                                 .directory = "/",
                                 .version = "1",
                                 .machine = "m"};
    must(store_begin(store));
    must(store_add_campaign(store, &row));
    struct store_reference first = {.campaign = row.id, .number = 1, .outcome = STORE_OUTCOME_EXIT};
    must(store_add_reference(store, &first));
    must(store_add_artifact(store, first.id,
                            &(struct store_artifact){.path = "<stdout>",
                                                     .kind = ARTIFACT_FILE,
                                                     .mode = 0644,
                                                     .size = 3,
                                                     .hash = 7,
                                                     .content = "abc",
                                                     .content_size = 3}));
    struct store_remark untested = {
        .campaign = row.id, .kind = REMARK_UNTESTED, .about = "f", .text = "why"};
    must(store_add_remark(store, &untested));
    for (unsigned i = 1; i <= 40; i++) {
        struct store_candidate place = {.campaign = row.id,
                                        .number = i,
                                        .spec = "read=-1/EIO",
                                        .type = "t",
                                        .function = "read",
                                        .selected = true};
        must(store_add_candidate(store, &place));
        struct store_trial shot = {.campaign = row.id,
                                   .candidate = place.id,
                                   .number = i,
                                   .spec = "s",
                                   .verdict = (enum verdict)(i % VERDICTS),
                                   .reason = "r",
                                   .outcome = STORE_OUTCOME_EXIT,
                                   .stack = "a\nb"};
        must(store_add_trial(store, &shot));
        struct store_injection hit = {
            .trial = shot.id, .fault = "f", .function = "read", .program = "cp", .stack = "c\nd"};
        must(store_add_injection(store, &hit));
    }
    struct store_finding found = {.campaign = row.id,
                                  .verdict = VERDICT_CRASH,
                                  .cause = "c",
                                  .title = "t",
                                  .site = "s",
                                  .trial = 1,
                                  .command = "x"};
    must(store_add_finding(store, &found));
    must(store_commit(store));
}

static struct buffer make_store(void)
{
    char directory[] = "/tmp/ordeal-fuzz-XXXXXX", path[64];
    struct store *store;
    struct buffer bytes = {0};
    require(mkdtemp(directory) != NULL);
    snprintf(path, sizeof path, "%s/c.db", directory);
    must(store_open(path, STORE_WRITE, &store));
    add_rows(store);
    store_close(store);
    must(buffer_read_file(path, 1 << 24, &bytes));
    bytes.data[18] = bytes.data[19] =
        1; // no write-ahead log: it would be looked for beside the file
    unlink(path);
    rmdir(directory);
    return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct buffer sound;
    if (sound.data == NULL)
        sound = make_store();
    // SQLite follows links to names, and what is in memory only has none.
    char path[64];
    snprintf(path, sizeof path, "/dev/shm/ordeal-fuzz-store-%d", (int)getpid());
    _cleanup_close_ int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool whole = size >= 16 && memcmp(data, "SQLite format 3", 16) == 0;
    const void *bytes = whole ? (const void *)data : sound.data;
    size_t length = whole ? size : sound.size;
    require(file >= 0 && write(file, bytes, length) == (ssize_t)length);
    for (size_t at = 0; !whole && at + 8 <= size; at += 8) {
        uint32_t offset;
        memcpy(&offset, data + at, sizeof offset);
        require(pwrite(file, data + at + 4, 4, offset % (sound.size - 4)) == 4);
    }
    struct store *store = NULL;
    struct error *error = store_open(path, STORE_READ, &store);
    if (error == NULL)
        read_all(store);
    error_free(error);
    store_close(store);
    unlink(path);
    return 0;
}
