// SPDX-License-Identifier: GPL-3.0-or-later
// Collects, writes, reads and compares facts about a machine.
#include "engines/slurm/node-facts.h"

#include "base/cleanup.h"
#include "base/escape.h"
#include "elf/object.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#define FACTS_MOST   10000u
#define CONTENT_MOST (64u << 20) // bytes of a file that are compared; of larger ones, the size is
#define SHOWN_MOST   200

static const char *const kind_words[FACT_KINDS] = {
    [FACT_KERNEL] = "kernel",   [FACT_SANDBOX] = "sandbox",       [FACT_VERSION] = "ordeal",
    [FACT_PROGRAM] = "program", [FACT_LIBRARY] = "library",       [FACT_DIRECTORY] = "directory",
    [FACT_FILE] = "file",       [FACT_REFERENCES] = "references",
};

void node_facts_deinit(struct node_facts *facts)
{
    for (size_t i = 0; i < facts->items.count; i++) {
        free(facts->items.items[i].name);
        free(facts->items.items[i].value);
    }
    ARRAY_DEINIT(&facts->items);
}

struct error *node_facts_add(struct node_facts *facts, enum fact_kind kind, const char *name,
                             const char *value)
{
    struct fact *fact = ARRAY_ADD(&facts->items);
    if (fact == NULL)
        return error_no_memory();
    *fact = (struct fact){.kind = kind, .name = strdup(name), .value = strdup(value)};
    return fact->name == NULL || fact->value == NULL ? error_no_memory() : NULL;
}

// Adds a digest of a file's content: FNV-1a, which both machines compute alike. "missing" if it
// cannot be read.
static struct error *add_file(struct node_facts *facts, enum fact_kind kind, const char *path)
{
    _cleanup_(buffer_deinit) struct buffer content = {0};
    struct stat status;
    char value[64] = "missing";
    if (stat(path, &status) == 0 && S_ISREG(status.st_mode)) {
        snprintf(value, sizeof value, "%lld bytes", (long long)status.st_size);
        struct error *error = status.st_size <= CONTENT_MOST
                                  ? buffer_read_regular(path, CONTENT_MOST, &content)
                                  : NULL;
        uint64_t digest = 14695981039346656037ull;
        for (size_t i = 0; i < content.size; i++)
            digest = (digest ^ (unsigned char)content.data[i]) * 1099511628211ull;
        if (error == NULL && status.st_size <= CONTENT_MOST)
            snprintf(value, sizeof value, "%016llx", (unsigned long long)digest);
        if (error == error_no_memory())
            return error;
        if (error != NULL)
            snprintf(value, sizeof value, "missing");
        error_free(error);
    }
    return node_facts_add(facts, kind, path, value);
}

// A word of a command as a path; NULL: no memory.
static char *path_of(const struct definition *definition, const char *word)
{
    char *path;
    if (word[0] == '/')
        return strdup(word);
    return asprintf(&path, "%s/%s", definition->directory, word) < 0 ? NULL : path;
}

// Files that a command names as words of their own. Words that are no files say nothing: what is a
// file here and missing there is in one list and not in the other.
static struct error *add_named_files(struct node_facts *facts, const struct definition *definition,
                                     const struct words *command)
{
    for (size_t i = 0; i < command->count; i++) {
        _cleanup_free_ char *path = path_of(definition, command->items[i]);
        struct stat status;
        if (path == NULL)
            return error_no_memory();
        if (stat(path, &status) == 0 && S_ISREG(status.st_mode))
            TRY(add_file(facts, FACT_FILE, path));
    }
    return NULL;
}

static struct error *add_libraries(struct node_facts *facts, const char *program)
{
    struct elf_object *object = NULL;
    _cleanup_(elf_closure_deinit) struct elf_closure closure = {0};
    _cleanup_error_ struct error *broken = elf_object_open_bare(program, &object);
    if (broken != NULL)
        return NULL;
    struct error *error = elf_closure_find(object, &closure);
    for (size_t i = 0; i < closure.count && error == NULL; i++)
        error = add_file(facts, FACT_LIBRARY, closure.paths[i]);
    for (size_t i = 0; i < closure.missing_count && error == NULL; i++)
        error = node_facts_add(facts, FACT_LIBRARY, closure.missing[i], "missing");
    elf_object_close(object);
    return error;
}

