// SPDX-License-Identifier: GPL-3.0-or-later
// Reads profiles and writes rules. An address that was stored or returned means nothing in another
// run: a wrong pointer into the same area is the right one moved by 8 bytes, any other one is moved
// by 4096. Of a store of more than 8 bytes the profile knows the first 8; in each 8 of the others
// one bit is wrong.
#include "injectors/interface/errors.h"

#include "base/cleanup.h"
#include "injector/spec.h"
#include "wire/plan.h"

#include <inttypes.h>
#include <string.h>

#define MOST_BYTES     (64u << 20) // of a file
#define SAME_AREA      8
#define OTHER_AREA     4096
#define WRONG_ADDRESS  4096 // to which no memory is mapped
#define UNKNOWN_CHANGE 1

const char *const error_model_names[ERROR_MODELS] = {[MODEL_MEASURED] = "measured",
                                                     [MODEL_BIT_FLIP] = "bit-flip",
                                                     [MODEL_BOUNDARY] = "boundary",
                                                     [MODEL_POINTER] = "invalid-pointer"};

// ---- files ----

void error_profiles_deinit(struct error_profiles *profiles)
{
    for (size_t i = 0; i < profiles->items.count; i++)
        corruption_deinit(&profiles->items.items[i]);
    ARRAY_DEINIT(&profiles->items);
}

static bool begins_profile(const char *line, size_t left)
{
    return left >= 5 && memcmp(line, "call ", 5) == 0;
}

static struct error *add_profile(struct error_profiles *profiles, const char *path, unsigned line,
                                 const char *text, size_t size)
{
    struct corruption corruption;
    TRY(corruption_read(path, line, text, size, &corruption));
    struct corruption *added = ARRAY_ADD(&profiles->items);
    if (added == NULL) {
        corruption_deinit(&corruption);
        return error_no_memory();
    }
    *added = corruption;
    return NULL;
}

static struct error *split(const char *path, const struct buffer *text,
                           struct error_profiles *profiles)
{
    size_t start = text->size; // of the profile that was begun
    unsigned line = 0, first = 0;
    for (size_t at = 0; at < text->size;) {
        const char *end = memchr(text->data + at, '\n', text->size - at);
        size_t next = end != NULL ? (size_t)(end - text->data) + 1 : text->size;
        line++;
        bool begins = begins_profile(text->data + at, text->size - at);
        if (!begins && start == text->size && text->data[at] != '#' && text->data[at] != '\n')
            return error_new("%s:%u: a profile begins with 'call FUNCTION NUMBER'", path, line);
        if (begins && start != text->size)
            TRY(add_profile(profiles, path, first, text->data + start, at - start));
        if (begins) {
            start = at;
            first = line;
        }
        at = next;
    }
    if (start == text->size)
        return error_new("%s has no profile; `ordeal report --profile` writes them", path);
    return add_profile(profiles, path, first, text->data + start, text->size - start);
}

struct error *error_profiles_read(const char *path, struct error_profiles *ret_list)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    _cleanup_(error_profiles_deinit) struct error_profiles profiles = {0};
    TRY(buffer_read_regular(path, MOST_BYTES, &text));
    TRY(split(path, &text, &profiles));
    *ret_list = profiles;
    profiles = (struct error_profiles){0};
    return NULL;
}

// ---- rules ----

struct writer {
    struct buffer result, outs; // "=VALUE, performed" and ", out(...)=..."
    unsigned count;             // of outs
    bool cut;                   // a rule cannot say all
};

static void writer_deinit(struct writer *writer)
{
    buffer_deinit(&writer->result);
    buffer_deinit(&writer->outs);
}

static bool is_pointer(enum value_class class)
{
    return class == CLASS_POINTER_SAME || class == CLASS_POINTER_OTHER;
}

static int64_t as_signed(uint64_t value, unsigned bytes)
{
    unsigned shift = bytes >= 8 ? 0 : 64 - 8 * bytes;
    return (int64_t)(value << shift) >> shift;
}

struct profile_place { // a part of what is corrupted
    const struct corruption_path *path;
    int64_t at; // bytes behind it
    unsigned width;
};

// What a rule writes for a value: "5", "xor 8", "kept".
struct change {
    enum wire_out_kind kind;
    uint64_t value;
};

static struct error *put_part(struct writer *writer, const struct profile_place *place,
                              const struct change *change)
{
    const struct corruption_path *path = place->path;
    if (writer->count == WIRE_OUT_MAX) {
        writer->cut = true;
        return NULL;
    }
    writer->count++;
    struct buffer *text = &writer->outs;
    TRY(buffer_printf(text, ", out("));
    if (path->root == CORRUPTION_RESULT)
        TRY(buffer_printf(text, "result"));
    else
        TRY(buffer_printf(text, "%u", path->root + 1));
    TRY(buffer_printf(text, ":%u", place->width));
    for (unsigned i = 0; i < path->steps; i++) {
        bool last = i + 1 == path->steps;
        TRY(buffer_printf(text, "%+" PRId64 "%s", path->offsets[i] + (last ? place->at : 0),
                          last ? "" : ">"));
    }
    if (change->kind == WIRE_OUT_KEPT)
        return buffer_printf(text, ")=kept");
    return buffer_printf(text, ")=%s%" PRId64, change->kind == WIRE_OUT_XOR ? "xor " : "",
                         as_signed(change->value, place->width));
}

static struct change change_of(const struct corruption_memory *memory)
{
    if (memory->change == CHANGE_OMITTED_STORE)
        return (struct change){.kind = WIRE_OUT_KEPT};
    if (is_pointer(memory->new_class))
        return (struct change){.kind = WIRE_OUT_XOR,
                               .value = memory->new_class == CLASS_POINTER_SAME ? SAME_AREA
                                                                                : OTHER_AREA};
    return (struct change){.kind = WIRE_OUT_SET, .value = memory->new};
}

