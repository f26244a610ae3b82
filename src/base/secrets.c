// SPDX-License-Identifier: GPL-3.0-or-later
// Keeps the known secrets, longest first, so that of two that begin at the same place the longer
// one is found.
#include "base/secrets.h"

#include "base/cleanup.h"
#include "base/shell.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MARKED_LEAST  4    // bytes of a value that is masked
#define GUESSED_LEAST 8    // likewise, if only its name looks secret: "publickey" is a word, too
#define PART_LEAST    4    // bytes at the beginning of a secret that count as a part of it
#define MOST          1000 // secrets; a file of unknown origin may name any number
#define NAME_MOST     200  // bytes of a name
#define OPENING       "<secret:"

struct secret {
    char *name;
    unsigned line; // of a value with several; 0: the whole
    char *value;
    size_t size;
    bool masked;
    unsigned learned; // which was learned later
};

static ARRAY(struct secret) known;
static unsigned learned;
static bool is_first[256]; // bytes that a secret begins with

static bool is_word(const char *word, const char *name, size_t size)
{
    return strlen(word) == size && strncasecmp(word, name, size) == 0;
}

bool variable_is_public(const char *name, size_t size)
{
    static const char *const names[] = {"PATH", "HOME", "PWD", "TZ", "LANG", "LANGUAGE"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == size && memcmp(names[i], name, size) == 0)
            return true;
    return size > 3 && memcmp(name, "LC_", 3) == 0;
}

static bool has_part(const char *name, size_t size, const char *part)
{
    size_t length = strlen(part);
    for (size_t i = 0; i + length <= size; i++)
        if (strncasecmp(name + i, part, length) == 0)
            return true;
    return false;
}

