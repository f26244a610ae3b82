// SPDX-License-Identifier: GPL-3.0-or-later
// Writes the map of a module into the module. It does so as assembly, since IR cannot express a
// section that is not loaded.
#include "mutate/pass/pass.h"

#include "base/hash.h"
#include "mutate/model.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

// ---- strings ----

struct sought {
    const struct pass *pass;
    const char *text;
};

static bool is_equal(const void *data, uint32_t offset)
{
    const struct sought *sought = data;
    return strcmp(sought->pass->strings.data + offset, sought->text) == 0;
}

uint32_t pass_intern(struct pass *pass, const char *text)
{
    if (*text == '\0')
        return 0;
    const struct sought sought = {pass, text};
    uint64_t hash = hash_text(text);
    uint32_t offset = map_find_equal(&pass->interned, hash, is_equal, &sought);
    if (offset == MAP_NONE) {
        offset = (uint32_t)pass->strings.size;
        pass_must(buffer_append(&pass->strings, text, strlen(text) + 1));
        pass_must(map_put(&pass->interned, hash, offset));
    }
    return offset;
}

// The map has only the strings that it uses: those of candidates that were left out are many.
struct strings {
    const struct pass *pass;
    struct buffer text; // offset 0 is the empty string
    struct map offsets; // by the offset in the pass
};

static uint32_t keep(struct strings *strings, uint32_t offset)
{
    if (offset == 0)
        return 0;
    uint32_t kept = map_find(&strings->offsets, offset);
    if (kept != MAP_NONE)
        return kept;
    kept = (uint32_t)strings->text.size;
    const char *text = strings->pass->strings.data + offset;
    pass_must(buffer_append(&strings->text, text, strlen(text) + 1));
    pass_must(map_put(&strings->offsets, offset, kept));
    return kept;
}

// ---- the blob ----

// The index of a type in the options, which is that of the map.
static uint16_t type_index(const struct pass *pass, const struct fault_type *type)
{
    size_t i = 0;
    while (i < pass->options.types.count && pass->options.types.items[i] != type)
        i++;
    return (uint16_t)i;
}

static void list_candidates(const struct pass *pass, struct pass_function *subject)
{
    struct pass_listed *listed = calloc(subject->candidates.count, sizeof *listed);
    if (listed == NULL)
        pass_must(error_no_memory());
    for (size_t i = 0; i < subject->candidates.count; i++) {
        const struct pass_candidate *candidate = &subject->candidates.items[i];
        listed[i] = (struct pass_listed){
            .block = candidate->block,
            .position = candidate->position,
            .line = candidate->line,
            .column = candidate->column,
            .file = candidate->file,
            .detail = candidate->detail,
            .type = type_index(pass, candidate->type),
            .loop_depth = (uint16_t)candidate->loop_depth,
            .macro = candidate->macro,
            .chosen = candidate->chosen,
            .idle = candidate->idle,
        };
    }
    subject->listed.items = listed;
    subject->listed.count = subject->candidates.count;
    ARRAY_DEINIT(&subject->candidates);
}

void pass_list_candidates(struct pass *pass)
{
    for (size_t i = 0; i < pass->functions.count; i++) {
        struct pass_function *subject = &pass->functions.items[i];
        size_t size;
        subject->name = pass_intern(pass, LLVMGetValueName2(subject->function, &size));
        if (subject->candidates.count != 0)
            list_candidates(pass, subject);
    }
}

static struct map_header make_header(struct pass *pass, struct strings *strings)
{
    size_t size;
    struct map_header header = {
        .magic = MAP_MAGIC,
        .version = MAP_VERSION,
        .decide = pass->options.decide,
        .functions = (uint32_t)pass->functions.count,
        .types = (uint32_t)pass->options.types.count,
        .source = keep(strings, pass_intern(pass, LLVMGetSourceFileName(pass->module, &size))),
    };
    for (size_t i = 0; i < pass->functions.count; i++) {
        header.candidates += (uint32_t)pass->functions.items[i].listed.count;
        header.left_out += (uint32_t)pass->functions.items[i].left_out.count;
    }
    return header;
}