static struct error *add_program(struct node_facts *facts, const struct definition *definition)
{
    _cleanup_(elf_program_deinit) struct elf_program program = {0};
    const char *word = definition->command.count != 0 ? definition->command.items[0] : "";
    _cleanup_free_ char *path =
        strchr(word, '/') != NULL ? path_of(definition, word) : strdup(word);
    if (path == NULL)
        return error_no_memory();
    _cleanup_error_ struct error *missing = elf_find_program(path, &program);
    if (missing == error_no_memory())
        return TAKE(missing);
    if (missing != NULL)
        return node_facts_add(facts, FACT_PROGRAM, word, "missing");
    TRY(add_file(facts, FACT_PROGRAM, program.path));
    return add_libraries(facts, program.path);
}

struct error *node_facts_collect(struct node_facts *facts, const struct definition *definition)
{
    struct utsname name;
    struct stat status;
    if (uname(&name) < 0)
        return error_from_errno(errno, "uname failed");
    TRY(node_facts_add(facts, FACT_KERNEL, "", name.release));
    TRY(add_file(facts, FACT_VERSION, "/proc/self/exe"));
    bool there = stat(definition->directory, &status) == 0 && S_ISDIR(status.st_mode);
    TRY(node_facts_add(facts, FACT_DIRECTORY, definition->directory, there ? "there" : "missing"));
    TRY(add_program(facts, definition));
    const struct words *const commands[] = {&definition->command,       &definition->setup,
                                            &definition->pretest,       &definition->posttest,
                                            &definition->teardown,      &definition->service.load,
                                            &definition->oracle.command};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        TRY(add_named_files(facts, definition, commands[i]));
    if (definition->input == NULL)
        return NULL;
    _cleanup_free_ char *input = path_of(definition, definition->input);
    return input == NULL ? error_no_memory() : add_file(facts, FACT_FILE, input);
}

const char *node_facts_value(const struct node_facts *facts, enum fact_kind kind)
{
    for (size_t i = 0; i < facts->items.count; i++)
        if (facts->items.items[i].kind == kind)
            return facts->items.items[i].value;
    return NULL;
}

static struct error *put_column(struct buffer *text, const char *column)
{
    for (; *column != '\0'; column++)
        TRY(buffer_append(text, *column == '\t' || *column == '\n' ? " " : column, 1));
    return NULL;
}

struct error *node_facts_put(struct buffer *text, const struct node_facts *facts)
{
    for (size_t i = 0; i < facts->items.count; i++) {
        const struct fact *fact = &facts->items.items[i];
        TRY(buffer_printf(text, "%s\t", kind_words[fact->kind]));
        TRY(put_column(text, fact->name));
        TRY(buffer_append(text, "\t", 1));
        TRY(put_column(text, fact->value));
        TRY(buffer_append(text, "\n", 1));
    }
    return NULL;
}

static struct error *damaged(void)
{
    return error_new("the shared directory has a damaged file about a node");
}

static const struct fact *find(const struct node_facts *facts, enum fact_kind kind,
                               const char *name)
{
    for (size_t i = 0; i < facts->items.count; i++)
        if (facts->items.items[i].kind == kind && strcmp(facts->items.items[i].name, name) == 0)
            return &facts->items.items[i];
    return NULL;
}

static struct error *get_line(const char *line, size_t size, struct node_facts *facts)
{
    const char *name = memchr(line, '\t', size);
    size_t word = name != NULL ? (size_t)(name - line) : 0;
    const char *value = name != NULL ? memchr(name + 1, '\t', size - word - 1) : NULL;
    int kind = 0;
    while (kind < FACT_KINDS &&
           (strlen(kind_words[kind]) != word || memcmp(kind_words[kind], line, word) != 0))
        kind++;
    if (value == NULL || kind == FACT_KINDS || memchr(line, '\0', size) != NULL ||
        facts->items.count == FACTS_MOST)
        return damaged();
    _cleanup_free_ char *name_copy = strndup(name + 1, (size_t)(value - name - 1));
    _cleanup_free_ char *value_copy = strndup(value + 1, size - (size_t)(value + 1 - line));
    if (name_copy == NULL || value_copy == NULL)
        return error_no_memory();
    // A node says one thing about each.
    const struct fact *before = find(facts, (enum fact_kind)kind, name_copy);
    if (before != NULL)
        return strcmp(before->value, value_copy) == 0 ? NULL : damaged();
    return node_facts_add(facts, (enum fact_kind)kind, name_copy, value_copy);
}