static unsigned width_of(uint32_t size)
{
    return size >= 8 ? 8 : size >= 4 ? 4 : size >= 2 ? 2 : 1;
}

static struct error *put_memory(struct writer *writer, const struct corruption_memory *memory)
{
    struct change change = change_of(memory);
    for (uint32_t done = 0; done < memory->size;) {
        const struct profile_place place = {
            .path = &memory->path, .at = done, .width = width_of(memory->size - done)};
        TRY(put_part(writer, &place, &change));
        done += place.width;
        if (change.kind == WIRE_OUT_SET && done < 8)
            change.value >>= 8 * place.width;
        else if (change.kind != WIRE_OUT_KEPT)
            change = (struct change){.kind = WIRE_OUT_XOR, .value = UNKNOWN_CHANGE};
    }
    return NULL;
}

static struct error *put_result(struct writer *writer, const struct corruption *corruption,
                                uint64_t value)
{
    return buffer_printf(&writer->result, "=%" PRId64, as_signed(value, corruption->result_bytes));
}

static struct error *measured(struct writer *writer, const struct corruption *corruption)
{
    if (corruption->result_bytes != 0)
        TRY(put_result(writer, corruption,
                       is_pointer(corruption->new_class) ? WRONG_ADDRESS : corruption->new_result));
    writer->cut = corruption->more != 0;
    for (size_t i = 0; i < corruption->memory.count; i++)
        if (corruption->memory.items[i].path.root != CORRUPTION_NOWHERE)
            TRY(put_memory(writer, &corruption->memory.items[i]));
        else
            writer->cut = true;
    return NULL;
}

static bool suits(const struct corruption_memory *memory, enum error_model model)
{
    return memory->path.root != CORRUPTION_NOWHERE &&
           (model != MODEL_POINTER || (memory->size == 8 && (is_pointer(memory->old_class) ||
                                                             is_pointer(memory->new_class))));
}

static bool result_suits(const struct corruption *corruption, enum error_model model)
{
    return corruption->result_bytes != 0 &&
           (model == MODEL_POINTER) == is_pointer(corruption->old_class);
}

static uint64_t boundary(struct stats_random *random, unsigned bytes)
{
    const uint64_t values[] = {0, 1, UINT64_MAX, UINT64_C(1) << (8 * bytes - 1),
                               (UINT64_C(1) << (8 * bytes - 1)) - 1};
    return values[stats_random_below(random, sizeof values / sizeof *values)];
}

static struct error *classical_memory(struct writer *writer, const struct corruption_memory *memory,
                                      enum error_model model, struct stats_random *random)
{
    struct profile_place place = {.path = &memory->path, .width = width_of(memory->size)};
    struct change change = {.kind = WIRE_OUT_SET, .value = WRONG_ADDRESS};
    if (model == MODEL_BIT_FLIP) {
        uint64_t bit = stats_random_below(random, 8 * (uint64_t)memory->size);
        place.at = (int64_t)(bit / 8);
        place.width = 1;
        change = (struct change){.kind = WIRE_OUT_XOR, .value = UINT64_C(1) << bit % 8};
    } else if (model == MODEL_BOUNDARY) {
        change.value = boundary(random, place.width);
    }
    return put_part(writer, &place, &change);
}

// One value at a place where the profile has a wrong one.
static struct error *classical(struct writer *writer, const struct corruption *corruption,
                               enum error_model model, struct stats_random *random)
{
    uint64_t places = result_suits(corruption, model);
    for (size_t i = 0; i < corruption->memory.count; i++)
        places += suits(&corruption->memory.items[i], model);
    if (places == 0)
        return NULL;
    uint64_t chosen = stats_random_below(random, places);
    unsigned bits = 8 * corruption->result_bytes;
    for (size_t i = 0; i < corruption->memory.count; i++)
        if (suits(&corruption->memory.items[i], model) && chosen-- == 0)
            return classical_memory(writer, &corruption->memory.items[i], model, random);
    if (model == MODEL_POINTER)
        return put_result(writer, corruption, WRONG_ADDRESS);
    if (model == MODEL_BOUNDARY)
        return put_result(writer, corruption, boundary(random, corruption->result_bytes));
    return put_result(writer, corruption,
                      corruption->old_result ^ UINT64_C(1) << stats_random_below(random, bits));
}

struct error *error_spec(const struct corruption *corruption, const char *library,
                         enum error_model model, struct stats_random *random, char **ret_spec,
                         bool *ret_cut)
{
    _cleanup_(writer_deinit) struct writer writer = {0};
    _cleanup_(buffer_deinit) struct buffer spec = {0};
    if (corruption->unfinished || strcmp(corruption->function, "?") == 0)
        return NULL;
    TRY(model == MODEL_MEASURED ? measured(&writer, corruption)
                                : classical(&writer, corruption, model, random));
    if (writer.result.size == 0 && writer.outs.size == 0)
        return NULL;
    TRY(spec_put_word(&spec, library, SPEC_PATTERN));
    TRY(buffer_printf(&spec, ":"));
    TRY(spec_put_word(&spec, corruption->function, SPEC_NAME));
    if (writer.result.size != 0)
        TRY(buffer_printf(&spec, "%s, performed%s", writer.result.data,
                          writer.outs.size != 0 ? writer.outs.data : ""));
    else
        TRY(buffer_printf(&spec, " %s, after", writer.outs.data + strlen(", ")));
    TRY(buffer_printf(&spec, " when count == %" PRIu64, corruption->number));
    *ret_spec = TAKE(spec.data);
    *ret_cut = writer.cut;
    return NULL;
}
