// SPDX-License-Identifier: GPL-3.0-or-later
// The triggers that are decided elsewhere: `remote` by a coordinator, `plugin` by the user's code.
#include "base/cleanup.h"
#include "scenario/trigger-kind.h"

#include <string.h>

static struct error *parse_remote(struct parser *parser, struct expression *node)
{
    struct word word;
    TRY(parse_open(parser, "remote"));
    TRY(lexer_word(&parser->lexer, ",)", &word));
    if (word.text.size == 0)
        return parser_error(parser, word.start, "expected the name of a question in 'remote(...)'");
    node->text = word.text;
    return parse_close(parser);
}

static struct error *compile_remote(struct codegen *codegen, const struct expression *node)
{
    codegen->scenario->uses |= WIRE_USE_REMOTE;
    return codegen_emit(codegen, node, 0, 1,
                        (struct wire_instruction){.op = WIRE_OP_REMOTE, .b = node->text.offset});
}

const struct trigger_kind trigger_remote = {
    .about =
        {
            .name = "remote",
            .syntax = "remote(NAME)",
            .summary = "a coordinator with a view of the whole system says yes",
            .description =
                "Asks the coordinator (see ordeal coordinate) the question NAME, telling it about "
                "the call: function, arguments and call stack. If it cannot be reached the call "
                "goes through and the report says so.",
            .example = "sendto=-1/ENETDOWN when remote(partition)",
        },
    .parse = parse_remote,
    .compile = compile_remote,
    .sees_calls = true,
};

static bool is_identifier(const char *text)
{
    if (*text == '\0' || (*text >= '0' && *text <= '9'))
        return false;
    for (; *text != '\0'; text++)
        if (!((*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') ||
              (*text >= '0' && *text <= '9') || *text == '_'))
            return false;
    return true;
}

// `key: value` pairs up to ')'. The key `instance` is not the plug-in's: it names the instance.
static struct error *parse_parameters(struct parser *parser, struct plugin *plugin)
{
    struct lexer *lexer = &parser->lexer;
    struct scenario *scenario = parser->scenario;
    plugin->parameters.offset = (uint32_t)scenario->parameters.count;
    while (lexer->token.kind == (enum token_kind)',') {
        TRY(lexer_next(lexer));
        struct word key, value;
        TRY(lexer_word(lexer, ":,)=", &key));
        if (key.text.size == 0)
            return parser_error(parser, key.start, "expected 'key: value'");
        if (lexer->token.kind != (enum token_kind)'=')
            TRY(lexer_expect(lexer, (enum token_kind)':', "':' after the parameter's name"));
        else
            TRY(lexer_next(lexer));
        TRY(lexer_word(lexer, ",)", &value));
        if (value.text.size == 0 && !value.quoted)
            return parser_error(parser, value.start, "parameter '%s' has no value", key.text.chars);
        if (strcmp(key.text.chars, "instance") == 0) {
            plugin->instance = value.text;
            continue;
        }
        struct wire_parameter *parameter = ARRAY_ADD(&scenario->parameters);
        if (parameter == NULL)
            return error_no_memory();
        *parameter = (struct wire_parameter){key.text.offset, value.text.offset};
        plugin->parameters.count++;
    }
    return NULL;
}

static bool same_instance(const struct scenario *scenario, const struct plugin *a,
                          const struct plugin *b)
{
    return a->instance.size != 0 && a->instance.offset == b->instance.offset &&
           a->name.offset == b->name.offset && a->directory.offset == b->directory.offset &&
           a->parameters.count == b->parameters.count &&
           (a->parameters.count == 0 ||
            memcmp(scenario->parameters.items + a->parameters.offset,
                   scenario->parameters.items + b->parameters.offset,
                   a->parameters.count * sizeof *scenario->parameters.items) == 0);
}

static struct error *parse_plugin(struct parser *parser, struct expression *node)
{
    struct scenario *scenario = parser->scenario;
    struct plugin plugin = {.directory = scenario->directory, .file = WIRE_NONE};
    struct word name;
    TRY(parse_open(parser, "plugin"));
    TRY(lexer_word(&parser->lexer, ",)", &name));
    if (!is_identifier(name.text.chars))
        return parser_error(parser, name.start,
                            "a plug-in's name is made of letters, digits and '_'");
    plugin.name = name.text;
    TRY(parse_parameters(parser, &plugin));
    TRY(parse_close(parser));
    // All uses of one instance name share the instance. Without a name, each use has its own.
    uint32_t found = MAP_NONE;
    uint64_t key = (uint64_t)plugin.name.offset << 32 | plugin.instance.offset;
    if (plugin.instance.size != 0)
        found = map_find(&scenario->plugin_map, key);
    if (found != MAP_NONE && !same_instance(scenario, &scenario->plugins.items[found], &plugin))
        return parser_error(parser, node->start,
                            "instance '%s' of plug-in '%s' was given other parameters before",
                            plugin.instance.chars, plugin.name.chars);
    if (found == MAP_NONE) {
        TRY(scenario_find_plugin(scenario, &plugin));
        if (plugin.file == WIRE_NONE)
            TRY(scenario_note_missing(
                scenario, &plugin,
                parser_error(parser, name.start,
                             "no file for plug-in '%s': give one with --plugin FILE or 'plugins:', "
                             "or put %s.so beside the scenario file or into a directory of "
                             "ORDEAL_PLUGIN_PATH",
                             plugin.name.chars, plugin.name.chars)));
        struct plugin *slot = ARRAY_ADD(&scenario->plugins);
        if (slot == NULL)
            return error_no_memory();
        *slot = plugin;
        found = (uint32_t)(scenario->plugins.count - 1);
        if (plugin.instance.size != 0)
            TRY(map_put(&scenario->plugin_map, key, found));
    }
    node->number = found;
    return NULL;
}

static struct error *compile_plugin(struct codegen *codegen, const struct expression *node)
{
    return codegen_emit(
        codegen, node, 0, 1,
        (struct wire_instruction){.op = WIRE_OP_PLUGIN, .b = (uint32_t)node->number});
}

const struct trigger_kind trigger_plugin = {
    .about =
        {
            .name = "plugin",
            .syntax = "plugin(NAME[, KEY: VALUE]...)",
            .summary = "a trigger of your own, in C",
            .description =
                "Asks trigger NAME of a shared object made with ordeal.h: the file given with "
                "--plugin or 'plugins:' whose name without .so is NAME, or NAME.so beside the "
                "scenario file or in a directory of ORDEAL_PLUGIN_PATH. KEYs and VALUEs are handed "
                "to its init. Each plugin(...) has its own state, unless 'instance: LABEL' gives "
                "several the same label.",
            .example = "read=-1/EIO when plugin(odd_size, above: 4096)",
        },
    .parse = parse_plugin,
    .compile = compile_plugin,
    .sees_calls = true,
};