bool variable_looks_secret(const char *name, size_t size)
{
    // Anywhere in the name.
    static const char *const parts[] = {"TOKEN",  "SECRET",     "PASSWORD",
                                        "PASSWD", "PASSPHRASE", "CREDENTIAL",
                                        "APIKEY", "ACCESSKEY",  "PRIVATEKEY"};
    // Only as a word between underscores: KEYBOARD, AUTHOR and COMPASS are none.
    static const char *const words[] = {"KEY", "KEYS", "AUTH", "AUTHORIZATION", "PASS",  "PAT",
                                        "PIN", "JWT",  "DSN",  "BEARER",        "COOKIE"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (has_part(name, size, parts[i]))
            return true;
    for (size_t at = 0, end; at < size; at = end + 1) {
        const char *underscore = memchr(name + at, '_', size - at);
        end = underscore != NULL ? (size_t)(underscore - name) : size;
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            if (is_word(words[i], name + at, end - at))
                return true;
        if (at != 0 && is_word("PWD", name + at, end - at)) // MYSQL_PWD
            return true;
    }
    return false;
}

bool variable_is_marked(const struct words *marks, const char *name, size_t size)
{
    char copy[NAME_MOST + 1];
    if (marks == NULL || size > NAME_MOST)
        return false;
    memcpy(copy, name, size);
    copy[size] = '\0';
    for (size_t i = 0; i < marks->count; i++)
        if (fnmatch(marks->items[i], copy, 0) == 0)
            return true;
    return false;
}

static bool has_word(const struct words *words, const char *name, size_t size)
{
    for (size_t i = 0; words != NULL && i < words->count; i++)
        if (strlen(words->items[i]) == size && memcmp(words->items[i], name, size) == 0)
            return true;
    return false;
}

// Only names that a shell knows: what stands for a value must be readable back.
static bool is_name(const char *name, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (!isalnum((unsigned char)name[i]) && name[i] != '_')
            return false;
    return size != 0 && size <= NAME_MOST && !isdigit((unsigned char)name[0]);
}

// "postgres://user:password@host/".
static bool has_password(const char *value)
{
    const char *place = strstr(value, "://");
    if (place == NULL)
        return false;
    place += 3;
    size_t host = strcspn(place, "@/");
    const char *colon = memchr(place, ':', host);
    return place[host] == '@' && colon != NULL && colon + 1 < place + host;
}

static int by_size(const void *a, const void *b)
{
    const struct secret *first = a, *second = b;
    if (first->size != second->size)
        return first->size < second->size ? 1 : -1;
    int order = memcmp(first->value, second->value, first->size);
    if (order == 0)
        order = strcmp(first->name, second->name);
    return order != 0 ? order : (first->line > second->line) - (first->line < second->line);
}

// The same variable may have several values, for instance in several campaigns of a store.
static struct error *add(const char *name, size_t name_size, unsigned line, const char *value,
                         size_t size, bool masked)
{
    for (size_t i = 0; i < known.count; i++) {
        struct secret *other = &known.items[i];
        if (strlen(other->name) == name_size && memcmp(other->name, name, name_size) == 0 &&
            other->line == line && other->size == size && memcmp(other->value, value, size) == 0) {
            other->learned = ++learned;
            other->masked |= masked;
            is_first[(unsigned char)value[0]] |= masked;
            return NULL;
        }
    }
    if (known.count >= MOST)
        return NULL;
    _cleanup_free_ char *copy = strndup(name, name_size), *bytes = strndup(value, size);
    struct secret *secret = copy != NULL && bytes != NULL ? ARRAY_ADD(&known) : NULL;
    if (secret == NULL)
        return error_no_memory();
    *secret = (struct secret){TAKE(copy), line, TAKE(bytes), size, masked, ++learned};
    is_first[(unsigned char)value[0]] |= masked;
    return NULL;
}

// A value with several lines is often printed, and always compared, line by line.
static struct error *add_lines(const char *name, size_t name_size, const char *value, size_t least)
{
    unsigned number = 1;
    for (const char *line = value; strchr(value, '\n') != NULL; number++) {
        size_t size = strcspn(line, "\n");
        if (size >= least)
            TRY(add(name, name_size, number, line, size, true));
        if (line[size] == '\0')
            break;
        line += size + 1;
    }
    return NULL;
}

static struct error *learn(const char *variable, const struct words *marks,
                           const struct words *kept)
{
    size_t size = strcspn(variable, "=");
    if (variable[size] == '\0' || !is_name(variable, size))
        return NULL;
    const char *value = variable + size + 1;
    bool marked = variable_is_marked(marks, variable, size);
    size_t least = marked ? MARKED_LEAST : GUESSED_LEAST;
    if (!marked && (variable_is_public(variable, size) || has_word(kept, variable, size) ||
                    (!variable_looks_secret(variable, size) && !has_password(value))))
        return NULL;
    // A value that is the variable's own name, or a part of it, is a placeholder already.
    bool masked = strlen(value) >= least && memmem(variable, size, value, strlen(value)) == NULL &&
                  (marked || value[0] != '/' || access(value, F_OK) < 0);
    if (*value == '\0')
        return NULL;
    TRY(add(variable, size, 0, value, strlen(value), masked));
    return masked ? add_lines(variable, size, value, least) : NULL;
}

struct error *secrets_learn(char *const *variables, const struct words *marks,
                            const struct words *kept)
{
    for (; variables != NULL && *variables != NULL; variables++)
        TRY(learn(*variables, marks, kept));
    if (known.count != 0)
        qsort(known.items, known.count, sizeof *known.items, by_size);
    return NULL;
}

void secrets_forget(void)
{
    for (size_t i = 0; i < known.count; i++) {
        free(known.items[i].name);
        free(known.items[i].value);
    }
    ARRAY_DEINIT(&known);
    learned = 0;
    memset(is_first, 0, sizeof is_first);
}

bool secrets_any(void)
{
    return known.count != 0;
}

bool secrets_has(const char *name, size_t size)
{
    for (size_t i = 0; i < known.count; i++)
        if (strlen(known.items[i].name) == size && memcmp(known.items[i].name, name, size) == 0)
            return true;
    return false;
}

// Reads "<secret:NAME>" or "<secret:NAME:2>"; returns its size, or 0 if it is something else.
static size_t read_placeholder(const char *bytes, size_t size, size_t *ret_name, unsigned *ret_line)
{
    size_t at = strlen(OPENING), name = 0;
    unsigned line = 0;
    if (size <= at || memcmp(bytes, OPENING, at) != 0)
        return 0;
    while (at + name < size && bytes[at + name] != '>' && bytes[at + name] != ':')
        name++;
    if (!is_name(bytes + at, name))
        return 0;
    *ret_name = name;
    at += name;
    if (at < size && bytes[at] == ':')
        for (at++; at < size && isdigit((unsigned char)bytes[at]) && line < 100000; at++)
            line = line * 10 + (unsigned)(bytes[at] - '0');
    *ret_line = line;
    return at < size && bytes[at] == '>' ? at + 1 : 0;
}

static const struct secret *find_at(const char *bytes, size_t size)
{
    for (size_t i = 0; i < known.count; i++) {
        const struct secret *secret = &known.items[i];
        if (secret->masked && secret->size <= size &&
            memcmp(secret->value, bytes, secret->size) == 0)
            return secret;
    }
    return NULL;
}

// The next secret in the bytes, or NULL; *ret_before is how many bytes come before it. What stands
// for a secret already is left alone.
static const struct secret *find(const char *bytes, size_t size, size_t *ret_before)
{
    for (size_t i = 0; known.count != 0 && i < size; i++) {
        size_t name, placeholder = 0;
        unsigned line;
        if (bytes[i] == OPENING[0])
            placeholder = read_placeholder(bytes + i, size - i, &name, &line);
        const struct secret *secret = placeholder == 0 && is_first[(unsigned char)bytes[i]]
                                          ? find_at(bytes + i, size - i)
                                          : NULL;
        i += placeholder != 0 ? placeholder - 1 : 0;
        if (secret != NULL) {
            *ret_before = i;
            return secret;
        }
    }
    *ret_before = size;
    return NULL;
}

static struct error *put_placeholder(struct buffer *buffer, const struct secret *secret)
{
    TRY(buffer_printf(buffer, OPENING "%s", secret->name));
    return secret->line != 0 ? buffer_printf(buffer, ":%u>", secret->line)
                             : buffer_append(buffer, ">", 1);
}

struct error *secrets_put(struct buffer *buffer, const char *bytes, size_t size)
{
    for (;;) {
        size_t before;
        const struct secret *secret = find(bytes, size, &before);
        TRY(buffer_append(buffer, bytes, before));
        if (secret == NULL)
            return NULL;
        TRY(put_placeholder(buffer, secret));
        bytes += before + secret->size;
        size -= before + secret->size;
    }
}

void secrets_blank(char *bytes, size_t size)
{
    size_t before;
    for (const struct secret *secret; (secret = find(bytes, size, &before)) != NULL;) {
        memset(bytes + before, '*', secret->size);
        bytes += before + secret->size;
        size -= before + secret->size;
    }
}

static struct error *replace(char **text,
                             struct error *(*put)(struct buffer *, const char *, size_t))
{
    _cleanup_(buffer_deinit) struct buffer made = {0};
    TRY(put(&made, *text, strlen(*text)));
    TRY(buffer_append(&made, "", 0));
    free(*text);
    *text = TAKE(made.data);
    return NULL;
}

struct error *secrets_mask(char **text)
{
    size_t before;
    if (*text == NULL || find(*text, strlen(*text), &before) == NULL)
        return NULL;
    return replace(text, secrets_put);
}

size_t secrets_whole(const char *bytes, size_t size)
{
    size_t whole = size;
    for (size_t i = 0; i < known.count; i++) {
        const struct secret *secret = &known.items[i];
        for (size_t part = secret->size - 1; secret->masked && part >= PART_LEAST; part--)
            if (part <= size && memcmp(bytes + size - part, secret->value, part) == 0) {
                whole = size - part < whole ? size - part : whole;
                break;
            }
    }
    return whole;
}

// What was learned last: the definition that is about to run.
static const char *value_of(const char *name, size_t size)
{
    char copy[NAME_MOST + 1];
    const struct secret *found = NULL;
    for (size_t i = 0; i < known.count; i++) {
        const struct secret *secret = &known.items[i];
        if (secret->line == 0 && strlen(secret->name) == size &&
            memcmp(secret->name, name, size) == 0 &&
            (found == NULL || secret->learned > found->learned))
            found = secret;
    }
    if (found != NULL)
        return found->value;
    memcpy(copy, name, size);
    copy[size] = '\0';
    return getenv(copy);
}

static struct error *put_value(struct buffer *buffer, const char *name, size_t size, unsigned line)
{
    const char *value = value_of(name, size);
    if (value == NULL)
        return error_new("the value of %.*s is needed and, being a secret, is not in the store: "
                         "set %.*s in the environment",
                         (int)size, name, (int)size, name);
    for (; line > 1 && *value != '\0'; line--)
        value += strcspn(value, "\n") + (value[strcspn(value, "\n")] == '\n');
    return buffer_append(buffer, value, line != 0 ? strcspn(value, "\n") : strlen(value));
}

struct error *secrets_put_restored(struct buffer *buffer, const char *bytes, size_t size)
{
    for (size_t at = 0; at < size;) {
        const char *next = memmem(bytes + at, size - at, OPENING, strlen(OPENING));
        size_t before = next != NULL ? (size_t)(next - bytes) - at : size - at, name = 0;
        unsigned line = 0;
        TRY(buffer_append(buffer, bytes + at, before));
        at += before;
        if (next == NULL)
            break;
        size_t length = read_placeholder(bytes + at, size - at, &name, &line);
        if (length == 0)
            TRY(buffer_append(buffer, bytes + at++, 1));
        else
            TRY(put_value(buffer, bytes + at + strlen(OPENING), name, line));
        at += length;
    }
    return NULL;
}

struct error *secrets_restore(char **text)
{
    if (*text == NULL || strstr(*text, OPENING) == NULL)
        return NULL;
    return replace(text, secrets_put_restored);
}

static struct error *put_shell_part(struct buffer *text, const char *part, size_t size)
{
    _cleanup_free_ char *copy = strndup(part, size);
    if (copy == NULL)
        return error_no_memory();
    return size != 0 ? shell_put_word(text, copy) : NULL;
}

// Masks first, so that there is one kind of thing to look for. A line of a value has no name for a
// shell and stays what it is.
struct error *secrets_put_shell_word(struct buffer *text, const char *word)
{
    _cleanup_(buffer_deinit) struct buffer masked = {0};
    TRY(secrets_put(&masked, word, strlen(word)));
    size_t done = 0, name, length;
    unsigned line;
    for (size_t at = 0; at < masked.size; at += length) {
        length = read_placeholder(masked.data + at, masked.size - at, &name, &line);
        if (length == 0 || line != 0) {
            length = length != 0 ? length : 1;
            continue;
        }
        TRY(put_shell_part(text, masked.data + done, at - done));
        TRY(buffer_printf(text, "\"$%.*s\"", (int)name, masked.data + at + strlen(OPENING)));
        done = at + length;
    }
    return done == 0 ? shell_put_word(text, masked.data != NULL ? masked.data : "")
                     : put_shell_part(text, masked.data + done, masked.size - done);
}
