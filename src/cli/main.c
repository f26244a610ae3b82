// SPDX-License-Identifier: GPL-3.0-or-later
// The entry point: finds the command, parses its options, runs it, and prints errors.
#include "cli/command.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/secrets.h"
#include "cli/commit.h"
#include "cli/mathematics.h"
#include "report/text.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>

static struct error *print(struct error *error, struct buffer *text)
{
    if (error == NULL)
        error = output_print(text);
    buffer_deinit(text);
    return error;
}

static struct error *run_command(const struct command *command, char **arguments, int *ret_status)
{
    _cleanup_free_ void *settings =
        calloc(1, command->settings_size != 0 ? command->settings_size : 1);
    if (settings == NULL)
        return error_no_memory();
    char **operands = NULL;
    bool help = false;
    _cleanup_free_ char *storage = NULL;
    struct error *error = NULL;
    if (command->environment_options)
        error = options_parse_environment(command, arguments, settings, &storage);
    if (error == NULL)
        error = options_parse(command, arguments, settings, &operands, &help);
    if (error == NULL && help) {
        struct buffer text = {0};
        error = print(help_command(command, &text), &text);
    } else if (error == NULL && !command->without_mathematics) {
        error = mathematics_load();
    }
    if (error == NULL && !help)
        error = command->run(settings, operands, ret_status);
    options_deinit(command, settings);
    return error;
}

static struct error *put_version(struct buffer *text)
{
    TRY(buffer_printf(text, "ordeal %s", ORDEAL_VERSION));
    if (strcmp(CLI_COMMIT, ORDEAL_VERSION) != 0)
        TRY(buffer_printf(text, " (%s)", CLI_COMMIT));
    return buffer_append(text, "\n", 1);
}

static struct error *run(char **arguments, int *ret_status)
{
    struct buffer text = {0};
    const char *first = arguments[0];
    if (first == NULL)
        return error_new("no command is given; 'ordeal --help' lists the commands");
    if (strcmp(first, "--version") == 0 || strcmp(first, "-V") == 0)
        return print(put_version(&text), &text);
    if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0)
        return print(help_overview(&text), &text);
    if (first[0] == '-')
        return error_new("there is no option %s before the command; 'ordeal --help' says more",
                         first);
    const struct command *command = command_find(first);
    if (command == NULL)
        return unknown_command(first);
    return run_command(command, arguments + 1, ret_status);
}

static int run_and_tell(int count, char **arguments)
{
    int status = 0;
    if (count < 1)
        return EXIT_CANNOT_RUN;
    struct error *error = run(arguments + 1, &status);
    if (error == NULL)
        return status;
    const char *verb = count > 1 && command_find(arguments[1]) != NULL ? arguments[1] : NULL;
    struct buffer text = {0}, message = {0};
    struct error *second =
        secrets_put(&message, error_message(error), strlen(error_message(error)));
    if (second == NULL)
        second =
            buffer_printf(&text, "ordeal%s%s: ", verb != NULL ? " " : "", verb != NULL ? verb : "");
    if (second == NULL)
        second = text_put_lines(&text, message.size != 0 ? message.data : "");
    if (second == NULL)
        second = buffer_append(&text, "\n", 1);
    char short_of_memory[] = "ordeal: out of memory\n";
    const struct buffer last_words = {.data = short_of_memory, .size = strlen(short_of_memory)};
    struct error *third = file_write(STDERR_FILENO, "stderr", second == NULL ? &text : &last_words);
    error_free(second);
    error_free(third); // there is nowhere left to print it
    buffer_deinit(&text);
    buffer_deinit(&message);
    error_free(error);
    return EXIT_CANNOT_RUN;
}

// Ordeal itself runs where the stack is limited to less than it needs: on a stack of its own. The
// limit stays as it is, for the command is to have it.
#define STACK_NEEDED ((size_t)1 << 20)
#define STACK_OWN    ((size_t)8 << 20)

static bool is_stack_small(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < STACK_NEEDED;
}

static struct {
    int count, status;
    char **arguments;
    ucontext_t outer, inner;
} on_own_stack;

static void enter_own_stack(void)
{
    on_own_stack.status = run_and_tell(on_own_stack.count, on_own_stack.arguments);
}

static void give_threads_room(void)
{
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return;
    if (pthread_attr_setstacksize(&attributes, STACK_OWN) == 0)
        pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
}

int main(int count, char **arguments)
{
    if (!is_stack_small())
        return run_and_tell(count, arguments);
    give_threads_room();
    void *stack = mmap(NULL, STACK_OWN, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stack == MAP_FAILED || getcontext(&on_own_stack.inner) != 0)
        return run_and_tell(count, arguments);
    on_own_stack.count = count;
    on_own_stack.arguments = arguments;
    on_own_stack.inner.uc_stack = (stack_t){.ss_sp = stack, .ss_size = STACK_OWN};
    on_own_stack.inner.uc_link = &on_own_stack.outer;
    makecontext(&on_own_stack.inner, enter_own_stack, 0);
    if (swapcontext(&on_own_stack.outer, &on_own_stack.inner) != 0)
        return run_and_tell(count, arguments);
    return on_own_stack.status;
}
