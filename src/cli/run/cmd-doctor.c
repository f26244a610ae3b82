// SPDX-License-Identifier: GPL-3.0-or-later
// ordeal doctor: says what this machine allows, and how to get the rest.
#include "cli/registry.h"

#include "base/cleanup.h"
#include "cli/run/machine.h"
#include "report/json.h"

#include <string.h>

#define EXIT_MISSING 1

struct settings {
    bool json;
};

static const struct option options[] = {
    {"json", 0, OPTION_FLAG, NULL, "print as JSON", offsetof(struct settings, json)},
};

static struct error *put_text(struct buffer *text, const struct machine_check *check,
                              const char *reason)
{
    TRY(buffer_printf(text, "%-4s %-36s %s\n", reason == NULL ? "yes" : "NO", check->what,
                      check->use));
    if (reason == NULL)
        return NULL;
    TRY(buffer_printf(text, "     "));
    TRY(help_wrap(text, reason, 5, 5));
    TRY(buffer_printf(text, "     to get it: "));
    return help_wrap(text, check->remedy, 16, 16);
}

static void add_json(struct json_builder *builder, json_t *root, const struct machine_check *check,
                     const char *reason)
{
    json_t *entry = json_add_object(builder, root, NULL);
    json_add_string(builder, entry, "check", check->id);
    json_add_string(builder, entry, "what", check->what);
    json_add_string(builder, entry, "use", check->use);
    json_add_bool(builder, entry, "available", reason == NULL);
    json_add_bool(builder, entry, "required", check->required);
    if (reason == NULL)
        return;
    json_add_string(builder, entry, "reason", reason);
    json_add_string(builder, entry, "remedy", check->remedy);
}

static struct error *run(const void *data, char **operands, int *ret_status)
{
    const struct settings *settings = data;
    _cleanup_(buffer_deinit) struct buffer text = {0};
    _cleanup_(json_release) json_t *root = json_array();
    struct json_builder builder = {.failed = root == NULL};
    size_t missing = 0;
    for (size_t i = 0; i < machine_check_count; i++) {
        const struct machine_check *check = &machine_checks[i];
        struct error *found = check->check();
        const char *reason = found != NULL ? error_message(found) : NULL;
        missing += found != NULL;
        if (check->required && found != NULL)
            *ret_status = EXIT_CANNOT_RUN;
        add_json(&builder, root, check, reason);
        struct error *error = put_text(&text, check, reason);
        error_free(found);
        TRY(error);
    }
    if (*ret_status == 0 && missing != 0)
        *ret_status = EXIT_MISSING;
    if (settings->json) {
        _cleanup_(buffer_deinit) struct buffer json = {0};
        TRY(json_write(&builder, root, &json));
        return output_print(&json);
    }
    if (missing == 0)
        TRY(buffer_printf(&text, "\nEverything that Ordeal can do works here.\n"));
    else
        TRY(buffer_printf(&text, "\n%zu of %zu are missing.\n", missing, machine_check_count));
    return output_print(&text);
}

const struct command cmd_doctor = {
    .name = "doctor",
    .summary = "Say what this machine allows, and how to get the rest.",
    .operands = "",
    .details = "The exit status is 0 if everything works, 1 if something is missing, and 2 if\n"
               "nothing works without it.\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .settings_size = sizeof(struct settings),
    .without_mathematics = true,
    .run = run,
};
