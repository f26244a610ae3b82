// SPDX-License-Identifier: GPL-3.0-or-later
// ordeal coordinate: a server that decides for many runs at once.
#include "cli/registry.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "report/json.h"
#include "report/text.h"
#include "trial/coordinator.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

struct settings {
    struct option_list rules;
    const char *listen, *log;
    struct option_number seed;
    bool json;
};

#define FIELD(name) offsetof(struct settings, name)
static const struct option options[] = {
    {"listen", 'l', OPTION_TEXT, "ADDRESS",
     "HOST:PORT, or the path of a socket to make (127.0.0.1:0, which chooses a port)",
     FIELD(listen)},
    {"rule", 'r', OPTION_LIST, "RULE",
     "NAME [when EXPRESSION]: when remote(NAME) is answered with yes; may be given again, the "
     "first "
     "that says yes decides. Without any rule every answer is yes",
     FIELD(rules)},
    {"seed", 0, OPTION_NUMBER, "N", "start of the random decisions", FIELD(seed)},
    {"log", 0, OPTION_FILE, "FILE", "append what happens to this file instead of printing it",
     FIELD(log)},
    {"json", 0, OPTION_FLAG, NULL, "write what happens as JSON, one object a line", FIELD(json)},
};

struct event_log {
    int descriptor;
    bool json;
    struct error *error; // the first one; the server goes on
};

static struct error *put_text(struct buffer *text, const struct coordinator_event *event)
{
    TRY(text_put(text, event->node[0] != '\0' ? event->node : "somebody", SIZE_MAX, 0));
    switch (event->kind) {
    case COORDINATOR_JOINED:
        return buffer_printf(text, " joined\n");
    case COORDINATOR_LEFT:
        return buffer_printf(text, " left\n");
    case COORDINATOR_REFUSED:
        return buffer_printf(text, " was turned away: %s\n", event->text);
    case COORDINATOR_ANSWER:
        break;
    }
    TRY(buffer_printf(text, " (pid "));
    TRY(text_put(text, event->pid, SIZE_MAX, 0));
    TRY(buffer_printf(text, ") asked "));
    TRY(text_put(text, event->name, SIZE_MAX, 0));
    TRY(buffer_printf(text, " in "));
    TRY(text_put(text, event->function, SIZE_MAX, 0));
    TRY(buffer_printf(text, ", its %llu. of %llu: %s\n", (unsigned long long)event->node_count,
                      (unsigned long long)event->count, event->yes ? "yes" : "no"));
    return NULL;
}

static struct error *put_json(struct buffer *text, const struct coordinator_event *event)
{
    static const char *const kinds[] = {"joined", "left", "answer", "refused"};
    _cleanup_(json_release) json_t *root = json_object();
    struct json_builder builder = {.failed = root == NULL};
    json_add_string(&builder, root, "event", kinds[event->kind]);
    json_add_string(&builder, root, "node", event->node);
    if (event->kind == COORDINATOR_REFUSED)
        json_add_string(&builder, root, "text", event->text);
    if (event->kind == COORDINATOR_ANSWER) {
        json_add_string(&builder, root, "pid", event->pid);
        json_add_string(&builder, root, "name", event->name);
        json_add_string(&builder, root, "function", event->function);
        json_add_integer(&builder, root, "count", event->count);
        json_add_integer(&builder, root, "node_count", event->node_count);
        json_add_bool(&builder, root, "yes", event->yes);
        if (event->rule != NULL)
            json_add_string(&builder, root, "rule", event->rule);
    }
    return json_write_line(&builder, root, text);
}

static void log_event(void *data, const struct coordinator_event *event)
{
    struct event_log *log = data;
    _cleanup_(buffer_deinit) struct buffer text = {0};
    struct error *error = log->json ? put_json(&text, event) : put_text(&text, event);
    if (error == NULL)
        error = file_write(log->descriptor, "the log", &text);
    if (log->error == NULL)
        log->error = error;
    else
        error_free(error);
}

// This must be printed first: whoever started us waits for the address.
static struct error *say_start(bool json, const char *address, uint64_t seed)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    if (json) {
        _cleanup_(json_release) json_t *root = json_object();
        struct json_builder builder = {.failed = root == NULL};
        json_add_string(&builder, root, "event", "listening");
        json_add_string(&builder, root, "address", address);
        json_add_integer(&builder, root, "seed", seed);
        TRY(json_write_line(&builder, root, &text));
    } else {
        TRY(buffer_printf(&text, "listening on %s\nseed %llu\n", address,
                          (unsigned long long)seed));
    }
    return output_print(&text);
}

