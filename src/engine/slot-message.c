// SPDX-License-Identifier: GPL-3.0-or-later
// Writes and reads the messages between controller and job slots. Numbers are as in memory, since
// both sides are the same program. Texts have their size before them; the size UINT32_MAX means no
// text.
#include "engine/slot-message.h"

#include "base/cleanup.h"
#include "base/cursor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define NO_TEXT     UINT32_MAX
#define INJECTIONS  100   // of one result, at most
#define INNER_CALLS 64    // likewise
#define RESULTS     64    // likewise
#define INVOCATIONS 20000 // likewise
#define PLACES      24    // of one stack
// No injection is added after so many bytes: stacks of C++ programs are long.
#define ENOUGH (SLOT_MESSAGE_SIZE / 2)

enum slot_message_kind { SLOT_MESSAGE_JOB = 1, SLOT_MESSAGE_RESULT, SLOT_MESSAGE_REFUSAL };

static struct error *put_u32(struct buffer *out, uint32_t value)
{
    return buffer_append(out, &value, sizeof value);
}
static struct error *put_u64(struct buffer *out, uint64_t value)
{
    return buffer_append(out, &value, sizeof value);
}
static struct error *put_double(struct buffer *out, double value)
{
    return buffer_append(out, &value, sizeof value);
}
static struct error *put_text(struct buffer *out, const char *text)
{
    if (text == NULL)
        return put_u32(out, NO_TEXT);
    size_t size = strlen(text);
    TRY(put_u32(out, (uint32_t)size));
    return buffer_append(out, text, size);
}

static struct error *put_bytes(struct buffer *out, const struct buffer *bytes)
{
    TRY(put_u32(out, (uint32_t)bytes->size));
    return bytes->size != 0 ? buffer_append(out, bytes->data, bytes->size) : NULL;
}

static struct error *put_places(struct buffer *out, const struct code_places *places)
{
    size_t count = places->items.count < PLACES ? places->items.count : PLACES;
    TRY(put_u32(out, (uint32_t)count));
    for (size_t i = 0; i < count; i++) {
        TRY(put_text(out, places->items.items[i].module));
        TRY(put_u64(out, places->items.items[i].offset));
    }
    return NULL;
}

// Writes 0 for the size, which end() fills in.
static struct error *begin(struct buffer *out, enum slot_message_kind kind, size_t *ret_start)
{
    *ret_start = out->size;
    TRY(put_u32(out, 0));
    return put_u32(out, kind);
}
static struct error *end(struct buffer *out, size_t start)
{
    size_t size = out->size - start;
    if (size > SLOT_MESSAGE_SIZE)
        return error_new("a message of %zu bytes is too large", size);
    uint32_t number = (uint32_t)size;
    memcpy(out->data + start, &number, sizeof number);
    return NULL;
}

struct error *slot_message_put_job(struct buffer *out, const struct engine_job *job, uint32_t more)
{
    size_t start;
    TRY(begin(out, SLOT_MESSAGE_JOB, &start));
    TRY(put_u64(out, (uint64_t)job->candidate));
    TRY(put_u64(out, job->seed));
    TRY(put_u64(out, job->tag));
    TRY(put_text(out, job->spec));
    TRY(put_u32(out, more));
    TRY(put_u32(out, job->control));
    return end(out, start);
}

static struct error *put_injection(struct buffer *out, const struct injection *injection)
{
    const char *const texts[] = {injection->fault, injection->function, injection->module,
                                 injection->file,  injection->symbol,   injection->program,
                                 injection->stack, injection->library,  injection->stream,
                                 injection->parent};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        TRY(put_text(out, texts[i]));
    TRY(put_u64(out, injection->offset));
    TRY(put_u64(out, injection->occurrence));
    TRY(put_u32(out, injection->line));
    TRY(put_u32(out, injection->standard_stream));
    TRY(put_u32(out, injection->rule));
    TRY(put_u32(out, injection->process));
    TRY(put_u32(out, injection->thread));
    TRY(put_u32(out, (uint32_t)injection->signal));
    TRY(put_u32(out, injection->stream_write));
    TRY(put_u32(out, injection->observed));
    TRY(put_u32(out, injection->failed));
    TRY(put_u32(out, injection->child));
    TRY(put_u32(out, injection->returned));
    TRY(put_u64(out, (uint64_t)injection->value));
    TRY(buffer_append(out, injection->arguments, sizeof injection->arguments));
    TRY(put_places(out, &injection->frames));
    return put_double(out, injection->seconds);
}

