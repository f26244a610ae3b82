// SPDX-License-Identifier: GPL-3.0-or-later
// Writes the map of a module into the module. It does so as assembly, since IR cannot express a
// section that is not loaded.
#include "mutate/pass/pass.h"

#include "base/hash.h"
#include "mutate/model.h"

#include <string.h>

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

// ---- the blob ----

static struct map_header make_header(struct pass *pass)
{
    size_t size;
    struct map_header header = {
        .magic = MAP_MAGIC,
        .version = MAP_VERSION,
        .decide = pass->options.decide,
        .functions = (uint32_t)pass->functions.count,
        .source = pass_intern(pass, LLVMGetSourceFileName(pass->module, &size)),
    };
    for (size_t i = 0; i < pass->functions.count; i++) {
        header.edges += (uint32_t)pass->functions.items[i].edges.count;
        header.candidates += (uint32_t)pass->functions.items[i].candidates.count;
        header.left_out += (uint32_t)pass->functions.items[i].left_out.count;
    }
    return header;
}

static void write_functions(struct pass *pass, struct buffer *blob)
{
    for (size_t i = 0; i < pass->functions.count; i++) {
        const struct pass_function *subject = &pass->functions.items[i];
        size_t size;
        const struct map_function row = {
            .id = subject->id,
            .name_key = subject->name_key,
            .name = pass_intern(pass, LLVMGetValueName2(subject->function, &size)),
            .reason = pass_intern(pass, subject->reason != NULL ? subject->reason : ""),
            .edges = (uint32_t)subject->edges.count,
            .candidates = (uint32_t)subject->candidates.count,
            .flags = (subject->entry ? MAP_ENTRY : 0) | (subject->in_place ? MAP_IN_PLACE : 0) |
                     (subject->skipped ? MAP_SKIPPED : 0) |
                     (subject->declared_inline ? MAP_INLINE : 0),
            .blocks = subject->blocks,
        };
        pass_must(buffer_append(blob, &row, sizeof row));
    }
}

static void write_candidates(struct pass *pass, const struct pass_function *subject,
                             struct buffer *blob)
{
    for (size_t i = 0; i < subject->candidates.count; i++) {
        const struct pass_candidate *candidate = &subject->candidates.items[i];
        const struct map_candidate row = {
            .type = pass_intern(pass, candidate->type->name),
            .file = candidate->file,
            .detail = candidate->detail,
            .line = candidate->line,
            .column = candidate->column,
            .block = candidate->block,
            .flags = (candidate->chosen ? MAP_CHOSEN : 0u) | (candidate->macro ? MAP_MACRO : 0u) |
                     (candidate->idle ? MAP_IDLE : 0u) | (candidate->loop_depth << MAP_LOOP),
        };
        pass_must(buffer_append(blob, &row, sizeof row));
    }
}

static void write_left_out(struct pass *pass, uint32_t function, struct buffer *blob)
{
    const struct pass_function *subject = &pass->functions.items[function];
    for (size_t i = 0; i < subject->left_out.count; i++) {
        const struct pass_left_out *left_out = &subject->left_out.items[i];
        const struct map_left_out row = {
            .function = function,
            .type = pass_intern(pass, model_types[left_out->kind].name),
            .file = left_out->file,
            .detail = left_out->detail,
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

void pass_write_map(struct pass *pass)
{
    struct buffer blob = {0};
    struct map_header header = make_header(pass);
    pass_must(buffer_append(&blob, &header, sizeof header));
    write_functions(pass, &blob);
    for (size_t i = 0; i < pass->functions.count; i++)
        pass_must(buffer_append(&blob, pass->functions.items[i].edges.items,
                                8 * pass->functions.items[i].edges.count));
    for (size_t i = 0; i < pass->functions.count; i++)
        write_left_out(pass, (uint32_t)i, &blob);
    for (size_t i = 0; i < pass->functions.count; i++)
        write_candidates(pass, &pass->functions.items[i], &blob);
    pass_must(buffer_align(&pass->strings, 8));
    pass_must(buffer_append(&blob, pass->strings.data, pass->strings.size));
    header.strings = (uint32_t)pass->strings.size;
    header.size = (uint32_t)blob.size;
    memcpy(blob.data, &header, sizeof header);
    pass_write_section(pass, MAP_SECTION, &blob);
    buffer_deinit(&blob);
}
