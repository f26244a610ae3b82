// SPDX-License-Identifier: GPL-3.0-or-later
// Writes rules of --inject, with words quoted so that the lexer reads them back.
#include "injector/spec.h"

#include "base/cleanup.h"
#include "base/hash.h"
#include "injector/recording.h"
#include "store/utf8.h"

#include <string.h>

struct error *spec_put_word(struct buffer *spec, const char *word, enum spec_word kind)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-$@:";
    if (kind != SPEC_NAME && *word != '\0' && strspn(word, plain) == strlen(word))
        return buffer_append(spec, word, strlen(word));
    // The store holds only UTF-8, so other bytes are escaped.
    bool sound = utf8_is_valid(word, strlen(word));
    TRY(buffer_append(spec, "\"", 1));
    for (const char *at = word; *at != '\0'; at++) {
        unsigned char byte = (unsigned char)*at;
        bool special = strchr("*?[\\", byte) != NULL;
        // The backslash that the glob needs is itself escaped for the lexer.
        if (special && kind == SPEC_MODULE)
            TRY(buffer_append(spec, "\\\\", 2));
        if (byte == '"' || byte == '\\' || (special && kind == SPEC_NAME))
            TRY(buffer_printf(spec, "\\%c", byte));
        else if (byte < ' ' || byte == 0x7f || (byte >= 0x80 && !sound))
            TRY(buffer_printf(spec, "\\x%02x", byte));
        else
            TRY(buffer_append(spec, at, 1));
    }
    return buffer_append(spec, "\"", 1);
}

struct error *spec_put_type(struct buffer *text, const struct scenario_rule_view *rule,
                            const char *function)
{
    return buffer_printf(text, "%s=%s", function, rule->action);
}

struct error *spec_put_head(struct buffer *spec, const struct scenario_rule_view *rule,
                            const char *function)
{
    _cleanup_(buffer_deinit) struct buffer name = {0};
    if (rule->library != NULL)
        TRY(buffer_printf(&name, "%s:", rule->library));
    TRY(buffer_printf(&name, "%s", function));
    TRY(spec_put_word(spec, name.data, SPEC_PATTERN));
    TRY(buffer_printf(spec, "=%s when ", rule->action));
    if (rule->condition[0] != '\0')
        TRY(buffer_printf(spec, "(%s) and ", rule->condition));
    return NULL;
}

struct error *spec_put_program(struct buffer *spec, const char *program)
{
    TRY(buffer_append(spec, "process(", 8));
    TRY(spec_put_word(spec, program, SPEC_NAME));
    return buffer_append(spec, ")", 1);
}

struct error *spec_put_process(struct buffer *spec, uint64_t process)
{
    if (process == 1 || (process & RECORDED_NUMBER) != 0)
        return buffer_printf(spec, "process(%u)", (unsigned)process);
    TRY(buffer_append(spec, "ancestry(", 9));
    for (int shift = 56; shift >= 0; shift -= 8)
        if (process >> shift != 0)
            TRY(buffer_printf(spec, "%s%u", process >> shift < 256 ? "" : ".",
                              (unsigned)(process >> shift & 0xff)));
    return buffer_append(spec, ")", 1);
}

struct error *spec_put_site(struct buffer *spec, const char *module, uint64_t offset)
{
    TRY(buffer_append(spec, "caller(", 7));
    TRY(spec_put_word(spec, module, SPEC_MODULE));
    return buffer_printf(spec, "+0x%llx)", (unsigned long long)offset);
}

uint64_t spec_place(const char *spec)
{
    const char *equals = strchr(spec, '='), *when = strstr(spec, " when ");
    if (equals == NULL || when == NULL || when < equals)
        return hash_text(spec);
    return hash_mix(hash_bytes(spec, (size_t)(equals - spec)), hash_text(when));
}