static void write_functions(struct pass *pass, struct strings *strings, struct buffer *blob)
{
    for (size_t i = 0; i < pass->functions.count; i++) {
        const struct pass_function *subject = &pass->functions.items[i];
        const struct map_function row = {
            .id = subject->id,
            .name = keep(strings, subject->name),
            .reason =
                keep(strings, pass_intern(pass, subject->reason != NULL ? subject->reason : "")),
            .edges = (uint32_t)subject->edges.count,
            .candidates = (uint32_t)subject->listed.count,
            .flags = (subject->entry ? MAP_ENTRY : 0) | (subject->in_place ? MAP_IN_PLACE : 0) |
                     (subject->skipped ? MAP_SKIPPED : 0) |
                     (subject->declared_inline ? MAP_INLINE : 0),
            .blocks = subject->blocks,
        };
        pass_must(buffer_append(blob, &row, sizeof row));
    }
}

static void write_number(struct buffer *blob, uint64_t number)
{
    unsigned char bytes[10];
    size_t size = 0;
    do {
        bytes[size] = (unsigned char)((number & 0x7f) | (number > 0x7f ? 0x80 : 0));
        number >>= 7;
        size++;
    } while (number != 0);
    pass_must(buffer_append(blob, bytes, size));
}

static bool is_same_place(const struct pass_listed *a, const struct pass_listed *b)
{
    return a->block == b->block && a->position == b->position && a->line == b->line &&
           a->column == b->column && a->file == b->file && a->detail == b->detail;
}

static void write_place(struct strings *strings, const struct pass_listed *before,
                        const struct pass_listed *first, size_t count, struct buffer *blob)
{
    bool chosen = false;
    for (size_t i = 0; i < count; i++)
        chosen |= first[i].chosen;
    uint8_t head = (uint8_t)(count | (first->macro ? PLACE_MACRO : 0u) |
                             (first->file != before->file ? PLACE_FILE : 0u) |
                             (first->block != before->block ? PLACE_BLOCK : 0u) |
                             (first->loop_depth != before->loop_depth ? PLACE_LOOP : 0u));
    pass_must(buffer_append(blob, &head, 1));
    if ((head & PLACE_FILE) != 0)
        write_number(blob, keep(strings, first->file));
    if ((head & PLACE_BLOCK) != 0)
        write_number(blob, first->block - before->block);
    if ((head & PLACE_LOOP) != 0)
        write_number(blob, first->loop_depth);
    write_number(blob, place_fold((int64_t)first->line - (int64_t)before->line));
    write_number(blob, first->column);
    write_number(blob, chosen ? keep(strings, first->detail) : 0);
    for (size_t i = 0; i < count; i++)
        write_number(blob, (uint64_t)first[i].type << PLACE_TYPE |
                               (first[i].chosen ? PLACE_CHOSEN : 0u) |
                               (first[i].idle ? PLACE_IDLE : 0u));
}

static void write_candidates(struct strings *strings, const struct pass_function *subject,
                             struct buffer *blob)
{
    const struct pass_listed none = {0}, *before = &none;
    for (size_t i = 0, count; i < subject->listed.count; i += count) {
        const struct pass_listed *first = &subject->listed.items[i];
        count = 1;
        while (i + count < subject->listed.count && count < PLACE_COUNT &&
               is_same_place(first, first + count))
            count++;
        write_place(strings, before, first, count, blob);
        before = first;
    }
}

static void write_left_out(struct pass *pass, struct strings *strings, uint32_t function,
                           struct buffer *blob)
{
    const struct pass_function *subject = &pass->functions.items[function];
    for (size_t i = 0; i < subject->left_out.count; i++) {
        const struct pass_left_out *left_out = &subject->left_out.items[i];
        const struct map_left_out row = {
            .function = function,
            .type = keep(strings, pass_intern(pass, model_types[left_out->kind].name)),
            .file = keep(strings, left_out->file),
            .detail = keep(strings, left_out->detail),
            .line = left_out->line,
            .column = left_out->column,
            .reason = left_out->reason,
        };
        pass_must(buffer_append(blob, &row, sizeof row));
    }
}

