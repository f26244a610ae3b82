// SPDX-License-Identifier: GPL-3.0-or-later
// What specs mean, in words and as commands.
#include "injectors/state/internal.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/shell.h"
#include "injector/inputs.h"
#include "injector/reproduce.h"

#include <string.h>

uint32_t upsets_input_of(const char *spec)
{
    _cleanup_(state_fault_deinit) struct state_fault fault = {0};
    const struct source source = source_whole("fault", spec, strlen(spec));
    _cleanup_error_ struct error *error = state_fault_parse(&source, &fault);
    return error == NULL ? fault.input : 0;
}

struct error *upsets_describe(void *data, const char *fault, const struct injection *injection,
                              struct buffer *text)
{
    (void)data;
    // Of a spec, "register rax flip 3 at main+0x10".
    if (strncmp(fault, "register ", 9) == 0)
        fault += 9;
    int name = (int)strcspn(fault, " ");
    if (strstr(fault, " flip") != NULL)
        TRY(buffer_printf(text, "a bit of %.*s is flipped", name, fault));
    else if (strstr(fault, " zero") != NULL)
        TRY(buffer_printf(text, "%.*s is 0", name, fault));
    else if (strstr(fault, " set") != NULL)
        TRY(buffer_printf(text, "all bits of %.*s are 1", name, fault));
    else
        TRY(buffer_printf(text, "%.*s has another value", name, fault));
    return injection != NULL && injection->symbol != NULL
               ? buffer_printf(text, " in %s", injection->symbol)
               : NULL;
}

struct error *upsets_reproduce(void *data, const char *spec, uint64_t seed, uint64_t timeout_ns,
                               char **ret_command)
{
    const struct upsets *self = data;
    _cleanup_(buffer_deinit) struct buffer text = {0}, alone = {0};
    _cleanup_(state_fault_deinit) struct state_fault fault = {0};
    _cleanup_(words_deinit) struct words command = {0};
    const struct source source = source_whole("fault", spec, strlen(spec));
    struct injector_setup setup = self->setup;
    (void)seed;
    TRY(state_fault_parse(&source, &fault));
    if (parameters_value(self->setup.parameters, "program", NULL) != NULL ||
        (fault.input == 0 && inputs_count(setup.inputs) != 0))
        return NULL; // `ordeal run` looks for the place in the command's own program
    if (fault.input != 0) {
        TRY(inputs_get(setup.inputs, setup.command, fault.input - 1, &command, &setup.input));
        setup.command = &command;
        fault.input = 0;
        if (!upsets_runs_program(self, command.items[0]))
            return NULL;
    }
    TRY(state_fault_format(&fault, &alone));
    TRY(reproduce_put_place(&text, &setup));
    TRY(buffer_printf(&text, "ordeal run "));
    if (timeout_ns != 0)
        TRY(buffer_printf(&text, "--timeout %.3g ", clock_seconds(timeout_ns)));
    if (self->setup.sandbox != NULL)
        TRY(buffer_printf(&text, "--sandbox %s ", self->setup.sandbox));
    TRY(buffer_printf(&text, "--inject "));
    TRY(shell_put_word(&text, alone.data));
    TRY(buffer_printf(&text, " -- "));
    TRY(reproduce_put_command(&text, &setup));
    *ret_command = TAKE(text.data);
    return NULL;
}
