// SPDX-License-Identifier: GPL-3.0-or-later
// A command of the tool: one cmd-VERB.c with one descriptor, and one line in registry.c. Option
// parsing, --help, the synopsis and shell completion all follow from the descriptor.
#ifndef ORDEAL_CLI_COMMAND_H
#define ORDEAL_CLI_COMMAND_H

#include "base/array.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXIT_CANNOT_RUN 2

enum option_kind {
    OPTION_FLAG,    // bool
    OPTION_TEXT,    // const char *
    OPTION_FILE,    // const char *, completed as a file name
    OPTION_NUMBER,  // struct option_number
    OPTION_SECONDS, // uint64_t nanoseconds; "2", "0.5", "500ms", "1m"
    OPTION_LIST,    // struct option_list, may be given again; order is kept across options that
                    // share the field
    OPTION_FILE_LIST,
    OPTION_FLAG_LIST, // likewise, without a value
};

struct option {
    const char *name; // without --
    char letter;      // or 0
    enum option_kind kind;
    const char *value; // what the help calls the value; NULL: the option takes none
    const char *help;
    size_t field; // offset in the command's settings
};

struct option_number {
    bool given;
    uint64_t value;
};

struct option_entry {
    const char *option; // its name
    const char *value;  // or NULL
};
struct option_list {
    ARRAY(struct option_entry) entries;
};

struct command {
    const char *name;
    const char *summary;  // one line
    const char *operands; // what the synopsis shows after the options
    const char *details;  // paragraphs for --help, or NULL
    const struct option *options;
    size_t option_count;
    // Replaces these two if options come from several tables. Works like command_option().
    bool (*option_at)(size_t index, struct option *ret_option);
    size_t settings_size;
    unsigned least, most;     // number of operands
    bool environment_options; // also takes options from ENVIRONMENT_OPTIONS, before the others
    bool command_follows;     // the operands are a command with options of its own
    // The first word that is no option of ours, and all after it, are operands
    bool passes_options;
    bool keeps_separator;     // "--" stays among the operands, to separate what is before and after
    bool without_mathematics; // does not need mathematics.h; for other commands it is loaded first
    const char *const *words; // operands with a fixed spelling, ends with NULL; or NULL
    // Sets *ret_status to the exit status. The settings start zeroed; the caller frees them.
    _must_check_ struct error *(*run)(const void *settings, char **operands, int *ret_status);
};

extern const struct command *const commands[];        // ends with NULL
const struct command *command_find(const char *name); // or NULL
// Gets option `index`, in the order of the help. False if there are fewer.
bool command_option(const struct command *command, size_t index, struct option *ret_option);
// What the synopsis shows before the operands.
const char *command_synopsis(const struct command *command);

// Options for ordeal test and ordeal campaign that stand before those of the command line, with
// quotes and backslashes as for a shell. They are not read with --resume: the store has them.
#define ENVIRONMENT_OPTIONS "ORDEAL_OPTS"
// Parses them. The settings point into *ret_storage, which the caller frees last.
_must_check_ struct error *options_parse_environment(const struct command *command,
                                                     char *const *arguments, void *settings,
                                                     char **ret_storage);
// Parses what follows the verb. *ret_operands points into `arguments`, which is reordered. If
// --help is among the options, sets *ret_help and checks nothing else. Errors are for the user.
_must_check_ struct error *options_parse(const struct command *command, char **arguments,
                                         void *settings, char ***ret_operands, bool *ret_help);
void options_deinit(const struct command *command, void *settings);

// Appends the help text of the tool, or of one command.
_must_check_ struct error *help_overview(struct buffer *text);
_must_check_ struct error *help_command(const struct command *command, struct buffer *text);
// Appends words from column `indent`, wrapped to the page width. The cursor is at `column`.
_must_check_ struct error *help_wrap(struct buffer *text, const char *words, size_t indent,
                                     size_t column);

// The error "there is no command NAME; did you mean …?"
_must_check_ struct error *unknown_command(const char *name);

// The destination of a report: a file, or the descriptor `otherwise` if the path is NULL. It is
// opened before the work starts, so that no work is done in vain. The old content of a file stays
// until there is new content.
struct output {
    int descriptor, opened; // `opened` is -1 if the descriptor is not ours
    const char *name;
};
_must_check_ struct error *output_open(const char *path, int otherwise, struct output *ret_output);
_must_check_ struct error *output_put(struct output *output, const struct buffer *text);
bool output_is_same(const struct output *a, const struct output *b); // both are the same file
void output_close(struct output *output);

// Prints a text on standard output.
_must_check_ struct error *output_print(const struct buffer *text);
// A random seed for commands without --seed. It is short enough to type.
_must_check_ struct error *random_seed(uint64_t *ret_seed);
// Whether to use colours on this descriptor.
bool output_colour(int descriptor);

#endif
