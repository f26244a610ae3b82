// SPDX-License-Identifier: GPL-3.0-or-later
// Escapes foreign text for HTML, XML, CSV, Markdown, workflow commands and URIs. All of them but
// URIs share next_character(), which makes bad bytes and control characters visible.
#include "report/escape.h"

#include "base/cleanup.h"
#include "base/utf8.h"

#include <string.h>

// Reads the character at `text` and returns its length in *ret_length. If it must not appear as it
// is, appends its bytes as \xNN and sets *ret_done: the caller has nothing left to write.
static struct error *next_character(struct buffer *buffer, const char *text, size_t size,
                                    size_t *ret_length, bool *ret_done)
{
    uint32_t point = 0;
    size_t length = utf8_decode(text, size, &point);
    // XML forbids U+FFFE and U+FFFF, and they mean nothing in any other format.
    bool plain = length != 0 && (point & 0xfffe) != 0xfffe &&
                 (!utf8_is_control(point) || point == '\n' || point == '\t');
    *ret_length = length != 0 ? length : 1;
    *ret_done = !plain;
    for (size_t i = 0; !plain && i < *ret_length; i++)
        TRY(buffer_printf(buffer, "\\x%02x", (unsigned char)text[i]));
    return NULL;
}

static const char *entity(char character, bool attribute)
{
    switch (character) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    case '\n':
        return attribute ? "&#10;" : NULL;
    case '\t':
        return attribute ? "&#9;" : NULL;
    }
    return NULL;
}

static struct error *markup(struct buffer *buffer, const char *text, bool attribute)
{
    size_t size = strlen(text), length;
    for (size_t at = 0; at < size; at += length) {
        bool done;
        TRY(next_character(buffer, text + at, size - at, &length, &done));
        const char *name = done ? NULL : entity(text[at], attribute);
        if (name != NULL)
            TRY(buffer_append(buffer, name, strlen(name)));
        else if (!done)
            TRY(buffer_append(buffer, text + at, length));
    }
    return NULL;
}

struct error *escape_markup(struct buffer *buffer, const char *text)
{
    return markup(buffer, text, false);
}

struct error *escape_attribute(struct buffer *buffer, const char *text)
{
    return markup(buffer, text, true);
}

struct error *escape_csv(struct buffer *buffer, const char *text)
{
    size_t size = strlen(text), length;
    // Spreadsheets strip white space before they look for a formula. They also accept the
    // full-width forms of these characters.
    const char *first = text + strspn(text, " \t\n\r");
    bool formula = (*first != '\0' && strchr("=+-@|%", *first) != NULL) || *text == '\t' ||
                   *text == '\r' || strncmp(first, "\xef\xbc\x8b", 3) == 0 ||
                   strncmp(first, "\xef\xbc\x8d", 3) == 0 ||
                   strncmp(first, "\xef\xbc\x9d", 3) == 0 || strncmp(first, "\xef\xbc\xa0", 3) == 0;
    bool quote = formula || strpbrk(text, "\",;\t\n") != NULL || *text == ' ' ||
                 (size != 0 && text[size - 1] == ' ');
    TRY(buffer_append(buffer, "\"", quote));
    TRY(buffer_append(buffer, "'", formula));
    for (size_t at = 0; at < size; at += length) {
        bool done;
        TRY(next_character(buffer, text + at, size - at, &length, &done));
        if (!done && text[at] == '"')
            TRY(buffer_append(buffer, "\"", 1));
        if (!done)
            TRY(buffer_append(buffer, text + at, length));
    }
    return buffer_append(buffer, "\"", quote);
}

// GitHub turns @name into a mention, and bare addresses into links: a word joiner parts them.
static const char *markdown_form(const char *text)
{
    switch (*text) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '\n':
    case '\t':
        return " ";
    case '@':
        return "@&#8288;";
    case ':':
        return text[1] == '/' ? ":&#8288;" : NULL;
    }
    return NULL;
}

struct error *escape_markdown(struct buffer *buffer, const char *text)
{
    size_t size = strlen(text), length;
    for (size_t at = 0; at < size; at += length) {
        bool done;
        TRY(next_character(buffer, text + at, size - at, &length, &done));
        if (done)
            continue;
        const char *form = markdown_form(text + at);
        if (form != NULL) {
            TRY(buffer_append(buffer, form, strlen(form)));
            continue;
        }
        TRY(buffer_append(buffer, "\\", strchr("\\`*_{}[]()#+-.!|~$", text[at]) != NULL));
        TRY(buffer_append(buffer, text + at, length));
    }
    return NULL;
}

static struct error *workflow(struct buffer *buffer, const char *text, const char *special)
{
    size_t size = strlen(text), length;
    for (size_t at = 0; at < size; at += length) {
        bool done;
        TRY(next_character(buffer, text + at, size - at, &length, &done));
        if (!done && strchr(special, text[at]) != NULL)
            TRY(buffer_printf(buffer, "%%%02X", (unsigned char)text[at]));
        else if (!done)
            TRY(buffer_append(buffer, text + at, length));
    }
    return NULL;
}

struct error *escape_message(struct buffer *buffer, const char *text)
{
    return workflow(buffer, text, "%\n");
}

struct error *escape_property(struct buffer *buffer, const char *text)
{
    return workflow(buffer, text, "%\n:,");
}

struct error *escape_uri(struct buffer *buffer, const char *path)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-._~/+,@!$&()*=";
    for (; *path != '\0'; path++) {
        if (strchr(plain, *path) != NULL)
            TRY(buffer_append(buffer, path, 1));
        else
            TRY(buffer_printf(buffer, "%%%02X", (unsigned char)*path));
    }
    return NULL;
}
