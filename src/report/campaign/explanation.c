// SPDX-License-Identifier: GPL-3.0-or-later
// Makes sentences of consequences. The first one is about the call and its result, the second about
// the damage. Nothing is said that has no row.
#include "report/campaign/explanation.h"

#include "base/cleanup.h"
#include "base/file.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>

static struct error *copy(const char *text, const char **ret_copy)
{
    *ret_copy = text != NULL ? strdup(text) : NULL;
    return text != NULL && *ret_copy == NULL ? error_no_memory() : NULL;
}

static struct error *keep(void *data, const struct store_consequence *row)
{
    struct consequences *consequences = data;
    struct store_consequence *added = ARRAY_ADD(&consequences->items);
    if (added == NULL)
        return error_no_memory();
    *added = *row;
    added->function = added->name = added->module = added->symbol = added->file = NULL;
    TRY(copy(row->function, &added->function));
    TRY(copy(row->name, &added->name));
    TRY(copy(row->module, &added->module));
    TRY(copy(row->symbol, &added->symbol));
    return copy(row->file, &added->file);
}

struct error *consequences_load(struct store *store, int64_t finding,
                                struct consequences *ret_consequences)
{
    struct consequences consequences = {0};
    struct error *error = store_each_consequence(store, finding, keep, &consequences);
    if (error != NULL)
        consequences_deinit(&consequences);
    else
        *ret_consequences = consequences;
    return error;
}

void consequences_deinit(struct consequences *consequences)
{
    for (size_t i = 0; i < consequences->items.count; i++) {
        struct store_consequence *item = &consequences->items.items[i];
        const char *const texts[] = {item->function, item->name, item->module, item->symbol,
                                     item->file};
        for (size_t j = 0; j < sizeof texts / sizeof *texts; j++)
            free((char *)texts[j]);
    }
    ARRAY_DEINIT(&consequences->items);
}

struct error *consequence_put_place(const struct store_consequence *item, struct buffer *text)
{
    if (item->file != NULL && item->line != 0)
        return buffer_printf(text, "%s:%u", file_base_name(item->file), item->line);
    if (item->symbol != NULL && item->start != 0 && item->offset >= item->start)
        return buffer_printf(text, "%s+0x%" PRIx64, item->symbol, item->offset - item->start);
    if (item->symbol != NULL)
        return buffer_printf(text, "%s", item->symbol);
    if (item->module != NULL)
        return buffer_printf(text, "%s+0x%" PRIx64, file_base_name(item->module), item->offset);
    return NULL;
}

static struct error *put_at(const struct store_consequence *item, struct buffer *text)
{
    _cleanup_(buffer_deinit) struct buffer place = {0};
    if (item->file == NULL && item->symbol != NULL && item->start == 0)
        return NULL; // no more than the function is known, which is told already
    TRY(consequence_put_place(item, &place));
    return place.size != 0 ? buffer_printf(text, " at %s", place.data) : NULL;
}

// The function in which something happens, as the subject of a sentence.
static struct error *put_function(const struct store_consequence *item, struct buffer *text)
{
    return item->symbol != NULL ? buffer_printf(text, "%s()", item->symbol)
                                : buffer_printf(text, "the code");
}

// ", called by show() at log.c:12"
static struct error *put_called(const struct store_consequence *item, struct buffer *text)
{
    if (item->symbol == NULL && item->module == NULL)
        return NULL;
    TRY(buffer_printf(text, ", called"));
    if (item->symbol != NULL)
        TRY(buffer_printf(text, " by %s()", item->symbol));
    return put_at(item, text);
}

// "NULL/ENOMEM", as rules write it, becomes "NULL (ENOMEM)".
static struct error *put_fails(const struct store_consequence *item, struct buffer *text)
{
    TRY(buffer_printf(text, "%s() ", item->function != NULL ? item->function : "the call"));
    if (item->name == NULL) {
        TRY(buffer_printf(text, "fails"));
        return put_at(item, text);
    }
    size_t size = strcspn(item->name, "/");
    const char *error = item->name[size] == '/' ? item->name + size + 1 : "";
    if (size == 0)
        TRY(buffer_printf(text, "fails"));
    else if (strncmp(item->name, "short", strlen("short")) == 0)
        TRY(buffer_printf(text, "transfers only a part"));
    else
        TRY(buffer_printf(text, "returns %.*s", (int)size, item->name));
    if (*error != '\0')
        TRY(buffer_printf(text, " (%.*s)", (int)strcspn(error, " "), error));
    return put_at(item, text);
}