static struct error *put_observed(struct buffer *out, const struct observed_call *observed)
{
    TRY(put_u32(out, observed->began));
    TRY(put_u32(out, observed->returned));
    TRY(put_u32(out, observed->lost || observed->calls.count > INNER_CALLS));
    TRY(put_u64(out, (uint64_t)observed->result));
    TRY(put_u32(out, (uint32_t)observed->error));
    TRY(put_u32(out, observed->changed));
    size_t results = observed->results.count < RESULTS ? observed->results.count : RESULTS;
    TRY(put_u32(out, (uint32_t)results));
    for (size_t i = 0; i < results; i++)
        TRY(put_u64(out, (uint64_t)observed->results.items[i]));
    size_t count = observed->calls.count < INNER_CALLS ? observed->calls.count : INNER_CALLS;
    TRY(put_u32(out, (uint32_t)count));
    for (size_t i = 0; i < count; i++) {
        const struct inner_call *call = &observed->calls.items[i];
        TRY(put_text(out, call->function));
        TRY(put_text(out, call->module));
        TRY(put_text(out, call->symbol));
        TRY(put_u64(out, call->offset));
        TRY(put_u64(out, call->first));
        TRY(put_u64(out, call->count));
        TRY(put_u64(out, call->order));
    }
    return NULL;
}

static struct error *put_observation(struct buffer *out, const struct observation *observation)
{
    TRY(put_u64(out, observation->activations));
    TRY(put_u64(out, observation->plan_hash));
    TRY(put_u32(out, observation->crash_in_command));
    TRY(put_u32(out, observation->crash_by_itself));
    TRY(put_double(out, observation->crash_delay));
    TRY(put_u32(out, observation->damage));
    TRY(put_u32(out, (uint32_t)observation->crash_signal));
    TRY(put_text(out, observation->crash));
    TRY(put_text(out, observation->crash_stack));
    TRY(put_text(out, observation->crash_key));
    TRY(put_places(out, &observation->crash_frames));
    TRY(put_u32(out, observation->crash_fault));
    TRY(put_u64(out, observation->crash_address));
    TRY(put_text(out, observation->note));
    TRY(put_observed(out, &observation->observed));
    size_t most = observation->injections.count, place = out->size;
    uint32_t count = 0; // filled in below
    TRY(put_u32(out, count));
    while (count < most && count < INJECTIONS && out->size < ENOUGH)
        TRY(put_injection(out, &observation->injections.items[count++]));
    memcpy(out->data + place, &count, sizeof count);
    return NULL;
}

static struct error *put_deviations(struct buffer *out, const struct deviations *deviations)
{
    size_t count = deviations->list.count < INVOCATIONS ? deviations->list.count : INVOCATIONS;
    TRY(put_u32(out, (uint32_t)count));
    for (size_t i = 0; i < count; i++) {
        const struct deviation *deviation = &deviations->list.items[i];
        TRY(put_u32(out, deviation->number));
        TRY(put_u32(out, deviation->activated));
        TRY(put_u64(out, deviation->count));
        TRY(put_u32(out, deviation->same_status));
        TRY(put_u32(out, deviation->same_time));
        TRY(put_double(out, deviation->seconds));
        TRY(put_text(out, deviation->sentence));
        TRY(put_text(out, deviation->call));
        TRY(put_text(out, deviation->calls));
        TRY(put_bytes(out, &deviation->trace));
    }
    return NULL;
}

static struct error *put_propagation(struct buffer *out, const struct propagation *propagation)
{
    TRY(put_u32(out, propagation->known));
    TRY(put_u32(out, propagation->outcome));
    TRY(put_u32(out, propagation->result));
    TRY(put_u64(out, propagation->call));
    TRY(put_text(out, propagation->function));
    TRY(put_u64(out, propagation->corrupted));
    TRY(put_u64(out, propagation->wrong));
    TRY(put_u64(out, propagation->omitted));
    TRY(put_u64(out, propagation->spurious));
    return put_text(out, propagation->profile);
}

