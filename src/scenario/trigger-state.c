// SPDX-License-Identifier: GPL-3.0-or-later
// The triggers about the calling thread and earlier calls: holding_mutex, after, thread, process.
#include "base/cleanup.h"
#include "scenario/trigger-kind.h"

#include <string.h>

static struct error *compile_mutex(struct codegen *codegen, const struct expression *node)
{
    codegen->scenario->uses |= WIRE_USE_MUTEX;
    return codegen_emit(codegen, node, 0, 1,
                        (struct wire_instruction){.op = WIRE_OP_HOLDING_MUTEX});
}

const struct trigger_kind trigger_holding_mutex = {
    .about =
        {
            .name = "holding_mutex",
            .syntax = "holding_mutex",
            .summary = "how many mutexes the calling thread holds",
            .description =
                "POSIX mutexes locked by this thread and not unlocked yet. On its own it "
                "is true if there is at least one; it can be compared, too.",
            .example = "read=-1/EINVAL when holding_mutex and arg(3) in 1024..4096",
        },
    .compile = compile_mutex,
};

static struct error *compile_inside(struct codegen *codegen, const struct expression *node)
{
    return codegen_emit(codegen, node, 0, 1, (struct wire_instruction){.op = WIRE_OP_INSIDE});
}

const struct trigger_kind trigger_inside = {
    .about =
        {
            .name = "inside",
            .syntax = "inside",
            .summary = "the thread is in a call that a rule observes",
            .description = "True while this thread is in a call that another rule, with the action "
                           "'observe', lets through: for all that this call calls.",
            .example = "malloc=NULL/ENOMEM when inside and match == 2",
        },
    .compile = compile_inside,
};

// after(FUNCTION), after(FUNCTION, within: 3), after(FUNCTION, within: 3 calls)
static struct error *parse_after(struct parser *parser, struct expression *node)
{
    struct lexer *lexer = &parser->lexer;
    struct word word;
    TRY(parse_open(parser, "after"));
    TRY(lexer_word(lexer, ",)", &word));
    struct text library, name;
    TRY(scenario_split_pattern(parser->scenario, lexer->source, word.start, word.text, word.quoted,
                               &library, &name));
    if (is_function_class(name.chars))
        return parser_error(parser, word.start,
                            "after() counts from one function, or a glob, not from a class");
    uint32_t pattern;
    TRY(scenario_intern_pattern(parser->scenario, library, name, &pattern));
    node->number = pattern;
    if (lexer->token.kind == (enum token_kind)',') {
        TRY(lexer_next(lexer));
        if (!lexer_is_name(lexer, "within"))
            return lexer_unexpected(lexer, "'within: K'");
        TRY(lexer_next(lexer));
        TRY(lexer_expect(lexer, (enum token_kind)':', "':' after 'within'"));
        uint64_t within;
        TRY(parse_bounded(parser, "a number of calls", 1, INT64_MAX, &within));
        node->other = (int64_t)within;
        if (lexer_is_name(lexer, "calls") || lexer_is_name(lexer, "call"))
            TRY(lexer_next(lexer));
    }
    return parse_close(parser);
}

static struct error *compile_after(struct codegen *codegen, const struct expression *node)
{
    struct scenario *scenario = codegen->scenario;
    size_t index = 0;
    for (; index < scenario->afters.count; index++)
        if (scenario->afters.items[index].pattern == (uint32_t)node->number &&
            scenario->afters.items[index].rule == codegen->rule)
            break;
    if (index == WIRE_AFTER_MAX)
        return codegen_error(codegen, node, "a scenario can use after() at most %d times",
                             WIRE_AFTER_MAX);
    if (index == scenario->afters.count) {
        struct wire_after *after = ARRAY_ADD(&scenario->afters);
        if (after == NULL)
            return error_no_memory();
        *after = (struct wire_after){(uint32_t)node->number, codegen->rule};
    }
    return codegen_emit(codegen, node, 0, 1,
                        (struct wire_instruction){
                            .op = WIRE_OP_AFTER, .b = (uint32_t)index, .c = (uint64_t)node->other});
}

const struct trigger_kind trigger_after = {
    .about =
        {
            .name = "after",
            .syntax = "after(FUNCTION[, within: K])",
            .summary = "the thread has called FUNCTION before",
            .description =
                "True if this thread called FUNCTION (a name, a glob, or library:name) earlier. "
                "With 'within: K', only for the first K calls of the rule's own function since "
                "then.",
            .example = "close=-1/EIO when after(pthread_mutex_unlock, within: 2)",
        },
    .parse = parse_after,
    .compile = compile_after,
};

// thread, thread(2), thread("worker*")
static struct error *parse_who(struct parser *parser, struct expression *node)
{
    struct lexer *lexer = &parser->lexer;
    node->number = -1; // bare: its number
    if (lexer->token.kind != (enum token_kind)'(')
        return NULL;
    TRY(lexer_next(lexer));
    if (lexer->token.kind == TOKEN_INTEGER) {
        uint64_t number;
        TRY(parse_bounded(parser, "a number", 1, INT32_MAX, &number));
        node->number = (int64_t)number;
        return parse_close(parser);
    }
    struct word word;
    TRY(lexer_word(lexer, ",)", &word));
    if (word.text.size == 0)
        return parser_error(parser, word.start, "expected a number or a name in '%s(...)'",
                            node->trigger->about.name);
    node->number = 0; // by name
    node->text = word.glob;
    return parse_close(parser);
}

