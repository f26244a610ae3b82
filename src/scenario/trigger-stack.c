// SPDX-License-Identifier: GPL-3.0-or-later
// The triggers about the call stack: caller, stack, new_stack; and the parser of frames.
#include "base/cleanup.h"
#include "scenario/trigger-kind.h"

#include <stdlib.h>
#include <string.h>

static bool ends_with(const char *text, const char *end)
{
    size_t size = strlen(text), end_size = strlen(end);
    return size >= end_size && strcmp(text + size - end_size, end) == 0;
}

// The last character before a run of digits at the end, if it is `mark`.
static const char *before_digits(const char *text, char mark)
{
    const char *end = text + strlen(text), *at = end;
    while (at > text && at[-1] >= '0' && at[-1] <= '9')
        at--;
    return at < end && at > text && at[-1] == mark ? at - 1 : NULL;
}

// A ':' that is not part of a '::'.
static const char *single_colon(const char *text)
{
    for (const char *at = text; (at = strchr(at, ':')) != NULL; at++) {
        if (at[1] != ':')
            return at;
        while (at[1] == ':')
            at++;
    }
    return NULL;
}

// MODULE+0xOFFSET: the plus with a number after it, or NULL.
static const char *offset_mark(const char *text, uint64_t *ret_offset)
{
    const char *plus = strrchr(text, '+');
    if (plus == NULL || plus[1] < '0' || plus[1] > '9')
        return NULL;
    char *end;
    bool is_hex = plus[1] == '0' && (plus[2] == 'x' || plus[2] == 'X');
    *ret_offset = strtoull(plus + 1, &end, is_hex ? 16 : 10);
    return *end == '\0' ? plus : NULL;
}

static const char *part(struct scenario *scenario, const char *from, const char *to)
{
    return arena_copy(&scenario->arena, from, (size_t)(to - from));
}

static struct error *line_query(struct parser *parser, const struct word *word, const char *colon,
                                struct scenario_query *query)
{
    const char *text = word->text.chars;
    unsigned long line = strtoul(colon + 1, NULL, 10);
    if (line == 0 || line > INT32_MAX)
        return parser_error(parser, word->start, "'%s': lines are counted from 1", text);
    const char *file = text, *split = single_colon(text);
    if (split != NULL && split < colon) {
        query->module = part(parser->scenario, text, split);
        file = split + 1;
        if (query->module == NULL)
            return error_no_memory();
    }
    query->kind = SCENARIO_QUERY_LINE;
    query->line = (unsigned)line;
    query->file = part(parser->scenario, file, colon);
    return query->file != NULL ? NULL : error_no_memory();
}

static bool is_source_file(const char *text)
{
    static const char *const ends[] = {".c", ".cc", ".cpp", ".cxx", ".C", ".h", ".hpp", ".rs"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends_with(text, ends[i]))
            return true;
    return false;
}

static struct error *classify_frame(struct parser *parser, const struct word *word,
                                    struct scenario_query *query)
{
    const char *text = word->text.chars, *end = text + strlen(text), *mark;
    struct scenario *scenario = parser->scenario;
    query->text = text;
    if (is_source_file(text))
        return parser_error(parser, word->start, "a source file needs a line: %s:123", text);
    if ((mark = offset_mark(text, &query->offset)) != NULL && mark > text) {
        query->kind = SCENARIO_QUERY_SITE;
        query->module = part(scenario, text, mark);
        return query->module != NULL ? NULL : error_no_memory();
    }
    query->offset = 0;
    if ((mark = before_digits(text, ':')) != NULL && mark > text && mark[-1] != ':')
        return line_query(parser, word, mark, query);
    mark = single_colon(text);
    query->kind = SCENARIO_QUERY_MODULE;
    if (mark != NULL && mark[1] == '\0' && mark > text) {
        query->module = part(scenario, text, mark);
    } else if (strncmp(text, "module:", 7) == 0 && text[7] != '\0') {
        query->module = part(scenario, text + 7, end);
    } else if (mark == NULL && (strstr(text, ".so") != NULL || strchr(text, '/') != NULL)) {
        query->module = text;
    } else {
        query->kind = SCENARIO_QUERY_FUNCTION;
        query->function = mark != NULL ? mark + 1 : text;
        if (mark == text || *query->function == '\0')
            return parser_error(parser, word->start, "'%s' names neither a function nor a module",
                                text);
        query->module = mark != NULL ? part(scenario, text, mark) : NULL;
        return mark == NULL || query->module != NULL ? NULL : error_no_memory();
    }
    return query->module != NULL ? NULL : error_no_memory();
}

static struct error *intern_query(struct parser *parser, const struct word *word,
                                  uint32_t *ret_index)
{
    struct scenario *scenario = parser->scenario;
    uint32_t found = map_find(&scenario->query_map, word->text.offset);
    if (found == MAP_NONE) {
        struct scenario_query query = {0};
        TRY(classify_frame(parser, word, &query));
        struct scenario_query *slot = ARRAY_ADD(&scenario->queries);
        if (slot == NULL)
            return error_no_memory();
        *slot = query;
        found = (uint32_t)(scenario->queries.count - 1);
        TRY(map_put(&scenario->query_map, word->text.offset, found));
    }
    *ret_index = found;
    return NULL;
}

