// SPDX-License-Identifier: GPL-3.0-or-later
// ordeal trace: what a command does that others can notice, and how two such traces differ.
#include "cli/registry.h"

#include "base/cleanup.h"
#include "observe/trace.h"
#include "report/trace/trace.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct settings {
    const char *output;
    bool json, diff, real;
};

#define FIELD(name) offsetof(struct settings, name)
static const struct option options[] = {
    {"output", 'o', OPTION_FILE, "FILE", "write the trace to this file instead of stderr",
     FIELD(output)},
    {"real", 0, OPTION_FLAG, NULL,
     "let the command see the system's clocks, process numbers, random numbers and addresses",
     FIELD(real)},
    {"json", 0, OPTION_FLAG, NULL, "write JSON lines", FIELD(json)},
    {"diff", 'd', OPTION_FLAG, NULL,
     "do not run anything: say how two trace files differ; exit status 1 if they do", FIELD(diff)},
};

static struct error *compare(const struct settings *settings, char **operands, int *ret_status)
{
    _cleanup_(trace_deinit) struct trace first = {0}, second = {0};
    _cleanup_(trace_differences_deinit) struct trace_differences differences = {0};
    _cleanup_(buffer_deinit) struct buffer text = {0};
    if (operands[1] == NULL || operands[2] != NULL)
        return error_new("--diff needs two trace files");
    TRY(trace_read(operands[0], &first));
    TRY(trace_read(operands[1], &second));
    TRY(trace_compare(&first, &second, &differences));
    TRY(settings->json ? report_trace_differences_json(&differences, &text)
                       : report_trace_differences(&differences, &text));
    *ret_status = differences.list.count != 0;
    _cleanup_(output_close) struct output output;
    TRY(output_open(settings->output, STDOUT_FILENO, &output));
    return output_put(&output, &text);
}

static struct error *run(const void *data, char **operands, int *ret_status)
{
    const struct settings *settings = data;
    if (settings->diff)
        return compare(settings, operands, ret_status);
    _cleanup_(output_close) struct output output;
    TRY(output_open(settings->output, STDERR_FILENO, &output));
    _cleanup_(trace_deinit) struct trace trace = {0};
    _cleanup_(buffer_deinit) struct buffer text = {0};
    const struct trace_options wanted = {
        .command = operands, .environment = environ, .real = settings->real};
    int status;
    TRY(trace_record(&wanted, &trace, &status));
    TRY(settings->json ? report_trace_json(&trace, &text) : trace_print(&trace, &text));
    *ret_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return output_put(&output, &text);
}

const struct command cmd_trace = {
    .name = "trace",
    .summary = "List what a command does that other processes can notice, or compare two lists.",
    .operands = "[--] COMMAND [ARGUMENT]... | --diff FILE FILE",
    .details = "The list has one line for each visible system call, grouped by process. The exit "
               "status is\n"
               "the command's own: 128 plus the signal's number if one killed it, 2 if it could "
               "not be run.\n"
               "\n"
               "  ordeal trace -o good -- gzip -k file\n"
               "  ordeal trace --diff good bad\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .settings_size = sizeof(struct settings),
    .least = 1,
    .most = UINT32_MAX,
    .command_follows = true,
    .without_mathematics = true,
    .run = run,
};
