// SPDX-License-Identifier: GPL-3.0-or-later
// Finds reports of sanitizers and valgrind in a text. Sanitizers end a report with a SUMMARY line
// that has all we want, with two exceptions: the summary of leaks only counts bytes, and undefined
// behaviour has a line of its own and often no summary. Valgrind names kind and place in the report
// itself. Its count of errors at the end says whether the reports count.
#include "oracle/sanitizer-report.h"

#include "base/cleanup.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define MOST_LINES 20
#define MOST_BYTES 200 // of one line

struct span {
    const char *at;
    size_t size;
};

static struct span span_after(struct span line, const char *word)
{
    size_t size = strlen(word);
    const char *found = line.size != 0 ? memmem(line.at, line.size, word, size) : NULL;
    if (found == NULL)
        return (struct span){0};
    return (struct span){found + size, line.size - (size_t)(found + size - line.at)};
}

static bool span_starts(struct span span, const char *word)
{
    size_t size = strlen(word);
    return span.size >= size && memcmp(span.at, word, size) == 0;
}

static bool span_has(struct span span, const char *word)
{
    return memmem(span.at, span.size, word, strlen(word)) != NULL;
}

static struct span span_until(struct span span, const char *word)
{
    const char *found = memmem(span.at, span.size, word, strlen(word));
    return found == NULL ? span : (struct span){span.at, (size_t)(found - span.at)};
}

// Appends the text without addresses. Offsets in modules ("+0x12") stay: they do not vary.
static struct error *put_clean(struct buffer *out, struct span text)
{
    for (size_t i = 0; i < text.size; i++) {
        bool address = i + 2 < text.size && text.at[i] == '0' && text.at[i + 1] == 'x' &&
                       isxdigit((unsigned char)text.at[i + 2]) && (i == 0 || text.at[i - 1] != '+');
        if (!address) {
            TRY(buffer_append(out, iscntrl((unsigned char)text.at[i]) ? " " : text.at + i, 1));
            continue;
        }
        TRY(buffer_append(out, "0x..", 4));
        for (i += 2; i + 1 < text.size && isxdigit((unsigned char)text.at[i + 1]); i++)
            ;
    }
    return NULL;
}

static bool list_has(const struct buffer *list, const struct buffer *line)
{
    for (size_t at = 0; at < list->size;) {
        const char *end = memchr(list->data + at, '\n', list->size - at);
        size_t size = end != NULL ? (size_t)(end - list->data) - at : list->size - at;
        if (size == line->size && memcmp(list->data + at, line->data, size) == 0)
            return true;
        at += size + 1;
    }
    return false;
}

static size_t list_count(const struct buffer *list)
{
    size_t count = 0;
    for (size_t i = 0; i < list->size; i++)
        count += list->data[i] == '\n';
    return count;
}

// "WHO: WHAT[LINK][WHERE]"
static struct error *list_add(struct buffer *list, struct span who, struct span what,
                              const char *link, struct span where)
{
    _cleanup_(buffer_deinit) struct buffer line = {0};
    TRY(buffer_append(&line, who.at, who.size));
    TRY(buffer_append(&line, ": ", 2));
    TRY(put_clean(&line, what));
    if (where.size != 0) {
        TRY(buffer_append(&line, link, strlen(link)));
        TRY(put_clean(&line, where));
    }
    if (line.size > MOST_BYTES)
        line.size = MOST_BYTES;
    while (line.size > 0 && isspace((unsigned char)line.data[line.size - 1]))
        line.size--;
    if (list_has(list, &line) || list_count(list) >= MOST_LINES)
        return NULL;
    TRY(buffer_append(list, line.data, line.size));
    return buffer_append(list, "\n", 1);
}

#define TEXT(word) ((struct span){word, sizeof word - 1})

struct scan {
    struct buffer *list;
    // Sanitizers.
    bool undefined;                    // undefined behaviour was reported in a line of its own
    bool leak;                         // within the report of a leak
    struct span leak_frame;            // the function that allocated the first leak
    struct span error_who, error_what; // of "ERROR: WHO: WHAT", no summary so far
    // Valgrind.
    struct span kind; // the last line that may name the kind of an error
    bool counted;     // there was a count of errors
    bool reported;
    struct buffer valgrind; // its reports, to be taken if they count
};

// "AddressSanitizer" of "AddressSanitizer: ..."; empty if the text does not begin so.
static struct span sanitizer_name(struct span text)
{
    const char *found = memmem(text.at, text.size, "Sanitizer: ", 11);
    if (found == NULL || memchr(text.at, ' ', (size_t)(found - text.at)) != NULL)
        return (struct span){0};
    return (struct span){text.at, (size_t)(found - text.at) + 9};
}

static bool allocates(struct span function)
{
    static const char *const names[] = {"malloc",   "calloc",         "realloc", "reallocarray",
                                        "memalign", "posix_memalign", "strdup",  "strndup",
                                        "operator", "aligned_alloc"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t size = strlen(names[i]);
        if (span_starts(function, names[i]) &&
            (function.size == size || !isalnum((unsigned char)function.at[size])))
            return true;
    }
    return span_starts(function, "__interceptor_");
}

static struct error *scan_summary(struct scan *scan, struct span text)
{
    struct span who = sanitizer_name(text);
    if (who.size == 0)
        return NULL;
    struct span what = span_after(text, "Sanitizer: ");
    scan->error_who = (struct span){0};
    if (span_has(what, "leaked in"))
        return list_add(scan->list, who, TEXT("memory leak"), " in ", scan->leak_frame);
    if (scan->undefined && span_starts(who, "UndefinedBehavior"))
        return NULL;
    return list_add(scan->list, who, what, "", (struct span){0});
}

