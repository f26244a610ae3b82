// SPDX-License-Identifier: GPL-3.0-or-later
// Writes the help texts, from the commands' descriptors.
#include "cli/command.h"

#include "base/cleanup.h"

#include <string.h>

#define WIDTH  80
#define INDENT 30

struct error *help_overview(struct buffer *text)
{
    TRY(buffer_printf(text, "Usage: ordeal COMMAND [OPTION]... [ARGUMENT]...\n\n"
                            "Finds the error handling that a program lacks: makes its calls fail,"
                            "\none at a time, and says what breaks.\n\nCommands:\n"));
    for (size_t i = 0; commands[i] != NULL; i++) {
        TRY(buffer_printf(text, "  %-12s ", commands[i]->name));
        TRY(help_wrap(text, commands[i]->summary, 15, 15));
    }
    TRY(buffer_printf(text,
                      "\n  -V, --version    print the version\n  -h, --help       print this\n\n"
                      "Example:\n"
                      "  ordeal run --inject 'read=-1/EIO when count == 1' -- wc -l /etc/passwd\n\n"
                      "'ordeal help COMMAND' says more about one.\n"));
    return *ORDEAL_REPORT_BUGS != '\0'
               ? buffer_printf(text, "Report bugs to " ORDEAL_REPORT_BUGS "\n")
               : NULL;
}

struct error *help_wrap(struct buffer *text, const char *words, size_t indent, size_t column)
{
    TRY(buffer_printf(text, "%*s", (int)(column < indent ? indent - column : 0), ""));
    column = indent;
    for (const char *word = words; *word != '\0';) {
        size_t size = strcspn(word, " ");
        if (column > indent && column + 1 + size > WIDTH) {
            TRY(buffer_printf(text, "\n%*s", (int)indent, ""));
            column = indent;
        }
        TRY(buffer_printf(text, "%s%.*s", column > indent ? " " : "", (int)size, word));
        column += size + (column > indent);
        word += size + strspn(word + size, " ");
    }
    return buffer_append(text, "\n", 1);
}

static struct error *put_option(struct buffer *text, const struct option *option)
{
    size_t start = text->size;
    if (option->letter != 0)
        TRY(buffer_printf(text, "  -%c, --%s", option->letter, option->name));
    else
        TRY(buffer_printf(text, "      --%s", option->name));
    if (option->value != NULL)
        TRY(buffer_printf(text, " %s", option->value));
    size_t column = text->size - start;
    if (column + 2 > INDENT) {
        TRY(buffer_append(text, "\n", 1));
        column = 0;
    }
    return help_wrap(text, option->help, INDENT, column);
}

struct error *help_command(const struct command *command, struct buffer *text)
{
    TRY(buffer_printf(text, "Usage: ordeal %s %s%s\n\n", command->name, command_synopsis(command),
                      command->operands));
    TRY(help_wrap(text, command->summary, 0, 0));
    if (command->details != NULL)
        TRY(buffer_printf(text, "\n%s", command->details));
    TRY(buffer_printf(text, "\nOptions:\n"));
    struct option option;
    for (size_t i = 0; command_option(command, i, &option); i++)
        TRY(put_option(text, &option));
    const struct option help = {.name = "help", .letter = 'h', .help = "print this"};
    return put_option(text, &help);
}