static struct error *say_end(bool json, const struct coordinator_totals *totals)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    if (json) {
        _cleanup_(json_release) json_t *root = json_object();
        struct json_builder builder = {.failed = root == NULL};
        json_add_string(&builder, root, "event", "stopped");
        json_add_integer(&builder, root, "nodes", totals->nodes);
        json_add_integer(&builder, root, "questions", totals->questions);
        json_add_integer(&builder, root, "yes", totals->yes);
        TRY(json_write_line(&builder, root, &text));
    } else {
        TRY(buffer_printf(&text, "%llu nodes asked %llu times; %llu answers were yes\n",
                          (unsigned long long)totals->nodes, (unsigned long long)totals->questions,
                          (unsigned long long)totals->yes));
    }
    return output_print(&text);
}

// A descriptor that becomes readable when a signal asks us to stop.
static struct error *stop_descriptor(int *ret_descriptor)
{
    sigset_t stopping;
    sigemptyset(&stopping);
    sigaddset(&stopping, SIGINT);
    sigaddset(&stopping, SIGTERM);
    sigaddset(&stopping, SIGHUP);
    if (sigprocmask(SIG_BLOCK, &stopping, NULL) < 0)
        return error_from_errno(errno, "cannot block signals");
    int descriptor = signalfd(-1, &stopping, SFD_CLOEXEC | SFD_NONBLOCK);
    if (descriptor < 0)
        return error_from_errno(errno, "cannot wait for signals");
    *ret_descriptor = descriptor;
    return NULL;
}

static struct error *serve(struct coordinator *coordinator, uint64_t seed, struct event_log *log)
{
    _cleanup_close_ int stop = -1;
    TRY(stop_descriptor(&stop));
    char address[ADDRESS_TEXT];
    coordinator_address(coordinator, address);
    TRY(say_start(log->json, address, seed));
    signal(SIGPIPE, SIG_IGN);
    TRY(coordinator_serve(coordinator, stop));
    struct coordinator_totals totals = coordinator_totals(coordinator);
    TRY(say_end(log->json, &totals));
    return TAKE(log->error);
}

static void close_coordinator(struct coordinator **coordinator)
{
    coordinator_close(*coordinator);
}

static struct error *run(const void *data, char **operands, int *ret_status)
{
    const struct settings *settings = data;
    size_t count = settings->rules.entries.count;
    _cleanup_free_ const char **rules = calloc(count + 1, sizeof *rules);
    if (rules == NULL)
        return error_no_memory();
    for (size_t i = 0; i < count; i++)
        rules[i] = settings->rules.entries.items[i].value;
    _cleanup_close_ int file = -1;
    if (settings->log != NULL) {
        file = open(settings->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        if (file < 0)
            return error_from_errno(errno, "cannot write %s", settings->log);
    }
    struct event_log log = {.descriptor = file >= 0 ? file : STDOUT_FILENO, .json = settings->json};
    struct coordinator_options coordinator_options = {
        .address = settings->listen != NULL ? settings->listen : "127.0.0.1:0",
        .rules = rules,
        .rule_count = count,
        .seed = settings->seed.value,
        .event = log_event,
        .data = &log,
    };
    if (!settings->seed.given)
        TRY(random_seed(&coordinator_options.seed));
    _cleanup_(close_coordinator) struct coordinator *coordinator = NULL;
    TRY(coordinator_open(&coordinator_options, &coordinator));
    struct error *error = serve(coordinator, coordinator_options.seed, &log);
    error_free(log.error);
    return error;
}

const struct command cmd_coordinate = {
    .name = "coordinate",
    .summary =
        "Decide about faults of runs on many nodes: answers remote(NAME) until it is stopped.",
    .operands = "",
    .details = "  ordeal coordinate --listen 0.0.0.0:7777 --rule 'disk when count in 10..12' \\\n"
               "      --rule 'net when turn and node_count > 3'\n"
               "  ordeal run --coordinator HOST:7777 --node db1 -i 'write=-1/EIO when "
               "remote(disk)' -- ...\n"
               "\n"
               "An expression is made of count, node_count, nodes, node(\"GLOB\"), turn, once, "
               "random(P),\n"
               "function(\"GLOB\"), arg(N), occurrence, stack(\"GLOB\"), with and, or, not, "
               "comparisons and\n"
               "'in A..B+STEP'. See ordeal-coordinate(1).\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .settings_size = sizeof(struct settings),
    .run = run,
};
