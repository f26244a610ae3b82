// SPDX-License-Identifier: GPL-3.0-or-later
// The triggers about which call it is and when: count, match, once, random, time.
#include "base/cleanup.h"
#include "scenario/trigger-kind.h"

static struct error *compile_count(struct codegen *codegen, const struct expression *node)
{
    return codegen_emit(codegen, node, 0, 1, (struct wire_instruction){.op = WIRE_OP_COUNT});
}

const struct trigger_kind trigger_count = {
    .about =
        {
            .name = "count",
            .syntax = "count",
            .summary = "which call of the function this is, counted from 1",
            .description =
                "The number of calls of this function in this process so far, over all threads, "
                "this one included. Compare it with a number (count == 3), ask for a range (count "
                "in 3..5), for every second call from the third on (count in 3..+2), or for every "
                "tenth (count % 10 == 0).",
            .example = "read=-1/EIO when count == 3",
        },
    .compile = compile_count,
    .is_count = true,
};

static struct error *compile_match(struct codegen *codegen, const struct expression *node)
{
    if (codegen->match)
        return codegen_error(codegen, node, "a rule has one counter: 'match' can stand in it once");
    codegen->match = true;
    return codegen_emit(codegen, node, 0, 1, (struct wire_instruction){.op = WIRE_OP_MATCH});
}

const struct trigger_kind trigger_match = {
    .about =
        {
            .name = "match",
            .syntax = "match",
            .summary = "which of the calls that fit what stands to its left this is, from 1",
            .description =
                "Counts, in each process, the calls for which everything to its left in the "
                "conjunction holds, this one included: path(1) ~ \"/etc/*\" and match == 3 is the "
                "third call on such a file, whatever happens to others in between. Compare it with "
                "a number, or ask for a range (match in 3..5) or for every tenth (match % 10 == "
                "0). It can stand in a rule once. Calls that an earlier rule has taken are not "
                "counted.",
            .example = "read=-1/EIO when path(1) ~ \"/etc/*\" and match == 3",
        },
    .compile = compile_match,
    .sees_calls = true,
    .is_match = true,
};

static struct error *compile_once(struct codegen *codegen, const struct expression *node)
{
    codegen->once = true;
    return codegen_emit(codegen, node, 0, 1, (struct wire_instruction){.op = WIRE_OP_ONCE});
}

const struct trigger_kind trigger_once = {
    .about =
        {
            .name = "once",
            .syntax = "once",
            .summary = "true until the rule has fired in this trial",
            .description =
                "Makes the rule fire at most once in a trial, over all its processes and threads, "
                "even if several would fire at the same instant. Joined to the rest of the "
                "condition by 'and'.",
            .example = "write=-1/ENOSPC when arg(3) > 4096 and once",
        },
    .compile = compile_once,
    .conjunct_only = true,
};

// random(0.1), random(10%)
struct error *trigger_parse_random(struct parser *parser, struct expression *node)
{
    struct lexer *lexer = &parser->lexer;
    TRY(parse_open(parser, "random"));
    const struct token token = lexer->token;
    if (token.kind != TOKEN_INTEGER && token.kind != TOKEN_REAL)
        return lexer_unexpected(lexer, "a probability such as 0.1 or 10%");
    TRY(lexer_next(lexer));
    double probability = token.real;
    if (lexer->token.kind == (enum token_kind)'%') {
        probability /= 100;
        TRY(lexer_next(lexer));
    }
    if (!(probability <= 1))
        return parser_error(parser, token.start,
                            "a probability is between 0 and 1, or a "
                            "percentage such as 10%%");
    node->number = probability >= 1 ? -1 : (int64_t)(uint64_t)(probability * 0x1p64);
    return parse_close(parser);
}

static struct error *compile_random(struct codegen *codegen, const struct expression *node)
{
    return codegen_emit(
        codegen, node, 0, 1,
        (struct wire_instruction){.op = WIRE_OP_RANDOM, .c = (uint64_t)node->number});
}

const struct trigger_kind trigger_random = {
    .about =
        {
            .name = "random",
            .syntax = "random(P)",
            .summary = "true with probability P",
            .description =
                "P is between 0 and 1, or a percentage such as 10%. The numbers come from the "
                "trial's seed, a sequence of its own for every thread, so that the same seed "
                "decides the same way again.",
            .example = "malloc=NULL/ENOMEM when random(0.01)",
        },
    .parse = trigger_parse_random,
    .compile = compile_random,
    .sees_calls = true,
};

static struct error *compile_time(struct codegen *codegen, const struct expression *node)
{
    return codegen_emit(codegen, node, 0, 1, (struct wire_instruction){.op = WIRE_OP_TIME});
}

const struct trigger_kind trigger_time = {
    .about =
        {
            .name = "time",
            .syntax = "time",
            .summary = "how long the trial has been running",
            .description = "Nanoseconds since the trial began. Compare it with a duration: time > "
                           "2s, time in 100ms..1500ms.",
            .example = "connect=-1/ENETUNREACH when time > 2s",
        },
    .compile = compile_time,
    .is_duration = true,
};