static struct error *parse_frame(struct parser *parser, uint32_t first, bool *last_was_gap)
{
    struct word word;
    struct scenario *scenario = parser->scenario;
    TRY(lexer_word(&parser->lexer, ",)", &word));
    bool is_gap = !word.quoted && strcmp(word.text.chars, "...") == 0;
    if (word.text.size == 0)
        return parser_error(parser, word.start,
                            "expected a frame: function, file.c:123, module+0x12, module: or "
                            "module:function");
    if (is_gap && (first == scenario->stack_items.count || *last_was_gap))
        return parser_error(parser, word.start, "'...' stands between two frames");
    if (scenario->stack_items.count - first == WIRE_STACK_ITEMS)
        return parser_error(parser, word.start, "a stack has at most %d frames and gaps",
                            WIRE_STACK_ITEMS);
    uint32_t item = WIRE_STACK_GAP;
    if (!is_gap)
        TRY(intern_query(parser, &word, &item));
    uint32_t *slot = ARRAY_ADD(&scenario->stack_items);
    if (slot == NULL)
        return error_no_memory();
    *slot = item;
    *last_was_gap = is_gap;
    return NULL;
}

static struct error *parse_frames(struct parser *parser, struct expression *node)
{
    struct scenario *scenario = parser->scenario;
    struct lexer *lexer = &parser->lexer;
    TRY(parse_open(parser, node->trigger->about.name));
    uint32_t first = (uint32_t)scenario->stack_items.count;
    bool last_was_gap = false;
    size_t last_start;
    for (;;) {
        last_start = lexer->token.start;
        TRY(parse_frame(parser, first, &last_was_gap));
        if (lexer->token.kind != (enum token_kind)',')
            break;
        TRY(lexer_next(lexer));
    }
    if (last_was_gap)
        return parser_error(parser, last_start, "'...' stands between two frames");
    struct wire_stack *stack = ARRAY_ADD(&scenario->stacks);
    if (stack == NULL)
        return error_no_memory();
    stack->items = (struct wire_span){first, (uint32_t)scenario->stack_items.count - first};
    stack->anchored = node->trigger == &trigger_caller;
    node->number = (int64_t)scenario->stacks.count - 1;
    if (lexer->token.kind != (enum token_kind)')')
        return lexer_unexpected(lexer, "',' or ')' after a frame");
    return lexer_next(lexer);
}

static struct error *compile_frames(struct codegen *codegen, const struct expression *node)
{
    return codegen_emit(
        codegen, node, 0, 1,
        (struct wire_instruction){.op = WIRE_OP_STACK, .b = (uint32_t)node->number});
}

static uint32_t caller_site(const struct scenario *scenario, const struct expression *node)
{
    return scenario->stack_items.items[scenario->stacks.items[node->number].items.offset];
}

const struct trigger_kind trigger_caller = {
    .about =
        {
            .name = "caller",
            .syntax = "caller(FRAME, ...)",
            .summary = "who makes the call",
            .description =
                "The first FRAME is the immediate caller, the next its caller, and so on; '...' "
                "between two frames allows any number of others. A FRAME is a function, "
                "file.c:123, module+0x1234, a module (libx.so.1, program: with a colon, or "
                "module:NAME) or module:function. Globs and quotes may be used.",
            .example = "malloc=NULL/ENOMEM when caller(xdl_merge, \"xmerge.c:567\")",
        },
    .parse = parse_frames,
    .compile = compile_frames,
    .site = caller_site,
};

const struct trigger_kind trigger_stack = {
    .about =
        {
            .name = "stack",
            .syntax = "stack(FRAME, ...)",
            .summary = "the frames are on the call stack",
            .description = "Like caller, but the first FRAME may be anywhere on the stack. Frames "
                           "are named from the inside out; neighbours must be neighbours on the "
                           "stack unless '...' stands between them.",
            .example = "write=-1/EIO when stack(commit_locked_index, ..., main)",
        },
    .parse = parse_frames,
    .compile = compile_frames,
};

static struct error *compile_new_stack(struct codegen *codegen, const struct expression *node)
{
    codegen->new_stack = true;
    codegen->scenario->uses |= WIRE_USE_NEW_STACK;
    return codegen_emit(codegen, node, 0, 1, (struct wire_instruction){.op = WIRE_OP_NEW_STACK});
}

const struct trigger_kind trigger_new_stack = {
    .about =
        {
            .name = "new_stack",
            .syntax = "new_stack",
            .summary = "no fault was injected from this call stack yet",
            .description = "True if no rule with new_stack has fired from this call stack before. "
                           "Stacks are remembered when the rule fires, and across runs if a file "
                           "is given for them, so that each run fails other recovery code.",
            .example = "malloc=NULL/ENOMEM when new_stack and once",
        },
    .compile = compile_new_stack,
};
