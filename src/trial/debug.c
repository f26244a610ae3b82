// SPDX-License-Identifier: GPL-3.0-or-later
// Makes gdb's command line and environment. Neither gdb nor the shell that it starts programs with
// may load the runtime: that shell would be the trial's first process. So env(1), between the shell
// and the command, sets the environment.
#include "trial/debug.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "elf/object.h"
#include "wire/region.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct argument_list {
    ARRAY(char *) list;
};

void debug_list_free(char ***list)
{
    for (char **word = *list; word != NULL && *word != NULL; word++)
        free(*word);
    free(*list);
    *list = NULL;
}

static void argument_list_deinit(struct argument_list *words)
{
    for (size_t i = 0; i < words->list.count; i++)
        free(words->list.items[i]);
    ARRAY_DEINIT(&words->list);
}

__attribute__((format(printf, 2, 3))) static struct error *add(struct argument_list *words,
                                                               const char *format, ...)
{
    va_list arguments;
    char **slot = ARRAY_ADD(&words->list);
    if (slot == NULL)
        return error_no_memory();
    va_start(arguments, format);
    int size = vasprintf(slot, format, arguments);
    va_end(arguments);
    if (size < 0) {
        *slot = NULL;
        return error_no_memory();
    }
    return NULL;
}

// Hands over the arguments, ended by NULL.
static struct error *take(struct argument_list *words, char ***ret_list)
{
    if (ARRAY_ADD(&words->list) == NULL)
        return error_no_memory();
    *ret_list = words->list.items;
    words->list.items = NULL;
    words->list.count = words->list.room = 0;
    return NULL;
}