struct error *slot_message_put_result(struct buffer *out, const struct engine_result *result)
{
    size_t start;
    TRY(begin(out, SLOT_MESSAGE_RESULT, &start));
    TRY(put_u64(out, (uint64_t)result->job.candidate));
    TRY(put_u64(out, result->job.seed));
    TRY(put_u64(out, result->job.tag));
    TRY(put_u32(out, result->judgement.verdict));
    TRY(put_text(out, result->judgement.reason));
    TRY(put_text(out, result->judgement.cause));
    TRY(put_text(out, result->judgement.handled));
    TRY(put_text(out, result->judgement.library));
    TRY(put_u32(out, result->judgement.severity));
    TRY(put_u32(out, result->judgement.symptom));
    TRY(put_text(out, result->judgement.about));
    TRY(put_u32(out, result->judgement.ignored));
    TRY(put_u32(out, result->judgement.by_chance));
    TRY(put_deviations(out, &result->judgement.deviations));
    TRY(put_propagation(out, &result->judgement.propagation));
    TRY(put_u32(out, result->end));
    TRY(put_u32(out, (uint32_t)result->status));
    TRY(put_u32(out, result->changed));
    TRY(put_double(out, result->seconds));
    TRY(put_text(out, result->stack));
    TRY(put_text(out, result->output));
    TRY(put_u32(out, result->way));
    TRY(put_u32(out, result->refusal));
    TRY(put_u32(out, result->round));
    TRY(put_observation(out, &result->observation));
    return end(out, start);
}

struct error *slot_message_put_refusal(struct buffer *out, const char *why)
{
    size_t start;
    TRY(begin(out, SLOT_MESSAGE_REFUSAL, &start));
    TRY(put_text(out, why));
    return end(out, start);
}

struct error *slot_message_size(const void *bytes, size_t size, size_t *ret_size)
{
    uint32_t number;
    *ret_size = 0;
    if (size < sizeof number)
        return NULL;
    memcpy(&number, bytes, sizeof number);
    if (number < 2 * sizeof number || number > SLOT_MESSAGE_SIZE)
        return error_new("it said something that is not a message");
    *ret_size = number;
    return NULL;
}

static double get_double(struct cursor *cursor)
{
    double value;
    cursor_copy(cursor, &value, sizeof value);
    return value;
}

// Out of memory counts as a damaged message, so that the caller has one kind of failure.
static char *get_text(struct cursor *cursor)
{
    uint32_t size = cursor_u32(cursor);
    if (cursor->failed || size == NO_TEXT)
        return NULL;
    const char *bytes = cursor_bytes(cursor, size);
    char *text = bytes != NULL ? strndup(bytes, size) : NULL;
    if (text == NULL)
        cursor->failed = true;
    return text;
}

static void get_places(struct cursor *cursor, struct code_places *places)
{
    uint32_t count = cursor_u32(cursor);
    cursor->failed |= count > PLACES;
    for (uint32_t i = 0; i < count && !cursor->failed; i++) {
        struct code_place *place = ARRAY_ADD(&places->items);
        cursor->failed |= place == NULL;
        if (place == NULL)
            return;
        place->module = get_text(cursor);
        place->offset = cursor_u64(cursor);
    }
}

static void skip_head(struct cursor *cursor, enum slot_message_kind *ret_kind)
{
    cursor_u32(cursor);
    *ret_kind = cursor_u32(cursor);
}

static struct error *damaged(void)
{
    return error_new("it sent a damaged message");
}

struct error *slot_message_get_job(const void *bytes, size_t size, struct slot_job *ret_job)
{
    struct cursor cursor = {.data = bytes, .size = size};
    enum slot_message_kind kind;
    struct slot_job job = {0};
    skip_head(&cursor, &kind);
    job.candidate = (int64_t)cursor_u64(&cursor);
    job.seed = cursor_u64(&cursor);
    job.tag = cursor_u64(&cursor);
    job.spec = get_text(&cursor);
    job.more = cursor_u32(&cursor);
    job.control = cursor_u32(&cursor) != 0;
    if (cursor.failed || kind != SLOT_MESSAGE_JOB) {
        slot_job_deinit(&job);
        return damaged();
    }
    *ret_job = job;
    return NULL;
}

void slot_job_deinit(struct slot_job *job)
{
    free(job->spec);
    job->spec = NULL;
}

