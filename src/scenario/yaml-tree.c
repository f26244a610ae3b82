// SPDX-License-Identifier: GPL-3.0-or-later
// Reads YAML into a tree with libyaml's events. libyaml gives positions in characters, so the
// reader counts characters to know the bytes.
#include "scenario/yaml-tree.h"

#include "base/cleanup.h"
#include "base/hash.h"
#include "scenario/model.h"

#include <string.h>
#include <yaml.h>

struct reader {
    yaml_parser_t parser;
    const struct source *file;
    struct arena *arena;
    size_t index, byte; // the same place, in characters and in bytes
    unsigned depth;
};

static size_t bom_size(const struct source *file)
{
    return file->size >= 3 && memcmp(file->text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

// The byte of a character index. Events come in order, so this only ever moves forward.
static size_t byte_of(struct reader *reader, size_t index)
{
    const struct source *file = reader->file;
    while (reader->index < index && reader->byte < file->size) {
        reader->byte++;
        while (reader->byte < file->size &&
               ((unsigned char)file->text[reader->byte] & 0xc0) == 0x80)
            reader->byte++;
        reader->index++;
    }
    return reader->byte;
}

static const char *hint(const struct reader *reader, size_t at)
{
    char c = at < reader->file->size ? reader->file->text[at] : '\0';
    return c != '\0' && strchr("@%`*&!|>", c) != NULL
               ? "; a text that starts with this character must be put in quotes"
               : "";
}

static struct error *library_error(struct reader *reader)
{
    const yaml_parser_t *parser = &reader->parser;
    if (parser->error == YAML_MEMORY_ERROR)
        return error_no_memory();
    const char *problem = parser->problem != NULL ? parser->problem : "this is not YAML";
    if (parser->error == YAML_READER_ERROR)
        return source_error(reader->file, parser->problem_offset, "%s", problem);
    // An unreadable alias, anchor or tag is most likely a text that should be in quotes.
    bool decorated = parser->context != NULL && (strstr(parser->context, "alias") != NULL ||
                                                 strstr(parser->context, "anchor") != NULL ||
                                                 strstr(parser->context, "tag") != NULL);
    reader->index = 0;
    reader->byte = bom_size(reader->file);
    size_t at =
        byte_of(reader, decorated ? parser->context_mark.index : parser->problem_mark.index);
    if (at < reader->file->size && reader->file->text[at] == '\t')
        return source_error(reader->file, at, "this is a tab; YAML is indented with spaces only");
    return source_error(reader->file, at, "%s%s", problem, hint(reader, at));
}

static struct error *next_event(struct reader *reader, yaml_event_t *ret_event)
{
    return yaml_parser_parse(&reader->parser, ret_event) ? NULL : library_error(reader);
}

static struct error *refuse_decoration(struct reader *reader, const yaml_event_t *event, size_t at)
{
    const yaml_char_t *anchor = NULL, *tag = NULL;
    if (event->type == YAML_ALIAS_EVENT)
        return source_error(reader->file, at,
                            "aliases are not supported; a text that starts with '*' must be put in "
                            "quotes");
    if (event->type == YAML_SCALAR_EVENT) {
        anchor = event->data.scalar.anchor;
        tag = event->data.scalar.tag;
    } else if (event->type == YAML_SEQUENCE_START_EVENT) {
        anchor = event->data.sequence_start.anchor;
        tag = event->data.sequence_start.tag;
    } else if (event->type == YAML_MAPPING_START_EVENT) {
        anchor = event->data.mapping_start.anchor;
        tag = event->data.mapping_start.tag;
    }
    if (anchor != NULL)
        return source_error(reader->file, at,
                            "anchors are not supported; a text that starts with '&' must be put in "
                            "quotes");
    if (tag != NULL)
        return source_error(reader->file, at,
                            "tags are not supported; a text that starts with '!' must be put in "
                            "quotes");
    return NULL;
}

static struct error *make_node(struct reader *reader, const yaml_event_t *event,
                               struct yaml_node **ret_node)
{
    size_t at = byte_of(reader, event->start_mark.index);
    TRY(refuse_decoration(reader, event, at));
    struct yaml_node *node = arena_alloc(reader->arena, sizeof *node);
    if (node == NULL)
        return error_no_memory();
    node->at = at;
    node->kind = event->type == YAML_SCALAR_EVENT           ? YAML_SCALAR
                 : event->type == YAML_SEQUENCE_START_EVENT ? YAML_LIST
                                                            : YAML_MAPPING;
    if (node->kind == YAML_SCALAR) {
        node->size = event->data.scalar.length;
        node->text = arena_copy(reader->arena, (const char *)event->data.scalar.value, node->size);
        if (node->text == NULL)
            return error_no_memory();
    }
    *ret_node = node;
    return NULL;
}

static bool stands_before(const struct yaml_node *mapping, const struct yaml_node *key)
{
    for (const struct yaml_node *at = mapping->first; at != key; at = at->next->next)
        if (at->size == key->size && memcmp(at->text, key->text, key->size) == 0)
            return true;
    return false;
}

// Keys are scalars, and each stands once.
static struct error *check_keys(const struct reader *reader, const struct yaml_node *mapping)
{
    _cleanup_(map_deinit) struct map seen = {0};
    for (const struct yaml_node *key = mapping->first; key != NULL; key = key->next->next) {
        if (key->kind != YAML_SCALAR)
            return source_error(reader->file, key->at, "a key must be a plain text");
        bool new;
        TRY(map_add(&seen, hash_bytes(key->text, key->size), &new));
        if (!new &&stands_before(mapping, key))
            return source_error(reader->file, key->at, "key '%.*s' stands here a second time",
                                key->size < 60 ? (int)key->size : 60, key->text);
    }
    return NULL;
}

static struct error *read_node(struct reader *reader, const yaml_event_t *event,
                               struct yaml_node **ret_node);

static struct error *read_children(struct reader *reader, struct yaml_node *parent)
{
    struct yaml_node **tail = &parent->first;
    if (++reader->depth > SCENARIO_NEST_LIMIT)
        return source_error(reader->file, parent->at, "nested too deeply (more than %u levels)",
                            SCENARIO_NEST_LIMIT);
    for (;;) {
        _cleanup_(yaml_event_delete) yaml_event_t event = {0};
        TRY(next_event(reader, &event));
        if (event.type == YAML_SEQUENCE_END_EVENT || event.type == YAML_MAPPING_END_EVENT)
            break;
        TRY(read_node(reader, &event, tail));
        tail = &(*tail)->next;
    }
    reader->depth--;
    return parent->kind == YAML_MAPPING ? check_keys(reader, parent) : NULL;
}

static struct error *read_node(struct reader *reader, const yaml_event_t *event,
                               struct yaml_node **ret_node)
{
    TRY(make_node(reader, event, ret_node));
    return (*ret_node)->kind != YAML_SCALAR ? read_children(reader, *ret_node) : NULL;
}

static struct error *read_stream(struct reader *reader, struct yaml_node **ret_root)
{
    struct yaml_node *root = NULL;
    for (;;) {
        _cleanup_(yaml_event_delete) yaml_event_t event = {0};
        TRY(next_event(reader, &event));
        switch (event.type) {
        case YAML_STREAM_START_EVENT:
        case YAML_DOCUMENT_END_EVENT:
            break;
        case YAML_DOCUMENT_START_EVENT:
            if (root != NULL)
                return source_error(reader->file, byte_of(reader, event.start_mark.index),
                                    "a scenario file holds one document only");
            break;
        case YAML_STREAM_END_EVENT:
        case YAML_NO_EVENT:
            *ret_root = root;
            return NULL;
        default:
            TRY(read_node(reader, &event, &root));
        }
    }
}

struct error *yaml_tree_read(const struct source *file, struct arena *arena,
                             struct yaml_node **ret_root)
{
    struct reader reader = {.file = file, .arena = arena, .byte = bom_size(file)};
    if (!yaml_parser_initialize(&reader.parser))
        return error_no_memory();
    yaml_parser_set_encoding(&reader.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&reader.parser, (const unsigned char *)file->text, file->size);
    struct error *error = read_stream(&reader, ret_root);
    yaml_parser_delete(&reader.parser);
    return error;
}

struct source yaml_scalar_source(const struct source *file, const struct yaml_node *scalar)
{
    struct source source = *file;
    source.text = scalar->text;
    source.size = scalar->size;
    source.base = scalar->at;
    source.mapping = SOURCE_SCALAR;
    return source;
}