static bool is_ours(const char *variable)
{
    static const char *const names[] = {"LD_PRELOAD=", WIRE_ENVIRONMENT "=", "ASAN_OPTIONS="};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(variable, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

// Quotes for the shell only: gdb passes the wrapper on as it is.
static struct error *put_quoted(struct buffer *text, const char *word)
{
    TRY(buffer_append(text, " '", 2));
    for (; *word != '\0'; word++) {
        if (*word == '\n')
            return error_new("gdb cannot be given a value with a line break: %s", word);
        TRY(*word == '\'' ? buffer_append(text, "'\\''", 4) : buffer_append(text, word, 1));
    }
    return buffer_append(text, "'", 1);
}

// The redirection of stdin stands here because the shell takes it anywhere, while "run <FILE" would
// replace the arguments.
static struct error *put_wrapper(const struct runtime_session *session, const char *input,
                                 struct buffer *text)
{
    bool lines = false, columns = false;
    TRY(buffer_printf(text, "set exec-wrapper env"));
    for (char *const *entry = runtime_session_environment(session); *entry != NULL; entry++) {
        lines |= strncmp(*entry, "LINES=", strlen("LINES=")) == 0;
        columns |= strncmp(*entry, "COLUMNS=", strlen("COLUMNS=")) == 0;
    }
    // gdb sets these in every program.
    TRY(buffer_printf(text, "%s%s", lines ? "" : " -u LINES", columns ? "" : " -u COLUMNS"));
    for (char *const *entry = runtime_session_environment(session); *entry != NULL; entry++)
        if (is_ours(*entry))
            TRY(put_quoted(text, *entry));
    if (input == NULL)
        return NULL;
    TRY(buffer_printf(text, " <"));
    return put_quoted(text, input);
}

// Hides the runtime's frames in backtraces. gdb stops whenever one of several processes ends;
// go_on() continues the others until one of them stops for another reason. The character set lets
// paths be any bytes in every locale. A gdb without Python complains and goes on.
static const char helpers[] =
    "python exec(\""
    "if 'ANSI' in gdb.execute('show host-charset', to_string=True):\\n"
    "  gdb.execute('set host-charset ISO-8859-1')\\n"
    "def ours(f): return (gdb.solib_name(f.pc()) or '').endswith('/ordeal-runtime.so')\\n"
    "class Hide:\\n"
    "  name, priority, enabled = 'ordeal', 100, True\\n"
    "  def filter(self, frames): return (d for d in frames if not ours(d.inferior_frame()))\\n"
    "gdb.frame_filters['ordeal'] = Hide()\\n"
    "ends = []\\n"
    "gdb.events.exited.connect(lambda event: ends.append(True))\\n"
    "gdb.events.stop.connect(lambda event: ends.append(False))\\n"
    "def alive(): return [t for i in gdb.inferiors() if i.pid for t in i.threads()]\\n"
    "def go_on():\\n"
    "  while ends and ends[-1] and alive():\\n"
    "    alive()[0].switch()\\n"
    "    gdb.execute('continue')\\n"
    "\")";
static const char go_on[] = "python go_on()";
static const char select_caller[] = "python exec(\""
                                    "f = gdb.newest_frame() if alive() else None\\n"
                                    "while f and f.older() and ours(f): f = f.older()\\n"
                                    "if f: f.select()\\n"
                                    "else: print('It ended before the fault was reached.')\\n"
                                    "\")";

// At a software fault, takes the jump that the runtime's SIGTRAP handler would take: the four bytes
// after the breakpoint say where the faulty code begins. Drops this signal; the runtime handles the
// next ones itself.
static const char enter_fault[] =
    "python exec(\""
    "v = gdb.parse_and_eval\\n"
    "if alive() and v('$_siginfo.si_signo') == 5 and v('$_siginfo.si_code') == 128:\\n"
    "  gdb.execute('set $pc = $pc + 4 + *(int *)$pc')\\n"
    "  gdb.execute('queue-signal 0')\\n"
    "\")";

static struct error *add_each(struct argument_list *words, const char *const *commands,
                              size_t count)
{
    for (size_t i = 0; i < count; i++) {
        TRY(add(words, "-ex"));
        TRY(add(words, "%s", commands[i]));
    }
    return NULL;
}

static struct error *add_commands(const struct runtime_session *session,
                                  const struct debug_options *options, struct argument_list *words)
{
    // A child may be the one that gets the fault: gdb keeps all processes and lets all of them run.
    static const char *const always[] = {
        "set debuginfod enabled off",
        "set breakpoint pending on",
        "set confirm off",
        "set detach-on-fork off",
        "set schedule-multiple on",
        "set print thread-events off",
        "set print inferior-events off",
        // This command and the breakpoint below print much that nobody needs.
        "pipe handle SIGCHLD SIGPIPE SIGALRM nostop noprint pass | cat >/dev/null",
        helpers,
    };
    static const char *const call[] = {"pipe break ordeal_injection | cat >/dev/null", "run", go_on,
                                       select_caller};
    // SIGTRAP is passed only after "run": while gdb starts the program, it would pass on one that
    // nobody handles.
    static const char *const fault[] = {"run", go_on,
                                        "pipe handle SIGTRAP stop print pass | cat >/dev/null",
                                        enter_fault, select_caller};
    static const char *const show[] = {"backtrace", "frame"};
    static const char *const to_the_end[] = {"delete", "continue", go_on};
    static const char *const no_more[] = {
        "pipe handle SIGTRAP nostop noprint pass | cat >/dev/null"};
    _cleanup_(buffer_deinit) struct buffer wrapper = {0};
    TRY(put_wrapper(session, options->input, &wrapper));
    TRY(add(words, "-ex"));
    TRY(add(words, "%s", wrapper.data));
    TRY(add_each(words, always, sizeof always / sizeof *always));
    TRY(options->software_fault ? add_each(words, fault, sizeof fault / sizeof *fault)
                                : add_each(words, call, sizeof call / sizeof *call));
    TRY(add_each(words, show, sizeof show / sizeof *show));
    TRY(add_each(words, no_more, options->batch && options->software_fault ? 1 : 0));
    return add_each(words, to_the_end, options->batch ? sizeof to_the_end / sizeof *to_the_end : 0);
}

static struct error *find_gdb(void)
{
    _cleanup_(elf_program_deinit) struct elf_program program = {0};
    struct error *missing = elf_find_program("gdb", &program);
    if (missing == NULL)
        return NULL;
    error_free(missing);
    return error_new("gdb is not installed, or not in PATH");
}

struct error *debug_words(const struct runtime_session *session,
                          const struct debug_options *options, char ***ret_arguments,
                          char ***ret_environment)
{
    _cleanup_(argument_list_deinit) struct argument_list words = {0}, environment = {0};
    _cleanup_(elf_program_deinit) struct elf_program program = {0};
    _cleanup_(debug_list_free) char **arguments = NULL;
    TRY(find_gdb());
    TRY(elf_find_program(options->command[0], &program));
    TRY(add(&words, "gdb"));
    TRY(add(&words, "-quiet"));
    if (options->batch) {
        TRY(add(&words, "-batch"));
        TRY(add(&words, "-nx"));
    }
    TRY(add_commands(session, options, &words));
    TRY(add(&words, "--args"));
    // gdb needs the program that runs a script, the one named in its first line.
    if (program.script)
        TRY(add(&words, "%s", program.path));
    for (char *const *word = options->command; *word != NULL; word++)
        TRY(add(&words, "%s", *word));
    for (char *const *entry = runtime_session_environment(session); *entry != NULL; entry++)
        if (!is_ours(*entry) && strncmp(*entry, "SHELL=", strlen("SHELL=")) != 0)
            TRY(add(&environment, "%s", *entry));
    TRY(add(&environment, "SHELL=/bin/sh"));
    TRY(take(&words, &arguments));
    TRY(take(&environment, ret_environment));
    *ret_arguments = TAKE(arguments);
    return NULL;
}