static void get_injection(struct cursor *cursor, struct injection *injection)
{
    char **const texts[] = {&injection->fault, &injection->function, &injection->module,
                            &injection->file,  &injection->symbol,   &injection->program,
                            &injection->stack, &injection->library,  &injection->stream,
                            &injection->parent};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *texts[i] = get_text(cursor);
    injection->offset = cursor_u64(cursor);
    injection->occurrence = cursor_u64(cursor);
    injection->line = cursor_u32(cursor);
    injection->standard_stream = cursor_u32(cursor);
    injection->rule = cursor_u32(cursor);
    injection->process = cursor_u32(cursor);
    injection->thread = cursor_u32(cursor);
    injection->signal = (int)cursor_u32(cursor);
    injection->stream_write = cursor_u32(cursor) != 0;
    injection->observed = cursor_u32(cursor) != 0;
    injection->failed = cursor_u32(cursor) != 0;
    injection->child = cursor_u32(cursor) != 0;
    injection->returned = cursor_u32(cursor) != 0;
    injection->value = (int64_t)cursor_u64(cursor);
    cursor_copy(cursor, injection->arguments, sizeof injection->arguments);
    get_places(cursor, &injection->frames);
    injection->seconds = get_double(cursor);
}

static void get_observed(struct cursor *cursor, struct observed_call *observed)
{
    observed->began = cursor_u32(cursor) != 0;
    observed->returned = cursor_u32(cursor) != 0;
    observed->lost = cursor_u32(cursor) != 0;
    observed->result = (int64_t)cursor_u64(cursor);
    observed->error = (int)cursor_u32(cursor);
    observed->changed = cursor_u32(cursor);
    uint32_t results = cursor_u32(cursor);
    cursor->failed |= results > RESULTS;
    for (uint32_t i = 0; i < results && !cursor->failed; i++) {
        int64_t *result = ARRAY_ADD(&observed->results);
        cursor->failed |= result == NULL;
        if (result != NULL)
            *result = (int64_t)cursor_u64(cursor);
    }
    uint32_t count = cursor_u32(cursor);
    cursor->failed |= count > INNER_CALLS;
    for (uint32_t i = 0; i < count && !cursor->failed; i++) {
        struct inner_call *call = ARRAY_ADD(&observed->calls);
        if (call == NULL) {
            cursor->failed = true;
            return;
        }
        call->function = get_text(cursor);
        call->module = get_text(cursor);
        call->symbol = get_text(cursor);
        call->offset = cursor_u64(cursor);
        call->first = cursor_u64(cursor);
        call->count = cursor_u64(cursor);
        call->order = cursor_u64(cursor);
        cursor->failed |= call->function == NULL || call->module == NULL;
    }
}

static void get_observation(struct cursor *cursor, struct observation *observation)
{
    observation->activations = cursor_u64(cursor);
    observation->plan_hash = cursor_u64(cursor);
    observation->crash_in_command = cursor_u32(cursor) != 0;
    observation->crash_by_itself = cursor_u32(cursor) != 0;
    observation->crash_delay = get_double(cursor);
    uint32_t damage = cursor_u32(cursor);
    cursor->failed |= damage >= WIRE_DAMAGES;
    observation->damage = damage < WIRE_DAMAGES ? damage : WIRE_DAMAGE_NONE;
    observation->crash_signal = (int)cursor_u32(cursor);
    observation->crash = get_text(cursor);
    observation->crash_stack = get_text(cursor);
    observation->crash_key = get_text(cursor);
    get_places(cursor, &observation->crash_frames);
    observation->crash_fault = cursor_u32(cursor) != 0;
    observation->crash_address = cursor_u64(cursor);
    observation->note = get_text(cursor);
    get_observed(cursor, &observation->observed);
    uint32_t count = cursor_u32(cursor);
    if (count > INJECTIONS)
        cursor->failed = true;
    for (uint32_t i = 0; i < count && !cursor->failed; i++) {
        struct injection *injection = ARRAY_ADD(&observation->injections);
        if (injection == NULL)
            cursor->failed = true;
        else
            get_injection(cursor, injection);
    }
}

static void get_bytes(struct cursor *cursor, struct buffer *bytes)
{
    uint32_t size = cursor_u32(cursor);
    const void *data = size != 0 ? cursor_bytes(cursor, size) : NULL;
    struct error *error = data != NULL ? buffer_append(bytes, data, size) : NULL;
    cursor->failed |= error != NULL;
    error_free(error);
}

