// SPDX-License-Identifier: GPL-3.0-or-later
// ordeal load: makes a machine work, by processor, memory and files in given proportions.
#include "cli/registry.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/timeouts.h"
#include "cli/stress/load-options.h"
#include "report/json.h"

#include <poll.h>

#define STATUS_FAILED 1

struct settings {
    struct load_settings load;
    const char *tell;
    bool json, quiet;
};

static const struct option options[] = {
    LOAD_OPTIONS(struct settings, load),
    {"copies", 'c', OPTION_NUMBER, "N",
     "copies of each process, which do the same and are compared after each function; 1 if it is "
     "not given",
     offsetof(struct settings, load.copies)},
    {"tell", 0, OPTION_FILE, "FILE",
     "keep in this file which processes run, what they do, and which memory they use",
     offsetof(struct settings, tell)},
    {"json", 0, OPTION_FLAG, NULL, "print the report as JSON", offsetof(struct settings, json)},
    {"quiet", 'q', OPTION_FLAG, NULL, "print the sum of the results only",
     offsetof(struct settings, quiet)},
};

// ---- While it runs ----

static struct error *put_processes(const struct load_options *load,
                                   const struct load_status *status, struct buffer *text)
{
    for (unsigned m = 0; m < load->members; m++)
        for (unsigned c = 0; c < load->copies; c++) {
            int area = status->areas[m];
            if (status->processes[m][c] != 0)
                TRY(buffer_printf(
                    text,
                    "%d process %u copy %u does %s memory 0x%llx+0x%llx array "
                    "0x%llx+0x%zx\n",
                    (int)status->processes[m][c], m, c,
                    area >= 0 ? stress_area_names[area] : "nothing",
                    (unsigned long long)status->memory, (unsigned long long)status->memory_size,
                    (unsigned long long)status->array, WORK_ARRAY_WORDS * sizeof(uint64_t)));
        }
    return NULL;
}

static struct error *tell(const struct settings *settings, const struct load_options *load,
                          const struct load_status *status)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    _cleanup_(output_close) struct output output = {.opened = -1};
    if (settings->tell == NULL)
        return NULL;
    TRY(put_processes(load, status, &text));
    TRY(output_open(settings->tell, -1, &output));
    return output_put(&output, &text);
}

static struct error *wait_for_end(const struct settings *settings, const struct load_options *load,
                                  struct load *running, int signals)
{
    struct pollfd fd = {signals, POLLIN, 0};
    uint64_t tell_ns = 0;
    while (!load_has_ended(running)) {
        if (poll(&fd, 1, clock_poll_ms(STRESS_TICK_NS)) > 0)
            return error_new("interrupted");
        if (!running->status->started || clock_ns() < tell_ns)
            continue;
        TRY(tell(settings, load, running->status));
        tell_ns = clock_ns() + STRESS_SAMPLE_PAUSE_NS;
    }
    return load_trouble(running);
}

// ---- The report ----

static struct error *put_text(const struct settings *settings, const struct load_options *load,
                              const struct load_status *status, struct buffer *text)
{
    if (settings->quiet)
        return status->failed ? NULL
                              : buffer_printf(text, "%016llx\n", (unsigned long long)status->sum);
    TRY(load_options_put(load, text));
    TRY(buffer_printf(text, "\nunits of work: %llu/%llu/%llu\n",
                      (unsigned long long)status->units[0], (unsigned long long)status->units[1],
                      (unsigned long long)status->units[2]));
    if (load->copies != 1)
        TRY(buffer_printf(
            text, "errors: %llu copies differed, %llu died, %llu hung; %llu replaced\n",
            (unsigned long long)status->errors[LOAD_DIFFERS],
            (unsigned long long)status->errors[LOAD_DIED],
            (unsigned long long)status->errors[LOAD_HUNG], (unsigned long long)status->repaired));
    TRY(buffer_printf(text, "%llu functions in %.3f s", (unsigned long long)status->functions,
                      clock_seconds(status->elapsed_ns)));
    return status->failed
               ? buffer_printf(text, ", then %s\n",
                               load->copies == 1 ? "a process died"
                                                 : "the copies of a process had no majority")
               : buffer_printf(text, ", sum %016llx\n", (unsigned long long)status->sum);
}

static struct error *put_json(const struct load_options *load, const struct load_status *status,
                              struct buffer *text)
{
    struct json_builder builder = {0};
    _cleanup_(json_release) json_t *root = json_object();
    if (root == NULL)
        return error_no_memory();
    json_add_integer(&builder, root, "processes", load->members);
    json_add_integer(&builder, root, "copies", load->copies);
    json_add_integer(&builder, root, "seed", load->seed);
    json_t *units = json_add_object(&builder, root, "units");
    for (unsigned i = 0; i < STRESS_AREAS; i++)
        json_add_integer(&builder, units, stress_area_names[i], status->units[i]);
    json_t *errors = json_add_object(&builder, root, "errors");
    for (unsigned i = 0; i < LOAD_ERRORS; i++)
        json_add_integer(&builder, errors, load_error_names[i], status->errors[i]);
    json_add_integer(&builder, root, "replaced", status->repaired);
    json_add_integer(&builder, root, "functions", status->functions);
    json_add_real(&builder, root, "seconds", clock_seconds(status->elapsed_ns));
    json_add_bool(&builder, root, "failed", status->failed);
    if (!status->failed)
        json_add_format(&builder, root, "sum", "%016llx", (unsigned long long)status->sum);
    return json_write_line(&builder, root, text);
}

static struct error *run(const void *data, char **operands, int *ret_status)
{
    const struct settings *settings = data;
    _cleanup_(buffer_deinit) struct buffer text = {0};
    _cleanup_close_ int signals = -1;
    struct load_options load;
    struct load running;
    (void)operands;
    if (settings->json && settings->quiet)
        return error_new("either --json or --quiet");
    TRY(load_options_read(&settings->load, 1, &load));
    TRY(load_options_signals(&signals));
    TRY(load_start(&load, &running));
    struct error *error = tell(settings, &load, running.status); // a file that cannot be written
    if (error == NULL)
        error = wait_for_end(settings, &load, &running, signals);
    if (error == NULL)
        error = settings->json ? put_json(&load, running.status, &text)
                               : put_text(settings, &load, running.status, &text);
    if (error == NULL)
        error = tell(settings, &load, running.status);
    *ret_status = running.status->failed ? STATUS_FAILED : 0;
    load_end(&running);
    return error != NULL ? error : output_print(&text);
}

const struct command cmd_load = {
    .name = "load",
    .summary = "Make the machine work: processor, memory and files in given proportions.",
    .operands = "",
    .details = "Processes do functions that use one area each, and pass data from one to the next. "
               "What they\ncompute depends on the options alone, so its sum is the same unless a "
               "fault has changed it.\n"
               "\n"
               "  ordeal load --mix 90/5/5 --duration 1m\n"
               "  ordeal load --copies 3 --intensity 100-20\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .settings_size = sizeof(struct settings),
    .run = run,
};
