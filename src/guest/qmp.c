// SPDX-License-Identifier: GPL-3.0-or-later
// QEMU's machine protocol: one JSON object a line.
#include "guest/qmp.h"

#include "base/cleanup.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static void release(json_t **value)
{
    json_decref(*value);
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

static void take_event(struct guest_events *events, const char *name, const json_t *data)
{
    if (strcmp(name, "SHUTDOWN") == 0) {
        events->shutdown = true;
        events->by_guest = json_is_true(json_object_get(data, "guest"));
        snprintf(events->reason, sizeof events->reason, "%s", text_of(data, "reason"));
    }
    if (strcmp(name, "MIGRATION") == 0)
        snprintf(events->migration, sizeof events->migration, "%s", text_of(data, "status"));
    events->panicked |= strcmp(name, "GUEST_PANICKED") == 0;
    if (strcmp(name, "BLOCK_IO_ERROR") == 0)
        events->no_space |= json_is_true(json_object_get(data, "nospace"));
}

static void take_line(struct guest_qmp *qmp, const char *line, size_t size)
{
    _cleanup_(release) json_t *object = json_loadb(line, size, 0, NULL);
    const char *event = text_of(object, "event");
    if (*event != '\0') {
        take_event(&qmp->events, event, json_object_get(object, "data"));
        return;
    }
    const json_t *error = json_object_get(object, "error");
    if (error == NULL && json_object_get(object, "return") == NULL)
        return;
    qmp->answers++;
    snprintf(qmp->answer_error, sizeof qmp->answer_error, "%s", text_of(error, "desc"));
    snprintf(qmp->answer_text, sizeof qmp->answer_text, "%s", text_of(object, "return"));
}

struct error *guest_qmp_take(struct guest_qmp *qmp)
{
    TRY(guest_link_receive(&qmp->link));
    size_t used = 0;
    struct buffer *in = &qmp->link.in;
    for (const char *end;
         used < in->size && (end = memchr(in->data + used, '\n', in->size - used)) != NULL;) {
        size_t size = (size_t)(end - (in->data + used));
        take_line(qmp, in->data + used, size);
        used += size + 1;
    }
    if (used != 0)
        guest_link_drop(&qmp->link, used);
    return NULL;
}

static struct error *ask(struct guest_qmp *qmp, const char *command, const char *arguments,
                         int descriptor, uint64_t deadline_ns)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    unsigned before = qmp->answers;
    bool in_time = true;
    TRY(buffer_printf(&text, "{\"execute\":\"%s\",\"arguments\":%s}\n", command, arguments));
    TRY(guest_link_send_with(&qmp->link, text.data, text.size, descriptor));
    while (qmp->answers == before && in_time) {
        TRY(guest_link_wait(&qmp->link, deadline_ns, &in_time));
        TRY(guest_qmp_take(qmp));
    }
    if (qmp->answers == before)
        return error_new("QEMU did not answer '%s' in time", command);
    return *qmp->answer_error == '\0'
               ? NULL
               : error_new("QEMU refuses '%s': %s", command, qmp->answer_error);
}

struct error *guest_qmp_command_with(struct guest_qmp *qmp, const char *command,
                                     const char *arguments, uint64_t deadline_ns)
{
    return ask(qmp, command, arguments, -1, deadline_ns);
}

struct error *guest_qmp_give(struct guest_qmp *qmp, int descriptor, const char *name,
                             uint64_t deadline_ns)
{
    char arguments[64];
    snprintf(arguments, sizeof arguments, "{\"fdname\":\"%s\"}", name);
    return ask(qmp, "getfd", arguments, descriptor, deadline_ns);
}

struct error *guest_qmp_command(struct guest_qmp *qmp, const char *command, uint64_t deadline_ns)
{
    return guest_qmp_command_with(qmp, command, "{}", deadline_ns);
}

struct error *guest_qmp_monitor(struct guest_qmp *qmp, const char *command, uint64_t deadline_ns)
{
    _cleanup_(buffer_deinit) struct buffer arguments = {0};
    TRY(buffer_printf(&arguments, "{\"command-line\":\"%s\"}", command));
    return guest_qmp_command_with(qmp, "human-monitor-command", arguments.data, deadline_ns);
}

struct error *guest_qmp_start(struct guest_qmp *qmp, uint64_t deadline_ns)
{
    return guest_qmp_command(qmp, "qmp_capabilities", deadline_ns);
}