// "FILE:LINE:COLUMN: runtime error: WHAT". Run-time errors of other languages have no such place in
// front.
static struct error *scan_undefined(struct scan *scan, struct span line)
{
    struct span place = span_until(line, ": runtime error: ");
    struct span what = span_after(line, ": runtime error: ");
    size_t at = place.size, numbers = 0;
    while (numbers < 2) {
        size_t end = at;
        while (at > 0 && isdigit((unsigned char)place.at[at - 1]))
            at--;
        if (at == end || at == 0 || place.at[at - 1] != ':')
            return NULL;
        at--;
        numbers++;
    }
    scan->undefined = true;
    return list_add(scan->list, TEXT("UndefinedBehaviorSanitizer"), what, " at ", place);
}

static struct error *scan_sanitizers(struct scan *scan, struct span line)
{
    if (span_starts(line, "SUMMARY: "))
        return scan_summary(scan, (struct span){line.at + 9, line.size - 9});
    if (span_has(line, ": runtime error: "))
        return scan_undefined(scan, line);
    struct span error = span_after(line, "ERROR: ");
    struct span who = error.size != 0 ? sanitizer_name(error) : (struct span){0};
    if (who.size != 0 && scan->error_who.size == 0) {
        scan->error_who = who;
        scan->error_what = span_until(span_after(error, "Sanitizer: "), " (");
    }
    if (span_starts(line, "Direct leak of ") || span_starts(line, "Indirect leak of "))
        scan->leak = scan->leak_frame.size == 0;
    else if (line.size == 0)
        scan->leak = false;
    struct span frame = span_starts(line, "    #") ? span_after(line, " in ") : (struct span){0};
    if (scan->leak && frame.size != 0 && !allocates(frame)) {
        scan->leak_frame = frame;
        scan->leak = false;
    }
    return NULL;
}

// The text after "==PID== "; empty if the line does not begin so.
static struct span valgrind_text(struct span line)
{
    size_t at = 2;
    if (!span_starts(line, "=="))
        return (struct span){0};
    while (at < line.size && isdigit((unsigned char)line.at[at]))
        at++;
    struct span rest = {line.at + at, line.size - at};
    if (at == 2 || !span_starts(rest, "== "))
        return (struct span){0};
    return (struct span){rest.at + 3, rest.size - 3};
}

static struct span valgrind_kind(struct span kind)
{
    if (span_has(kind, "definitely lost"))
        return TEXT("memory definitely lost");
    if (span_has(kind, "possibly lost"))
        return TEXT("memory possibly lost");
    if (span_has(kind, "indirectly lost"))
        return TEXT("memory indirectly lost");
    return kind;
}

static struct error *scan_valgrind(struct scan *scan, struct span text)
{
    struct span count = span_after(text, "ERROR SUMMARY: ");
    if (count.size != 0) {
        scan->counted = true;
        scan->reported |= !span_starts(count, "0 errors");
        return NULL;
    }
    if (text.at[0] != ' ') {
        scan->kind = text;
        return NULL;
    }
    struct span frame = span_after(text, "   at 0x");
    if (frame.size == 0)
        frame = span_after(text, "   by 0x");
    frame = span_after(frame, ": ");
    if (frame.size == 0 || scan->kind.size == 0 || allocates(frame))
        return NULL;
    struct span kind = valgrind_kind(scan->kind);
    scan->kind = (struct span){0};
    if (span_has(kind, "still reachable"))
        return NULL;
    return list_add(&scan->valgrind, TEXT("valgrind"), kind, " in ", frame);
}

static struct error *finish(struct scan *scan)
{
    if (scan->error_who.size != 0)
        TRY(list_add(scan->list, scan->error_who, scan->error_what, "", (struct span){0}));
    bool killed = scan->valgrind.size != 0 &&
                  strstr(scan->valgrind.data, "Process terminating with default action") != NULL;
    if (scan->counted && !scan->reported && !killed)
        return NULL;
    if (scan->reported && scan->valgrind.size == 0)
        return list_add(scan->list, TEXT("valgrind"), TEXT("errors"), "", (struct span){0});
    for (size_t at = 0; at < scan->valgrind.size;) {
        struct span line = {scan->valgrind.data + at, 0};
        line.size = strcspn(line.at, "\n");
        at += line.size + 1;
        line = (struct span){line.at + 10, line.size - 10}; // "valgrind: "
        TRY(list_add(scan->list, TEXT("valgrind"), line, "", (struct span){0}));
    }
    return NULL;
}

static struct error *scan_line(struct scan *scan, struct span line)
{
    struct span text = valgrind_text(line);
    if (text.size != 0 && !span_starts(text, "ERROR: "))
        TRY(scan_valgrind(scan, text));
    return scan_sanitizers(scan, line);
}

static void scan_deinit(struct scan *scan)
{
    buffer_deinit(&scan->valgrind);
}

struct error *sanitizer_report_scan(const char *text, size_t size, struct buffer *list)
{
    _cleanup_(scan_deinit) struct scan scan = {.list = list};
    if (size == 0)
        return NULL;
    // Most outputs have no report: look for its signs first.
    struct span all = {text, size};
    if (!span_has(all, "Sanitizer: ") && !span_has(all, ": runtime error: ") &&
        !span_has(all, "== "))
        return NULL;
    for (size_t at = 0; at < size;) {
        const char *newline = memchr(text + at, '\n', size - at);
        size_t length = newline != NULL ? (size_t)(newline - text) - at : size - at;
        struct span line = {text + at, length};
        at += length + 1;
        if (line.size > 0 && line.at[line.size - 1] == '\r')
            line.size--;
        TRY(scan_line(&scan, line));
    }
    return finish(&scan);
}