static void get_deviations(struct cursor *cursor, struct deviations *deviations)
{
    uint32_t count = cursor_u32(cursor);
    cursor->failed |= count > INVOCATIONS;
    for (uint32_t i = 0; i < count && !cursor->failed; i++) {
        struct deviation *deviation = ARRAY_ADD(&deviations->list);
        cursor->failed |= deviation == NULL;
        if (deviation == NULL)
            return;
        *deviation = (struct deviation){.number = cursor_u32(cursor)};
        deviation->activated = cursor_u32(cursor) != 0;
        deviation->count = cursor_u64(cursor);
        deviation->same_status = cursor_u32(cursor) != 0;
        deviation->same_time = cursor_u32(cursor) != 0;
        deviation->seconds = get_double(cursor);
        deviation->sentence = get_text(cursor);
        deviation->call = get_text(cursor);
        deviation->calls = get_text(cursor);
        get_bytes(cursor, &deviation->trace);
    }
}

static void get_propagation(struct cursor *cursor, struct propagation *propagation)
{
    propagation->known = cursor_u32(cursor) != 0;
    uint32_t outcome = cursor_u32(cursor), result = cursor_u32(cursor);
    cursor->failed |= outcome >= STORE_INTERFACES || result >= STORE_RESULTS;
    propagation->outcome = cursor->failed ? STORE_INTERFACE_SAME : (enum store_interface)outcome;
    propagation->result = cursor->failed ? STORE_RESULT_RIGHT : (enum store_result)result;
    propagation->call = cursor_u64(cursor);
    propagation->function = get_text(cursor);
    propagation->corrupted = cursor_u64(cursor);
    propagation->wrong = cursor_u64(cursor);
    propagation->omitted = cursor_u64(cursor);
    propagation->spurious = cursor_u64(cursor);
    propagation->profile = get_text(cursor);
}

static struct error *get_refusal(struct cursor *cursor)
{
    _cleanup_free_ char *why = get_text(cursor);
    return error_new("%s", why != NULL ? why : "no reason was given");
}

struct error *slot_message_get_result(const void *bytes, size_t size,
                                      struct engine_result *ret_result, bool *ret_refused)
{
    struct cursor cursor = {.data = bytes, .size = size};
    enum slot_message_kind kind;
    skip_head(&cursor, &kind);
    *ret_refused = kind == SLOT_MESSAGE_REFUSAL;
    if (*ret_refused)
        return get_refusal(&cursor);
    struct engine_result result = {0};
    result.job.candidate = (int64_t)cursor_u64(&cursor);
    result.job.seed = cursor_u64(&cursor);
    result.job.tag = cursor_u64(&cursor);
    uint32_t verdict = cursor_u32(&cursor);
    result.judgement.reason = get_text(&cursor);
    result.judgement.cause = get_text(&cursor);
    result.judgement.handled = get_text(&cursor);
    result.judgement.library = get_text(&cursor);
    uint32_t severity = cursor_u32(&cursor), symptom = cursor_u32(&cursor);
    result.judgement.about = get_text(&cursor);
    result.judgement.ignored = cursor_u32(&cursor) != 0;
    result.judgement.by_chance = cursor_u32(&cursor) != 0;
    get_deviations(&cursor, &result.judgement.deviations);
    get_propagation(&cursor, &result.judgement.propagation);
    uint32_t ending = cursor_u32(&cursor);
    result.status = (int)cursor_u32(&cursor);
    result.changed = cursor_u32(&cursor) != 0;
    result.seconds = get_double(&cursor);
    result.stack = get_text(&cursor);
    result.output = get_text(&cursor);
    uint32_t way = cursor_u32(&cursor), refusal = cursor_u32(&cursor);
    result.round = cursor_u32(&cursor);
    get_observation(&cursor, &result.observation);
    if (cursor.failed || cursor.at != cursor.size || kind != SLOT_MESSAGE_RESULT ||
        verdict >= VERDICTS || severity >= SEVERITIES || symptom >= SYMPTOMS ||
        ending > SANDBOX_TIMEOUT || way >= WAYS || refusal >= WIRE_FORK_REFUSALS) {
        engine_result_deinit(&result);
        return damaged();
    }
    result.judgement.verdict = verdict;
    result.judgement.severity = severity;
    result.judgement.symptom = symptom;
    result.end = ending;
    result.way = way;
    result.refusal = refusal;
    *ret_result = result;
    return NULL;
}

struct error *slot_message_send(int socket, const struct buffer *message)
{
    for (size_t done = 0; done < message->size;) {
        ssize_t sent = send(socket, message->data + done, message->size - done, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return error_from_errno(errno, "cannot send a message");
        done += (size_t)sent;
    }
    return NULL;
}
