// SPDX-License-Identifier: GPL-3.0-or-later
// The triggers about the arguments of the call: arg, fd, path.
#include "base/cleanup.h"
#include "scenario/trigger-kind.h"
#include "wire/traits.h"

#include <string.h>

static struct error *parse_argument_number(struct parser *parser, struct expression *node,
                                           const char *name, unsigned last)
{
    uint64_t number;
    TRY(parse_open(parser, name));
    TRY(parse_bounded(parser, "an argument number", 1, last, &number));
    node->number = (int64_t)number;
    return parse_close(parser);
}

static char argument_kind(const struct codegen *codegen, const struct expression *node)
{
    return prototype_argument(codegen_pattern(codegen)->prototype, (unsigned)node->number);
}

// The word after a dot, one of `names`; *ret_index is -1 if there is no dot.
static struct error *parse_suffix(struct parser *parser, const char *const *names, size_t count,
                                  const char *wanted, int64_t *ret_index)
{
    struct lexer *lexer = &parser->lexer;
    *ret_index = -1;
    if (lexer->token.kind != (enum token_kind)'.')
        return NULL;
    TRY(lexer_next(lexer));
    for (size_t i = 0; i < count; i++)
        if (lexer_is_name(lexer, names[i])) {
            *ret_index = (int64_t)i;
            return lexer_next(lexer);
        }
    return lexer_unexpected(lexer, wanted);
}

// In the order of enum wire_argument_type.
static const char *const types[] = {"i64", "i32", "u32", "i16", "u16", "i8", "u8", "u64"};

static struct error *parse_arg(struct parser *parser, struct expression *node)
{
    TRY(parse_argument_number(parser, node, "arg", SCENARIO_LAST_ARGUMENT));
    return parse_suffix(parser, types, sizeof types / sizeof *types,
                        "i8, u8, i16, u16, i32, u32, i64 or u64 after '.'", &node->other);
}

static enum wire_argument_type natural_type(char kind)
{
    switch ((enum prototype_kind)kind) {
    case PROTOTYPE_INT:
    case PROTOTYPE_FD:
        return WIRE_ARG_I32;
    case PROTOTYPE_UNSIGNED:
        return WIRE_ARG_U32;
    case PROTOTYPE_SIZE:
        return WIRE_ARG_U64;
    default:
        return WIRE_ARG_I64;
    }
}

static struct error *compile_arg(struct codegen *codegen, const struct expression *node)
{
    enum wire_argument_type type = node->other >= 0 ? (enum wire_argument_type)node->other
                                                    : natural_type(argument_kind(codegen, node));
    return codegen_argument(codegen, node, (unsigned)node->number, type);
}

static struct error *match_arg(struct codegen *codegen, const struct expression *node,
                               enum wire_match match, struct text text)
{
    char kind = argument_kind(codegen, node);
    if (kind != 0 && strchr("iulzf", kind) != NULL)
        return codegen_error(
            codegen, node, "argument %u of %s is %s, not a text%s", (unsigned)node->number,
            codegen_pattern(codegen)->name.chars, prototype_kind_text(kind),
            kind == PROTOTYPE_FD ? "; path(n) asks what a descriptor is open on" : "");
    TRY(codegen_argument(codegen, node, (unsigned)node->number, WIRE_ARG_I64));
    codegen_note_string(codegen, (unsigned)node->number);
    return codegen_emit(codegen, node, 1, 1,
                        (struct wire_instruction){
                            .op = WIRE_OP_ARGUMENT_TEXT, .a = (uint16_t)match, .b = text.offset});
}

const struct trigger_kind trigger_arg = {
    .about =
        {
            .name = "arg",
            .syntax = "arg(N)[.i8|.u8|.i16|.u16|.i32|.u32|.i64|.u64]",
            .summary = "the N-th argument of the call, counted from 1",
            .description =
                "An integer or pointer argument as a number, to compare (arg(3) >= 4096), mask "
                "(arg(2) & O_CREAT) or, if it points to a C string, match: arg(1) == \"text\", "
                "arg(1) ~ \"glob*\". Its width is known for common functions and 64 bits "
                "otherwise; a suffix says it explicitly. Floating point arguments do not count.",
            .example = "openat=-1/EACCES when arg(3) & O_CREAT and arg(2) ~ \"/tmp/*\"",
        },
    .parse = parse_arg,
    .compile = compile_arg,
    .match = match_arg,
};

// In the order of enum wire_fd_test.
static const char *const fd_tests[] = {"pipe", "socket",      "file",      "directory",
                                       "tty",  "nonblocking", "connection"};