// "/ENOSPC when ..." of what an injection gives, or nothing.
static struct error *put_unwritten(const struct store_consequence *item, struct buffer *text)
{
    const char *error = item->name != NULL ? strchr(item->name, '/') : NULL;
    TRY(buffer_printf(text, "%s a stream has buffered cannot be written",
                      text->size == 0 ? "What" : "what"));
    if (error != NULL)
        TRY(buffer_printf(text, " (%.*s)", (int)strcspn(error + 1, " "), error + 1));
    return item->module != NULL ? put_at(item, text)
                                : buffer_printf(text, " when the program ends");
}

static struct error *put_returned(const struct store_consequence *item, struct buffer *text)
{
    if (item->function != NULL)
        TRY(buffer_printf(text, "%s() ", item->function));
    else
        TRY(buffer_printf(text, "that function "));
    if (item->argument != 0)
        TRY(buffer_printf(text, "returns it to "));
    else
        TRY(buffer_printf(text, "returns %" PRId64 " to ", item->number));
    TRY(put_function(item, text));
    return put_at(item, text);
}

static struct error *put_stored(const struct store_consequence *item, struct buffer *text)
{
    TRY(buffer_printf(text, item->probable ? "it is probably stored in " : "it is stored in "));
    if (item->name != NULL)
        TRY(buffer_printf(text, "%s", item->name));
    else if (item->number > 0)
        TRY(buffer_printf(text, "memory (offset %" PRId64 " of an object)", item->number));
    else
        TRY(buffer_printf(text, "memory"));
    return item->file == NULL ? put_at(item, text) : NULL;
}

static struct error *put_with(const char *before, const struct store_consequence *item,
                              const char *after, struct buffer *text)
{
    TRY(buffer_printf(text, "%s", before));
    TRY(put_function(item, text));
    return buffer_printf(text, "%s", after);
}

// What the program does with the result: parts of one sentence.
static struct error *put_way(const struct store_consequence *item, struct buffer *text)
{
    switch (item->kind) {
    case CONSEQUENCE_FAILS:
        return put_fails(item, text);
    case CONSEQUENCE_UNWRITTEN:
        return put_unwritten(item, text);
    case CONSEQUENCE_TESTED:
        TRY(put_with("", item, " tests that", text));
        return put_at(item, text);
    case CONSEQUENCE_TESTED_LATE:
        TRY(put_with("", item, " tests it only after it was used,", text));
        return put_at(item, text);
    case CONSEQUENCE_TESTED_SOMETIMES:
        TRY(put_with("", item, " tests it", text));
        TRY(put_at(item, text));
        return buffer_printf(text, ", but not on every path");
    case CONSEQUENCE_ERRNO_ONLY:
        TRY(put_with("", item, " checks only for some values of errno", text));
        TRY(put_at(item, text));
        return buffer_printf(text, " and takes the others for success");
    case CONSEQUENCE_COMPARED:
        TRY(put_with("", item, " compares it", text));
        TRY(put_at(item, text));
        return buffer_printf(text, ", but this failure passes that test as success does");
    case CONSEQUENCE_UNTESTED:
        return put_with("", item, " does not test it", text);
    case CONSEQUENCE_IGNORED:
        return put_with("", item, " ignores that", text);
    case CONSEQUENCE_RETURNED:
        return put_returned(item, text);
    case CONSEQUENCE_STORED:
        return put_stored(item, text);
    case CONSEQUENCE_PASSED:
        TRY(buffer_printf(text, "it is passed to %s() as argument %u",
                          item->function != NULL ? item->function : "a function", item->argument));
        return put_at(item, text);
    default:
        return NULL;
    }
}

static bool is_way(enum consequence_kind kind)
{
    return kind <= CONSEQUENCE_PASSED;
}

static struct error *put_address(const struct store_consequence *item, const char *verb,
                                 struct buffer *text)
{
    uint64_t address = (uint64_t)item->number;
    return address == 0 ? buffer_printf(text, " %s address 0", verb)
                        : buffer_printf(text, " %s address 0x%" PRIx64, verb, address);
}

// "strlen(), called by show() at log.c:12, reads address 0"
static struct error *put_access(const struct store_consequence *item, const char *verb,
                                struct buffer *text)
{
    if (item->function != NULL) {
        TRY(buffer_printf(text, "%s()", item->function));
        TRY(put_called(item, text));
        TRY(buffer_printf(text, ","));
    } else if (item->symbol != NULL || item->module != NULL) {
        if (item->symbol != NULL)
            TRY(buffer_printf(text, "%s()", item->symbol));
        else
            TRY(buffer_printf(text, "The code"));
        TRY(put_at(item, text));
    } else {
        TRY(buffer_printf(text, "It"));
    }
    return put_address(item, verb, text);
}

