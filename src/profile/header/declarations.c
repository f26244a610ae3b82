// SPDX-License-Identifier: GPL-3.0-or-later
// Keeps what headers declare: the types of functions, and what types stand for. What is declared
// twice with different types counts as unknown.
#include "profile/header/declarations-internal.h"

#include "base/cleanup.h"
#include "base/hash.h"

#include <errno.h>
#include <fts.h>
#include <string.h>

#define LONGEST_WORD 256         // bytes
#define MOST_BYTES   (16u << 20) // of a header
#define MOST_STEPS   16          // from a type to the type that it stands for

void declarations_deinit(struct declarations *declarations)
{
    arena_deinit(&declarations->texts);
    ARRAY_DEINIT(&declarations->items);
    map_deinit(&declarations->functions);
    map_deinit(&declarations->types);
    map_deinit(&declarations->tags);
}

static bool has_name(const void *sought, uint32_t value)
{
    const void *const *pair = sought;
    const struct declarations *declarations = pair[0];
    const struct word *name = pair[1];
    const struct word *known = &declarations->items.items[value]->name;
    return known->size == name->size && memcmp(known->text, name->text, name->size) == 0;
}

struct declaration *declarations_look_up(const struct declarations *declarations,
                                         const struct map *map, const struct word *name)
{
    const void *pair[] = {declarations, name};
    uint32_t found = map_find_equal(map, hash_bytes(name->text, name->size), has_name, pair);
    return found != MAP_NONE ? declarations->items.items[found] : NULL;
}

static bool same_type(const struct declaration *known, const struct type *type)
{
    if (known->result != (uint8_t)type_result(type))
        return false;
    return known->result != DECLARED_UNKNOWN || known->word_count == 0 || type->word_count == 0 ||
           (known->words[0].size == type->words[0].size &&
            memcmp(known->words[0].text, type->words[0].text, known->words[0].size) == 0);
}

static struct error *copy_word(struct declarations *declarations, struct word *word)
{
    const char *copy = arena_copy(&declarations->texts, word->text, word->size);
    if (copy == NULL)
        return error_no_memory();
    word->text = copy;
    return NULL;
}

struct error *declarations_add(struct declarations *declarations, struct map *map,
                               const struct word *name, const struct type *type)
{
    if (name->size > LONGEST_WORD)
        return NULL;
    struct declaration *known = declarations_look_up(declarations, map, name);
    if (known != NULL && !same_type(known, type)) {
        known->result = DECLARED_UNKNOWN;
        known->word_count = 0;
    }
    if (known != NULL)
        return NULL;
    struct declaration *made = arena_alloc(&declarations->texts, sizeof *made);
    struct declaration **slot = made != NULL ? ARRAY_ADD(&declarations->items) : NULL;
    if (slot == NULL)
        return error_no_memory();
    *made = (struct declaration){.name = *name, .result = (uint8_t)type_result(type)};
    *slot = made;
    TRY(copy_word(declarations, &made->name));
    made->tag = type->pointer || type->tag.size > LONGEST_WORD ? (struct word){0} : type->tag;
    TRY(copy_word(declarations, &made->tag));
    for (unsigned i = 0; i < type->word_count && made->result == DECLARED_UNKNOWN; i++) {
        struct word *word = &made->words[made->word_count];
        *word = type->words[i];
        word->size = word->size > LONGEST_WORD ? LONGEST_WORD : word->size;
        TRY(copy_word(declarations, word));
        made->word_count++;
    }
    return map_put(map, hash_bytes(name->text, name->size),
                   (uint32_t)declarations->items.count - 1);
}

static enum declared_result resolve(const struct declarations *declarations,
                                    const struct declaration *declaration, unsigned steps)
{
    if (declaration->result != DECLARED_UNKNOWN || steps == MOST_STEPS)
        return (enum declared_result)declaration->result;
    for (unsigned i = 0; i < declaration->word_count; i++) {
        const struct word *word = &declaration->words[i];
        enum declared_result result = type_usual(word);
        const struct declaration *type =
            declarations_look_up(declarations, &declarations->types, word);
        bool more = result == DECLARED_TRUTH && type != NULL && type->many;
        if (type != NULL && (result == DECLARED_UNKNOWN || more))
            result = resolve(declarations, type, steps + 1);
        if (result != DECLARED_UNKNOWN || type != NULL)
            return result;
    }
    return DECLARED_UNKNOWN;
}

enum declared_result declarations_find(const struct declarations *declarations, const char *name,
                                       size_t size)
{
    const struct word word = {name, size};
    const struct declaration *found =
        declarations_look_up(declarations, &declarations->functions, &word);
    return found != NULL ? resolve(declarations, found, 0) : DECLARED_UNKNOWN;
}

unsigned declarations_documented(const struct declarations *declarations, const char *name,
                                 size_t size)
{
    const struct word word = {name, size};
    const struct declaration *found =
        declarations_look_up(declarations, &declarations->functions, &word);
    return found != NULL ? found->documented : 0;
}

// The enumeration that is the type of a declaration, or NULL.
static const struct enumeration *enumeration_of(const struct declarations *declarations,
                                                const struct declaration *declaration,
                                                unsigned steps)
{
    if (declaration->enumeration != NULL || steps == MOST_STEPS)
        return declaration->enumeration;
    if (declaration->tag.size != 0) {
        const struct declaration *tag =
            declarations_look_up(declarations, &declarations->tags, &declaration->tag);
        return tag != NULL ? tag->enumeration : NULL;
    }
    for (unsigned i = 0; i < declaration->word_count; i++) {
        const struct declaration *type =
            declarations_look_up(declarations, &declarations->types, &declaration->words[i]);
        if (type != NULL)
            return enumeration_of(declarations, type, steps + 1);
    }
    return NULL;
}

const struct enumeration *declarations_enumeration(const struct declarations *declarations,
                                                   const char *name, size_t size)
{
    const struct word word = {name, size};
    const struct declaration *found =
        declarations_look_up(declarations, &declarations->functions, &word);
    return found != NULL ? enumeration_of(declarations, found, 0) : NULL;
}

// ---- files ----

static struct error *read_file(struct declarations *declarations, const char *path)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(buffer_read_regular(path, MOST_BYTES, &text));
    return declarations_parse(declarations, text.data, text.size);
}

static bool is_header(const char *path)
{
    size_t size = strlen(path);
    return size > 2 && strcmp(path + size - 2, ".h") == 0;
}

static void close_tree(FTS **tree)
{
    if (*tree != NULL)
        fts_close(*tree);
}

struct error *declarations_read(struct declarations *declarations, const char *path)
{
    char *paths[] = {(char *)path, NULL};
    _cleanup_(close_tree) FTS *tree = fts_open(paths, FTS_LOGICAL | FTS_NOCHDIR, NULL);
    if (tree == NULL)
        return error_from_errno(errno, "cannot read %s", path);
    for (;;) {
        errno = 0;
        const FTSENT *entry = fts_read(tree);
        if (entry == NULL)
            return errno == 0 ? NULL : error_from_errno(errno, "cannot read %s", path);
        bool top = entry->fts_level == FTS_ROOTLEVEL;
        if (top && (entry->fts_info == FTS_NS || entry->fts_info == FTS_DNR))
            return error_from_errno(entry->fts_errno, "cannot read %s", path);
        if (entry->fts_info == FTS_F && (top || is_header(entry->fts_path)))
            TRY(read_file(declarations, entry->fts_path));
    }
}