static struct error *compile_who(struct codegen *codegen, const struct expression *node,
                                 enum wire_op number_op, enum wire_op name_op)
{
    if (node->number == 0)
        return codegen_emit(codegen, node, 0, 1,
                            (struct wire_instruction){.op = (uint16_t)name_op,
                                                      .a = WIRE_MATCH_GLOB,
                                                      .b = node->text.offset});
    TRY(codegen_emit(codegen, node, 0, 1, (struct wire_instruction){.op = (uint16_t)number_op}));
    if (node->number < 0)
        return NULL;
    TRY(codegen_emit(
        codegen, node, 0, 1,
        (struct wire_instruction){.op = WIRE_OP_CONSTANT, .c = (uint64_t)node->number}));
    return codegen_emit(codegen, node, 2, 1, (struct wire_instruction){.op = WIRE_OP_EQUAL});
}

static struct error *match_who(struct codegen *codegen, const struct expression *node,
                               enum wire_match match, struct text text, enum wire_op name_op)
{
    if (node->number >= 0)
        return codegen_error(codegen, node, "write '%s ~ \"NAME\"' or '%s(\"NAME\")', not both",
                             node->trigger->about.name, node->trigger->about.name);
    return codegen_emit(
        codegen, node, 0, 1,
        (struct wire_instruction){.op = (uint16_t)name_op, .a = (uint16_t)match, .b = text.offset});
}

static struct error *compile_thread(struct codegen *codegen, const struct expression *node)
{
    return compile_who(codegen, node, WIRE_OP_THREAD_NUMBER, WIRE_OP_THREAD_NAME);
}

static struct error *match_thread(struct codegen *codegen, const struct expression *node,
                                  enum wire_match match, struct text text)
{
    return match_who(codegen, node, match, text, WIRE_OP_THREAD_NAME);
}

const struct trigger_kind trigger_thread = {
    .about =
        {
            .name = "thread",
            .syntax = "thread, thread(N), thread(\"GLOB\")",
            .summary = "which thread calls",
            .description = "Bare, the thread's number in its process; the main thread is 1 and "
                           "others follow in the order of their first intercepted call. With a "
                           "number or a name in parentheses it is true in that thread only.",
            .example = "write=-1/EPIPE when thread(\"worker*\") and thread != 1",
        },
    .parse = parse_who,
    .compile = compile_thread,
    .match = match_thread,
};

static struct error *compile_process(struct codegen *codegen, const struct expression *node)
{
    return compile_who(codegen, node, WIRE_OP_PROCESS_NUMBER, WIRE_OP_PROCESS_NAME);
}

static struct error *match_process(struct codegen *codegen, const struct expression *node,
                                   enum wire_match match, struct text text)
{
    return match_who(codegen, node, match, text, WIRE_OP_PROCESS_NAME);
}

const struct trigger_kind trigger_process = {
    .about =
        {
            .name = "process",
            .syntax = "process, process(N), process(\"GLOB\")",
            .summary = "which process of the trial calls",
            .description = "Bare, the process's number in the trial; the command itself is 1. With "
                           "a number or a program's file name in parentheses it is true in that "
                           "process only.",
            .example = "malloc=NULL/ENOMEM when process(\"git-remote-*\")",
        },
    .parse = parse_who,
    .compile = compile_process,
    .match = match_process,
};

// ancestry(1.2.1)
static struct error *parse_ancestry(struct parser *parser, struct expression *node)
{
    struct word word;
    TRY(parse_open(parser, "ancestry"));
    TRY(lexer_word(&parser->lexer, ",)", &word));
    uint64_t ancestry = 0;
    const char *at = word.text.chars, *end = at + word.text.size;
    for (bool first = true;; first = false) {
        uint64_t number = 0;
        for (; at < end && *at >= '0' && *at <= '9' && number < 256; at++)
            number = number * 10 + (uint64_t)(*at - '0');
        if (number == 0 || number > 255 || ancestry >> 56 != 0 || (first && number != 1))
            return parser_error(parser, word.start,
                                "expected numbers from 1 to 255, at most eight, and the first of "
                                "them 1, as in 'ancestry(1.2)'");
        ancestry = ancestry << 8 | number;
        if (at == end || *at != '.')
            break;
        at++;
    }
    if (at != end)
        return parser_error(parser, word.start, "expected numbers and dots, as in 'ancestry(1.2)'");
    node->number = (int64_t)ancestry;
    return parse_close(parser);
}

static struct error *compile_ancestry(struct codegen *codegen, const struct expression *node)
{
    TRY(codegen_emit(codegen, node, 0, 1, (struct wire_instruction){.op = WIRE_OP_ANCESTRY}));
    TRY(codegen_emit(
        codegen, node, 0, 1,
        (struct wire_instruction){.op = WIRE_OP_CONSTANT, .c = (uint64_t)node->number}));
    return codegen_emit(codegen, node, 2, 1, (struct wire_instruction){.op = WIRE_OP_EQUAL});
}

const struct trigger_kind trigger_ancestry = {
    .about =
        {
            .name = "ancestry",
            .syntax = "ancestry(1.N...)",
            .summary = "which process of the trial calls, by who made it",
            .description =
                "The command is 1, the second process that it makes 1.2, the first one that this "
                "makes 1.2.1, whoever of them starts first. An exec does not change it. Processes "
                "that system() and popen() make have none, nor those behind the 255th child or the "
                "eighth generation.",
            .example = "write=-1/ENOSPC when ancestry(1.2) and process(\"cpio\")",
        },
    .parse = parse_ancestry,
    .compile = compile_ancestry,
};