// After where the pointer was read back.
static struct error *put_access_there(const struct store_consequence *item, const char *verb,
                                      struct buffer *text)
{
    TRY(buffer_printf(text, "%s%s", item->function != NULL ? item->function : "it",
                      item->function != NULL ? "()" : ""));
    return put_address(item, verb, text);
}

static struct error *put_read_back(const struct store_consequence *item, struct buffer *text)
{
    TRY(buffer_printf(text, item->probable ? "Probably " : "Later "));
    TRY(put_function(item, text));
    TRY(buffer_printf(text, " reads it back%s%s", item->name != NULL ? " from " : "",
                      item->name != NULL ? item->name : ""));
    return put_at(item, text);
}

static const char *waits_for(const char *function)
{
    static const struct {
        const char *prefix, *what;
    } table[] = {
        {"pthread_mutex_", "a lock"},
        {"pthread_rwlock_", "a lock"},
        {"pthread_cond_", "a condition"},
        {"pthread_join", "the end of a thread"},
        {"pthread_barrier_", "other threads"},
        {"sem_", "a semaphore"},
        {"semop", "a semaphore"},
        {"flock", "a file lock"},
        {"lockf", "a file lock"},
        {"fcntl", "a file lock"},
        {"wait", "a child process"},
        {"read", "input"},
        {"recv", "input"},
        {"msgrcv", "a message"},
        {"mq_receive", "a message"},
        {"write", "somebody who reads"},
        {"accept", "a connection"},
        {"connect", "a connection"},
        {"poll", "an event"},
        {"ppoll", "an event"},
        {"select", "an event"},
        {"pselect", "an event"},
        {"epoll_", "an event"},
        {"sig", "a signal"},
        {"pause", "a signal"},
        {"nanosleep", "time to pass"},
        {"clock_nanosleep", "time to pass"},
        {"sleep", "time to pass"},
        {"usleep", "time to pass"},
    };
    for (size_t i = 0; function != NULL && i < sizeof table / sizeof *table; i++)
        if (strncmp(function, table[i].prefix, strlen(table[i].prefix)) == 0)
            return table[i].what;
    return "something";
}

static const char *short_path(const char *directory, const char *path)
{
    size_t size = directory != NULL ? strlen(directory) : 0;
    bool below = size > 1 && strncmp(path, directory, size) == 0 && path[size] == '/';
    return below && path[size + 1] != '\0' ? path + size + 1 : path;
}

static const char *output_name(const struct store_consequence *item, const char *directory)
{
    if (item->name == NULL || strcmp(item->name, "<stdout>") == 0)
        return "the standard output";
    if (strcmp(item->name, "<stderr>") == 0)
        return "the standard error";
    return short_path(directory, item->name);
}

static struct error *put_ends(const struct store_consequence *item, struct buffer *text)
{
    const char *function = item->function != NULL ? item->function : "the C library";
    if (item->kind == CONSEQUENCE_HEAP)
        TRY(buffer_printf(text, "The heap is then found damaged in %s()", function));
    else if (item->kind == CONSEQUENCE_WAITS)
        TRY(buffer_printf(text, "It then waits for %s in %s()", waits_for(function), function));
    else
        TRY(buffer_printf(text, "It then ends itself%s%s%s", item->function != NULL ? " by " : "",
                          item->function != NULL ? item->function : "",
                          item->function != NULL ? "()" : ""));
    TRY(put_called(item, text));
    return item->kind == CONSEQUENCE_HEAP
               ? buffer_printf(text, " (for example, a block was freed twice)")
               : NULL;
}

static struct error *put_lost(const struct store_consequence *item, struct buffer *text)
{
    TRY(buffer_printf(text, "The %" PRId64 " byte%s of this %s()", item->number,
                      item->number == 1 ? "" : "s",
                      item->function != NULL ? item->function : "call"));
    if (item->name != NULL)
        TRY(buffer_printf(text, " to %s", output_name(item, NULL)));
    return buffer_printf(text, item->number == 1 ? " is not written" : " are not written");
}

static struct error *put_dies(const struct store_consequence *item, struct buffer *text)
{
    const char *name = sigabbrev_np((int)item->number);
    if (item->symbol != NULL)
        TRY(buffer_printf(text, "%s()", item->symbol));
    else
        TRY(buffer_printf(text, "The process"));
    TRY(buffer_printf(text, " is killed by %s%s", name != NULL ? "SIG" : "",
                      name != NULL ? name : "a signal"));
    return put_at(item, text);
}