void pass_write_section(struct pass *pass, const char *name, const struct buffer *blob)
{
    struct buffer text = {0};
    pass_must(buffer_printf(&text, "\t.pushsection %s,\"\",@progbits\n", name));
    const unsigned char *bytes = (const unsigned char *)blob->data;
    for (size_t i = 0; i < blob->size; i += 8) {
        uint64_t word = 0;
        memcpy(&word, bytes + i, blob->size - i < 8 ? blob->size - i : 8);
        pass_must(buffer_printf(&text, i % 64 == 0 ? "\n\t.quad 0x%llx" : ",0x%llx",
                                (unsigned long long)word));
    }
    pass_must(buffer_printf(&text, "\n\t.popsection\n"));
    LLVMAppendModuleInlineAsm(pass->module, text.data, text.size);
    buffer_deinit(&text);
}

// Calls of functions elsewhere are keys.
static void write_edges(struct pass *pass, struct map_header *header, struct buffer *blob)
{
    struct map numbers = {0}; // by id or key
    struct buffer edges = {0};
    for (size_t i = pass->functions.count; i-- > 0;)
        pass_must(map_put(&numbers, pass->functions.items[i].id, (uint32_t)i));
    for (size_t i = 0; i < pass->functions.count; i++)
        for (size_t j = 0; j < pass->functions.items[i].edges.count; j++) {
            uint64_t key = pass->functions.items[i].edges.items[j];
            uint32_t number = map_find(&numbers, key);
            if (number == MAP_NONE) {
                number = header->functions + header->keys++;
                pass_must(map_put(&numbers, key, number));
                pass_must(buffer_append(blob, &key, sizeof key));
            }
            pass_must(buffer_append(&edges, &number, sizeof number));
        }
    header->edges = (uint32_t)(edges.size / sizeof(uint32_t));
    if (edges.size != 0)
        pass_must(buffer_append(blob, edges.data, edges.size));
    buffer_deinit(&edges);
    map_deinit(&numbers);
}

static void make_body(struct pass *pass, struct map_header *header, struct strings *strings,
                      struct buffer *blob)
{
    write_functions(pass, strings, blob);
    write_edges(pass, header, blob);
    for (size_t i = 0; i < pass->functions.count; i++)
        write_left_out(pass, strings, (uint32_t)i, blob);
    for (size_t i = 0; i < pass->options.types.count; i++) {
        uint32_t name = keep(strings, pass_intern(pass, pass->options.types.items[i]->name));
        pass_must(buffer_append(blob, &name, sizeof name));
    }
    size_t start = blob->size;
    for (size_t i = 0; i < pass->functions.count; i++)
        write_candidates(strings, &pass->functions.items[i], blob);
    header->places = (uint32_t)(blob->size - start);
    pass_must(buffer_append(blob, strings->text.data, strings->text.size));
    header->strings = (uint32_t)strings->text.size;
}

static void pack(const struct buffer *body, struct map_header *header, struct buffer *blob)
{
    uLongf size = compressBound(body->size);
    Bytef *packed = malloc(size);
    if (packed == NULL || compress2(packed, &size, (const Bytef *)body->data, body->size,
                                    Z_DEFAULT_COMPRESSION) != Z_OK) {
        pass_must(error_no_memory());
        return;
    }
    uLongf least = body->size / MAP_MOST_PACKED + 1;
    header->packed = (uint32_t)(size > least ? size : least);
    header->size = (uint32_t)(sizeof *header + header->packed + 7) / 8 * 8; // written in words
    pass_must(buffer_append(blob, header, sizeof *header));
    pass_must(buffer_append(blob, packed, size));
    while (blob->size < header->size)
        pass_must(buffer_append(blob, "", 1));
    free(packed);
}

static void make_map(struct pass *pass, struct buffer *blob)
{
    struct buffer body = {0};
    struct strings strings = {.pass = pass};
    pass_must(buffer_append(&strings.text, "", 1));
    struct map_header header = make_header(pass, &strings);
    make_body(pass, &header, &strings, &body);
    pack(&body, &header, blob);
    buffer_deinit(&body);
    buffer_deinit(&strings.text);
    map_deinit(&strings.offsets);
}

void pass_write_map(struct pass *pass)
{
    struct buffer blob = {0};
    make_map(pass, &blob);
    pass_write_section(pass, MAP_SECTION, &blob);
    buffer_deinit(&blob);
}

size_t pass_map_size(struct pass *pass)
{
    struct buffer blob = {0};
    make_map(pass, &blob);
    size_t size = blob.size;
    buffer_deinit(&blob);
    return size;
}
