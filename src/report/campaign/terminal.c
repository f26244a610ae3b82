// SPDX-License-Identifier: GPL-3.0-or-later
// The building blocks of terminal reports: colours, headings, wrapped text and commands, shares and
// test results.
#include "report/campaign/terminal.h"

#include "report/text.h"

#include <string.h>

struct error *terminal_paint(struct terminal *terminal, enum terminal_colour colour)
{
    static const char *const codes[] = {"\33[0m",    "\33[1m",    "\33[2m",
                                        "\33[1;31m", "\33[1;32m", "\33[1;33m"};
    if (!terminal->colour)
        return NULL;
    return buffer_append(terminal->text, codes[colour], strlen(codes[colour]));
}

struct error *terminal_heading(struct terminal *terminal, const char *text)
{
    PUT(terminal, "\n");
    TRY(terminal_paint(terminal, TERMINAL_BOLD));
    TRY(text_put_fit(terminal->text, text, TERMINAL_WIDTH, NULL));
    TRY(terminal_paint(terminal, TERMINAL_PLAIN));
    PUT(terminal, "\n");
    return NULL;
}

struct error *terminal_end_line(struct terminal *terminal)
{
    struct buffer *text = terminal->text;
    while (text->size != 0 && text->data[text->size - 1] == ' ')
        text->size--;
    return buffer_append(text, "\n", 1);
}

enum terminal_colour terminal_verdict(enum verdict verdict)
{
    if (!verdict_facts[verdict].counts)
        return TERMINAL_DIM;
    if (verdict_facts[verdict].failure)
        return TERMINAL_RED;
    return verdict == VERDICT_PASS ? TERMINAL_GREEN : TERMINAL_PLAIN;
}

// Writes a word in the columns that are left. If it is too long and may be a path, keeps its end,
// and the parenthesis or quote before it.
static struct error *put_word(struct buffer *text, const char *word, size_t columns,
                              size_t *ret_used)
{
    _cleanup_(buffer_deinit) struct buffer whole = {0}, shown = {0};
    size_t opening = strspn(word, "('\"");
    TRY(text_put_fit(&whole, word, columns, ret_used));
    if (strcmp(whole.data, word) == 0 || strchr(word, '/') == NULL)
        return buffer_append(text, whole.data, whole.size);
    TRY(buffer_append(&shown, word, opening));
    TRY(text_put_path(&shown, word + opening, columns - opening));
    return text_put_fit(text, shown.data, columns, ret_used);
}

struct error *terminal_shorten(const char *words, struct buffer *text)
{
    const size_t longest = TERMINAL_WIDTH - TERMINAL_WIDTH / 4;
    for (size_t used; *words != '\0';) {
        size_t blanks = strspn(words, " "), size = strcspn(words + blanks, " ");
        _cleanup_free_ char *one = strndup(words + blanks, size);
        if (one == NULL)
            return error_no_memory();
        TRY(buffer_append(text, words, blanks));
        if (size != 0)
            TRY(put_word(text, one, longest, &used));
        words += blanks + size;
    }
    return buffer_append(text, "", 0);
}

struct error *terminal_wrap(struct terminal *terminal, const char *words, size_t indent)
{
    return terminal_wrap_from(terminal, words, indent, indent);
}

struct error *terminal_wrap_from(struct terminal *terminal, const char *words, size_t indent,
                                 size_t column)
{
    bool fresh = column <= indent; // the line has no word of this text yet
    for (const char *word = words + strspn(words, " "); *word != '\0';) {
        size_t size = strcspn(word, " "), used;
        _cleanup_free_ char *one = strndup(word, size);
        if (one == NULL)
            return error_no_memory();
        _cleanup_(buffer_deinit) struct buffer shown = {0};
        TRY(put_word(&shown, one, TERMINAL_WIDTH - indent, &used));
        if (!fresh && column + 1 + used > TERMINAL_WIDTH) {
            PUT(terminal, "\n%*s", (int)indent, "");
            column = indent;
            fresh = true;
        }
        PUT(terminal, "%s%s", fresh ? "" : " ", shown.data);
        column += used + !fresh;
        fresh = false;
        word += size + strspn(word + size, " ");
    }
    PUT(terminal, "\n");
    return NULL;
}

// The length of the first word of a command, by the rules of a shell.
static size_t shell_word(const char *at)
{
    size_t size = 0;
    char quote = 0;
    for (; at[size] != '\0' && (quote != 0 || at[size] != ' '); size++) {
        if (quote == 0 && (at[size] == '\'' || at[size] == '"'))
            quote = at[size];
        else if (at[size] == quote)
            quote = 0;
        else if (at[size] == '\\' && quote != '\'' && at[size + 1] != '\0')
            size++;
    }
    return size;
}

// Appends one word. *ret_fits becomes false if no line can hold it unchanged.
static struct error *put_shell_word(struct buffer *text, const char *word, size_t size,
                                    size_t indent, size_t *column, bool *ret_fits)
{
    size_t used, room = TERMINAL_WIDTH - indent - 2;
    _cleanup_(buffer_deinit) struct buffer shown = {0}, whole = {0};
    TRY(buffer_append(&whole, word, size));
    TRY(text_put_fit(&shown, whole.data, room, &used));
    *ret_fits = strcmp(shown.data, whole.data) == 0;
    if (!*ret_fits)
        return NULL;
    if (*column > indent && *column + 1 + used > TERMINAL_WIDTH - 2) {
        TRY(buffer_printf(text, " \\\n%*s", (int)indent, ""));
        *column = indent;
    }
    TRY(buffer_printf(text, "%s%s", *column > indent ? " " : "", shown.data));
    *column += used + (*column > indent);
    return NULL;
}

struct error *terminal_command(struct terminal *terminal, const char *command, size_t indent,
                               bool *ret_fits)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    size_t column = indent;
    bool fits = *command != '\0';
    while (fits && *(command += strspn(command, " ")) != '\0') {
        size_t size = shell_word(command);
        TRY(put_shell_word(&text, command, size, indent, &column, &fits));
        command += size;
    }
    *ret_fits = fits && text.size != 0;
    if (*ret_fits)
        PUT(terminal, "%s\n", text.data);
    return NULL;
}

struct error *terminal_share(struct terminal *terminal, const struct campaign_share *share)
{
    if (!campaign_has_share(share))
        return buffer_printf(terminal->text, "%7s%18s", "-", "");
    // More trials give more significant digits.
    int digits = share->n < 5000 ? 1 : 2;
    char high[32];
    snprintf(high, sizeof high, "%.*f%%", digits, 100 * share->interval.high);
    return buffer_printf(terminal->text, "%6.*f%%  %6.*f - %-7s", digits, campaign_percent(share),
                         digits, 100 * share->interval.low, high);
}

struct error *terminal_test(struct terminal *terminal, const struct stats_test *test)
{
    if (test->method == STATS_NOTHING)
        return buffer_append(terminal->text, "-", 1);
    const char *stars = stats_stars(test->p);
    if (test->p < 0.0001)
        return buffer_printf(terminal->text, "< 0.0001 %s", stars);
    return buffer_printf(terminal->text, "%.4f%s%s", test->p, *stars != '\0' ? " " : "", stars);
}