struct error *node_facts_get(const struct buffer *text, struct node_facts *ret_facts)
{
    _cleanup_(node_facts_deinit) struct node_facts facts = {0};
    for (size_t at = 0; at < text->size;) {
        const char *line = text->data + at, *end = memchr(line, '\n', text->size - at);
        if (end == NULL)
            return damaged();
        TRY(get_line(line, (size_t)(end - line), &facts));
        at += (size_t)(end - line) + 1;
    }
    *ret_facts = facts;
    facts = (struct node_facts){0};
    return NULL;
}

static struct error *put_shown(struct buffer *text, const char *value)
{
    return escape_put(text, value, strlen(value), SHOWN_MOST, '\0');
}

// How a fact that must be the same differs. NULL in the buffer: it does not.
static struct error *put_difference(struct buffer *text, const struct fact *ours,
                                    const struct fact *theirs)
{
    const char *value = theirs != NULL ? theirs->value : "missing";
    if (strcmp(ours->value, value) == 0)
        return NULL;
    switch (ours->kind) {
    case FACT_SANDBOX:
        TRY(buffer_printf(text, "its sandbox is "));
        TRY(put_shown(text, value));
        return buffer_printf(text, ", and here it is %s", ours->value);
    case FACT_VERSION:
        return buffer_printf(text, "it has another build of Ordeal");
    case FACT_REFERENCES:
        TRY(buffer_printf(text, "the workload without faults is not what it is here: "));
        return put_shown(text, value);
    default:
        return buffer_printf(text, "%s %s %s", kind_words[ours->kind], ours->name,
                             strcmp(value, "missing") == 0 ? "is missing" : "differs");
    }
}

struct error *node_facts_compare(const struct node_facts *ours, const struct node_facts *theirs,
                                 char **ret_why)
{
    _cleanup_(buffer_deinit) struct buffer why = {0};
    *ret_why = NULL;
    for (size_t i = 0; i < ours->items.count && why.size == 0; i++) {
        const struct fact *fact = &ours->items.items[i];
        if (fact->kind != FACT_KERNEL)
            TRY(put_difference(&why, fact, find(theirs, fact->kind, fact->name)));
    }
    if (why.size != 0)
        *ret_why = TAKE(why.data);
    return NULL;
}

// "same", "differs", "12 same", "1 of 12 differs": how the facts of a kind compare.
static struct error *put_comparison(char *column, size_t size, enum fact_kind kind,
                                    const struct node_facts *ours, const struct node_facts *theirs)
{
    unsigned count = 0, other = 0;
    for (size_t i = 0; i < ours->items.count; i++) {
        const struct fact *fact = &ours->items.items[i];
        if (fact->kind != kind)
            continue;
        const struct fact *there = find(theirs, kind, fact->name);
        count++;
        other += there == NULL || strcmp(there->value, fact->value) != 0;
    }
    if (count <= 1)
        snprintf(column, size, "%s", count == 0 ? "-" : other == 0 ? "same" : "differs");
    else if (other == 0)
        snprintf(column, size, "%u same", count);
    else
        snprintf(column, size, "%u of %u differ", other, count);
    return NULL;
}

struct error *node_facts_put_headline(struct buffer *text)
{
    return buffer_printf(text, "%-16s %-24s %-9s %-8s %-8s %-14s %-13s %s\n", "node", "kernel",
                         "sandbox", "Ordeal", "program", "libraries", "files", "references");
}

struct error *node_facts_put_line(struct buffer *text, const char *node,
                                  const struct node_facts *ours, const struct node_facts *theirs)
{
    static const enum fact_kind shown[] = {FACT_VERSION, FACT_PROGRAM, FACT_LIBRARY, FACT_FILE,
                                           FACT_REFERENCES};
    char columns[5][32];
    _cleanup_(buffer_deinit) struct buffer kernel = {0}, sandbox = {0};
    const char *release = node_facts_value(theirs, FACT_KERNEL),
               *kind = node_facts_value(theirs, FACT_SANDBOX);
    TRY(put_shown(&kernel, release != NULL ? release : "-"));
    TRY(put_shown(&sandbox, kind != NULL ? kind : "-"));
    for (size_t i = 0; i < 5; i++)
        TRY(put_comparison(columns[i], sizeof columns[i], shown[i], ours, theirs));
    return buffer_printf(text, "%-16s %-24s %-9s %-8s %-8s %-14s %-13s %s\n", node, kernel.data,
                         sandbox.data, columns[0], columns[1], columns[2], columns[3], columns[4]);
}