static const char *access_verb(enum consequence_kind kind)
{
    switch (kind) {
    case CONSEQUENCE_READS:
        return "reads";
    case CONSEQUENCE_WRITES:
        return "writes to";
    case CONSEQUENCE_ACCESSES:
        return "accesses";
    case CONSEQUENCE_JUMPS:
        return "jumps to";
    default:
        return NULL;
    }
}

// The damage: a sentence of its own. With `there`, it is the end of the one before.
static struct error *put_damage(const struct store_consequence *item, const char *directory,
                                bool there, struct buffer *text)
{
    const char *verb = access_verb(item->kind);
    if (verb != NULL)
        return there ? put_access_there(item, verb, text) : put_access(item, verb, text);
    switch (item->kind) {
    case CONSEQUENCE_READ_BACK:
        return put_read_back(item, text);
    case CONSEQUENCE_DIES:
        return put_dies(item, text);
    case CONSEQUENCE_HEAP:
    case CONSEQUENCE_ABORTS:
    case CONSEQUENCE_WAITS:
        return put_ends(item, text);
    case CONSEQUENCE_BUSY:
        TRY(put_with("It then never leaves ", item, "", text));
        return put_at(item, text);
    case CONSEQUENCE_LOST:
        return put_lost(item, text);
    case CONSEQUENCE_EMPTIES:
        return buffer_printf(text, "The content of %s is lost", output_name(item, directory));
    case CONSEQUENCE_LACKS:
        return buffer_printf(text, "%s is not written", output_name(item, directory));
    case CONSEQUENCE_DIFFERS:
        return buffer_printf(text, "%s differs from what it is without the fault",
                             output_name(item, directory));
    case CONSEQUENCE_LEAVES:
        return buffer_printf(text, "%s is left behind", output_name(item, directory));
    case CONSEQUENCE_SUCCEEDS:
        return buffer_printf(text, "the exit status is %" PRId64 " all the same", item->number);
    default:
        return NULL;
    }
}

// A name of code or of a file keeps its first letter.
static bool begins_with_word(enum consequence_kind kind)
{
    return kind == CONSEQUENCE_SUCCEEDS || kind == CONSEQUENCE_DIFFERS;
}

// How a damage goes with the one before it.
static const char *joint(const struct store_consequence *before,
                         const struct store_consequence *item)
{
    if (before == NULL || is_way(before->kind))
        return NULL;
    if (before->kind == CONSEQUENCE_READ_BACK)
        return access_verb(item->kind) != NULL ? ", where " : NULL;
    if (item->kind == CONSEQUENCE_SUCCEEDS)
        return ", and ";
    return before->kind == CONSEQUENCE_LOST ? "; " : NULL;
}

struct error *consequences_put(const struct consequences *consequences, const char *directory,
                               struct buffer *text)
{
    const struct store_consequence *before = NULL;
    for (size_t i = 0; i < consequences->items.count; i++) {
        const struct store_consequence *item = &consequences->items.items[i];
        if (is_way(item->kind)) {
            bool more = before != NULL && item->kind > CONSEQUENCE_UNWRITTEN;
            TRY(buffer_printf(text, "%s", before == NULL ? "" : more ? "; " : ". Then "));
            TRY(put_way(item, text));
        } else {
            const char *with = joint(before, item);
            TRY(buffer_printf(text, "%s", before == NULL ? "" : with != NULL ? with : ". "));
            size_t start = text->size;
            TRY(put_damage(item, directory, before != NULL && before->kind == CONSEQUENCE_READ_BACK,
                           text));
            bool first = with == NULL && begins_with_word(item->kind);
            if (first && strncmp(text->data + start, "the ", 4) == 0)
                text->data[start] = 'T';
        }
        before = item;
    }
    return before != NULL ? buffer_append(text, ".", 1) : NULL;
}

const struct store_consequence *consequences_unchecked(const struct consequences *consequences)
{
    const struct store_consequence *place = NULL;
    for (size_t i = 0; i < consequences->items.count; i++) {
        const struct store_consequence *item = &consequences->items.items[i];
        switch (item->kind) {
        case CONSEQUENCE_FAILS:
        case CONSEQUENCE_RETURNED:
            place = item;
            break;
        case CONSEQUENCE_UNTESTED:
        case CONSEQUENCE_IGNORED:
            return place;
        case CONSEQUENCE_COMPARED:
        case CONSEQUENCE_ERRNO_ONLY:
        case CONSEQUENCE_TESTED_SOMETIMES:
        case CONSEQUENCE_TESTED_LATE:
            return item;
        default:
            break;
        }
    }
    return NULL;
}
