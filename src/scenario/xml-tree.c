// SPDX-License-Identifier: GPL-3.0-or-later
// Reads XML into a tree with expat. A scenario of the LFI article is a sequence of elements without
// a root, which is not XML. So the reader gives expat a root around it.
#include "scenario/xml-tree.h"

#include "base/cleanup.h"
#include "scenario/model.h"

#include <expat.h>
#include <string.h>

static const char root_start[] = "<ordeal>", root_end[] = "</ordeal>";

struct reader {
    XML_Parser parser;
    const struct source *file;
    struct arena *arena;
    size_t prolog; // bytes of the XML declaration; our root comes after them
    struct xml_node *root, *current;
    unsigned depth;
    struct buffer text; // since the last tag
    struct error *error;
};

// Where expat is, in bytes of the file.
static size_t position(const struct reader *reader)
{
    XML_Index index = XML_GetCurrentByteIndex(reader->parser);
    size_t at = index > 0 ? (size_t)index : 0;
    if (at > reader->prolog)
        at = at - reader->prolog > sizeof root_start - 1 ? at - (sizeof root_start - 1)
                                                         : reader->prolog;
    return at < reader->file->size ? at : reader->file->size;
}

static void stop(struct reader *reader, struct error *error)
{
    if (reader->error == NULL)
        reader->error = error;
    else
        error_free(error);
    XML_StopParser(reader->parser, XML_FALSE);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// The text since the last tag, without blanks around it.
static const char *take_text(struct reader *reader)
{
    size_t start = 0, end = reader->text.size;
    while (start < end && is_blank(reader->text.data[start]))
        start++;
    while (end > start && is_blank(reader->text.data[end - 1]))
        end--;
    reader->text.size = 0;
    return end > start ? arena_copy(reader->arena, reader->text.data + start, end - start) : "";
}

static struct error *refuse_text(struct reader *reader)
{
    const char *text = take_text(reader);
    if (text == NULL)
        return error_no_memory();
    if (*text == '\0')
        return NULL;
    return source_error(reader->file, position(reader), "unexpected text '%.40s' before this",
                        text);
}

static struct error *copy_attributes(struct reader *reader, struct xml_node *node,
                                     const char **attributes)
{
    size_t count = 0;
    while (attributes[count * 2] != NULL)
        count++;
    struct xml_attribute *copy = arena_alloc(reader->arena, count * sizeof *copy);
    if (copy == NULL)
        return error_no_memory();
    for (size_t i = 0; i < count; i++) {
        const char *name = attributes[i * 2], *value = attributes[i * 2 + 1];
        copy[i].name = arena_copy(reader->arena, name, strlen(name));
        copy[i].value = arena_copy(reader->arena, value, strlen(value));
        if (copy[i].name == NULL || copy[i].value == NULL)
            return error_no_memory();
    }
    node->attributes = copy;
    node->attribute_count = count;
    return NULL;
}

static struct error *start_element(struct reader *reader, const char *name, const char **attributes)
{
    TRY(refuse_text(reader));
    if (++reader->depth > SCENARIO_NEST_LIMIT)
        return source_error(reader->file, position(reader),
                            "elements are nested too deeply (more than %u levels)",
                            SCENARIO_NEST_LIMIT);
    struct xml_node *node = arena_alloc(reader->arena, sizeof *node);
    if (node == NULL)
        return error_no_memory();
    node->name = arena_copy(reader->arena, name, strlen(name));
    if (node->name == NULL)
        return error_no_memory();
    node->at = position(reader);
    node->text = "";
    node->parent = reader->current;
    TRY(copy_attributes(reader, node, attributes));
    if (reader->current == NULL)
        reader->root = node;
    else if (reader->current->last == NULL)
        reader->current->first = reader->current->last = node;
    else
        reader->current->last = reader->current->last->next = node;
    reader->current = node;
    return NULL;
}

static void on_start(void *data, const char *name, const char **attributes)
{
    struct reader *reader = data;
    struct error *error = start_element(reader, name, attributes);
    if (error != NULL)
        stop(reader, error);
}

static struct error *end_element(struct reader *reader)
{
    struct xml_node *node = reader->current;
    reader->current = node->parent;
    reader->depth--;
    if (node->first != NULL || node->parent == NULL)
        return refuse_text(reader);
    node->text = take_text(reader);
    return node->text != NULL ? NULL : error_no_memory();
}

static void on_end(void *data, const char *name)
{
    struct reader *reader = data;
    struct error *error = end_element(reader);
    if (error != NULL)
        stop(reader, error);
}

static void on_text(void *data, const char *text, int size)
{
    struct reader *reader = data;
    struct error *error = buffer_append(&reader->text, text, (size_t)size);
    if (error != NULL)
        stop(reader, error);
}

static struct error *feed(struct reader *reader, const char *text, size_t size, bool is_last)
{
    if (XML_Parse(reader->parser, text, (int)size, is_last) == XML_STATUS_OK)
        return NULL;
    if (reader->error != NULL)
        return TAKE(reader->error);
    enum XML_Error code = XML_GetErrorCode(reader->parser);
    if (code == XML_ERROR_NO_MEMORY)
        return error_no_memory();
    return source_error(reader->file, position(reader), "not readable as XML: %s",
                        XML_ErrorString(code));
}

// The length of a byte order mark and an XML declaration, which must stay in front.
static size_t prolog_size(const struct source *file)
{
    size_t at = file->size >= 3 && memcmp(file->text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    if (file->size - at < 6 || memcmp(file->text + at, "<?xml", 5) != 0 ||
        !is_blank(file->text[at + 5]))
        return at;
    const char *end = memmem(file->text + at, file->size - at, "?>", 2);
    return end != NULL ? (size_t)(end + 2 - file->text) : at;
}

static struct error *feed_all(struct reader *reader)
{
    const struct source *file = reader->file;
    XML_SetUserData(reader->parser, reader);
    XML_SetElementHandler(reader->parser, on_start, on_end);
    XML_SetCharacterDataHandler(reader->parser, on_text);
    reader->prolog = prolog_size(file);
    if (reader->prolog != 0)
        TRY(feed(reader, file->text, reader->prolog, false));
    TRY(feed(reader, root_start, sizeof root_start - 1, false));
    if (file->size > reader->prolog)
        TRY(feed(reader, file->text + reader->prolog, file->size - reader->prolog, false));
    return feed(reader, root_end, sizeof root_end - 1, true);
}

struct error *xml_tree_read(const struct source *file, struct arena *arena,
                            struct xml_node **ret_root)
{
    struct reader reader = {.file = file, .arena = arena};
    reader.parser = XML_ParserCreate(NULL);
    if (reader.parser == NULL)
        return error_no_memory();
    struct error *error = feed_all(&reader);
    XML_ParserFree(reader.parser);
    buffer_deinit(&reader.text);
    error_free(reader.error);
    if (error == NULL)
        *ret_root = reader.root;
    return error;
}

const char *xml_attribute(const struct xml_node *node, const char *name)
{
    for (size_t i = 0; i < node->attribute_count; i++)
        if (strcmp(node->attributes[i].name, name) == 0)
            return node->attributes[i].value;
    return NULL;
}

// The first byte of an attribute's value; the tag's own place if it cannot be found.
static size_t value_position(const struct source *file, const struct xml_node *node,
                             const char *name)
{
    size_t at = node->at, size = strlen(name);
    char quote = '\0';
    for (; at < file->size && (quote != '\0' || file->text[at] != '>'); at++) {
        char c = file->text[at];
        if (quote != '\0') {
            quote = c == quote ? '\0' : quote;
            continue;
        }
        if (c == '"' || c == '\'') {
            quote = c;
            continue;
        }
        if (!is_blank(c) || file->size - at <= size + 1 ||
            memcmp(file->text + at + 1, name, size) != 0)
            continue;
        size_t value = at + 1 + size;
        while (value < file->size && is_blank(file->text[value]))
            value++;
        if (value >= file->size || file->text[value] != '=')
            continue;
        do
            value++;
        while (value < file->size && is_blank(file->text[value]));
        return value + 1;
    }
    return node->at;
}

struct source xml_attribute_source(const struct source *file, const struct xml_node *node,
                                   const char *name)
{
    struct source source = *file;
    const char *value = xml_attribute(node, name);
    source.text = value != NULL ? value : "";
    source.size = strlen(source.text);
    source.base = value_position(file, node, name);
    return source;
}