static struct error *parse_fd(struct parser *parser, struct expression *node)
{
    TRY(parse_argument_number(parser, node, "fd", SCENARIO_LAST_ARGUMENT));
    return parse_suffix(parser, fd_tests, sizeof fd_tests / sizeof *fd_tests,
                        "pipe, socket, file, directory, tty, nonblocking or connection "
                        "after '.'",
                        &node->other);
}

// A FILE has a descriptor, too.
static bool is_stream(const struct codegen *codegen, const struct expression *node)
{
    const struct wire_traits *traits = wire_traits_find(codegen_pattern(codegen)->name.chars);
    return wire_traits_stream(traits) == (unsigned)node->number;
}

static struct error *push_stream(struct codegen *codegen, const struct expression *node)
{
    TRY(codegen_argument(codegen, node, (unsigned)node->number, WIRE_ARG_I64));
    return codegen_emit(codegen, node, 1, 1, (struct wire_instruction){.op = WIRE_OP_STREAM});
}

static struct error *compile_fd(struct codegen *codegen, const struct expression *node)
{
    char kind = argument_kind(codegen, node);
    bool stream = is_stream(codegen, node);
    if (!stream && kind != 0 && kind != PROTOTYPE_FD && kind != PROTOTYPE_INT)
        return codegen_error(codegen, node, "argument %u of %s is %s, not a descriptor",
                             (unsigned)node->number, codegen_pattern(codegen)->name.chars,
                             prototype_kind_text(kind));
    if (stream)
        TRY(push_stream(codegen, node));
    else
        TRY(codegen_argument(codegen, node, (unsigned)node->number, WIRE_ARG_I32));
    if (node->other < 0)
        return NULL;
    return codegen_emit(codegen, node, 1, 1,
                        (struct wire_instruction){.op = WIRE_OP_FD, .a = (uint16_t)node->other});
}

const struct trigger_kind trigger_fd = {
    .about =
        {
            .name = "fd",
            .syntax = "fd(N)[.pipe|.socket|.file|.directory|.tty|.nonblocking|.connection]",
            .summary = "what the descriptor in argument N is",
            .description = "Asks the kernel about the descriptor at the moment of the call; false "
                           "if it is not open. Without a suffix it is the descriptor's number. "
                           "Where argument N is a FILE, it is the descriptor of that stream. "
                           "A connection is a socket that does not send single datagrams.",
            .example = "read=-1/EAGAIN when fd(1).socket and fd(1).nonblocking",
        },
    .parse = parse_fd,
    .compile = compile_fd,
};

static struct error *parse_path(struct parser *parser, struct expression *node)
{
    return parse_argument_number(parser, node, "path", SCENARIO_LAST_ARGUMENT);
}

static struct error *compile_path(struct codegen *codegen, const struct expression *node)
{
    return codegen_error(codegen, node,
                         "path(%u) must be compared with a text: path(%u) ~ \"/etc/*\"",
                         (unsigned)node->number, (unsigned)node->number);
}

static struct error *match_path(struct codegen *codegen, const struct expression *node,
                                enum wire_match match, struct text text)
{
    char kind = argument_kind(codegen, node);
    unsigned number = (unsigned)node->number;
    if (kind != 0 && strchr("iulz", kind) != NULL)
        return codegen_error(codegen, node,
                             "argument %u of %s is %s, neither a path nor a descriptor", number,
                             codegen_pattern(codegen)->name.chars, prototype_kind_text(kind));
    bool stream = is_stream(codegen, node), is_fd = kind == PROTOTYPE_FD || stream;
    if (stream)
        TRY(push_stream(codegen, node));
    else
        TRY(codegen_argument(codegen, node, number, is_fd ? WIRE_ARG_I32 : WIRE_ARG_I64));
    if (!is_fd)
        codegen_note_string(codegen, number);
    return codegen_emit(
        codegen, node, 1, 1,
        (struct wire_instruction){.op = (uint16_t)(is_fd ? WIRE_OP_FD_PATH : WIRE_OP_PATH),
                                  .a = (uint16_t)match,
                                  .b = text.offset});
}

const struct trigger_kind trigger_path = {
    .about =
        {
            .name = "path",
            .syntax = "path(N) ~ \"GLOB\", path(N) == \"TEXT\"",
            .summary = "which file argument N is about",
            .description =
                "Argument N is a path, or a descriptor or a FILE: then the path it is open on. A "
                "relative "
                "path matches as it stands and made absolute. Which of the two it is, is known for "
                "common functions; of others it is taken for a path.",
            .example = "read=-1/EIO when path(1) ~ \"/etc/*.conf\"",
        },
    .parse = parse_path,
    .compile = compile_path,
    .match = match_path,
};
