// SPDX-License-Identifier: GPL-3.0-or-later
// Writes the parts of a shell command line that repeat a shot: where it runs, variables, command.
#include "injector/reproduce.h"

#include "base/cleanup.h"
#include "base/duration.h"
#include "base/secrets.h"
#include "store/spec.h"

#include <string.h>

// With more variables than this, the environment is somebody else's, not a few settings of the
// workload. Then none is written.
#define MOST_VARIABLES 8

// Shells set these themselves for every command.
static bool is_of_shell(const char *variable)
{
    static const char *const names[] = {"_=", "PWD=", "OLDPWD=", "SHLVL="};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(variable, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static bool is_own(const char *variable)
{
    if (is_of_shell(variable))
        return true;
    for (char **own = environ; own != NULL && *own != NULL; own++)
        if (strcmp(*own, variable) == 0)
            return true;
    return false;
}

static struct error *put_variable(struct buffer *text, const char *variable)
{
    size_t name = strcspn(variable, "=");
    TRY(buffer_printf(text, "%.*s=", (int)name, variable));
    if (secrets_has(variable, name))
        TRY(buffer_printf(text, "\"$%.*s\"", (int)name, variable));
    else
        TRY(secrets_put_shell_word(text, variable + name + 1));
    return buffer_append(text, " ", 1);
}

// Whether a shell accepts this as a variable's name.
static bool is_name(const char *variable)
{
    size_t size =
        strspn(variable, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
    return size != 0 && variable[size] == '=' && (variable[0] < '0' || variable[0] > '9');
}

static struct error *put_variables(struct buffer *text, const struct injector_setup *setup)
{
    size_t count = 0;
    for (size_t i = 0; i < setup->environment->count; i++)
        count += !is_own(setup->environment->items[i]);
    for (size_t i = 0; count <= MOST_VARIABLES && i < setup->environment->count; i++) {
        const char *variable = setup->environment->items[i];
        if (!is_own(variable) && is_name(variable))
            TRY(put_variable(text, variable));
    }
    return NULL;
}

struct error *reproduce_put_place(struct buffer *text, const struct injector_setup *setup)
{
    TRY(buffer_printf(text, "cd "));
    TRY(secrets_put_shell_word(text, setup->directory));
    TRY(buffer_printf(text, " && "));
    return put_variables(text, setup);
}

struct error *reproduce_put_run(struct buffer *text, const struct injector_setup *setup,
                                uint64_t timeout_ns)
{
    TRY(reproduce_put_place(text, setup));
    TRY(buffer_printf(text, "ordeal run "));
    if (setup->sandbox != NULL)
        TRY(buffer_printf(text, "--sandbox %s ", setup->sandbox));
    if (timeout_ns == 0)
        return NULL;
    TRY(buffer_printf(text, "-t "));
    TRY(duration_put_patience(text, timeout_ns));
    return buffer_append(text, " ", 1);
}

struct error *reproduce_put_rules(struct buffer *text, const char *spec)
{
    size_t size;
    const char *part;
    for (size_t i = 0; (part = spec_part(spec, i, &size)) != NULL; i++) {
        _cleanup_free_ char *rule = strndup(part, size);
        if (rule == NULL)
            return error_no_memory();
        TRY(buffer_printf(text, "%s--inject ", i != 0 ? " " : ""));
        TRY(secrets_put_shell_word(text, rule));
    }
    return NULL;
}

struct error *reproduce_put_command(struct buffer *text, const struct injector_setup *setup)
{
    for (size_t i = 0; i < setup->command->count; i++) {
        TRY(buffer_append(text, " ", i != 0));
        TRY(secrets_put_shell_word(text, setup->command->items[i]));
    }
    if (setup->input == NULL)
        return buffer_printf(text, " </dev/null");
    TRY(buffer_printf(text, " <"));
    return secrets_put_shell_word(text, setup->input);
}
