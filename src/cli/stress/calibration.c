// SPDX-License-Identifier: GPL-3.0-or-later
// The file is JSON. It may have been written by anybody: each value is checked.
#include "cli/stress/calibration.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "cli/command.h"
#include "report/json.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define FILE_MOST 65536

static struct error *get_number(const char *path, const json_t *root, const char *key,
                                unsigned index, double *ret_number)
{
    const json_t *number = json_object_get(root, key);
    if (json_is_array(number))
        number = json_array_get(number, index);
    double value = json_number_value(number);
    if (!json_is_number(number) || !(value >= 0 && value <= 1e15))
        return error_new("%s is no calibration of ordeal stress: '%s' is missing or wrong", path,
                         key);
    *ret_number = value;
    return NULL;
}

static struct error *check_number(const char *path, const json_t *root, const char *key,
                                  double wanted)
{
    double number;
    TRY(get_number(path, root, key, 0, &number));
    return number == wanted
               ? NULL
               : error_new("%s was made for another load: %s %g, not %g; remove it to calibrate "
                           "again",
                           path, key, number, wanted);
}

static struct error *read_root(const char *path, const struct load_options *load,
                               const json_t *root, struct calibration *calibration)
{
    double units[STRESS_AREAS], memory, samples;
    TRY(check_number(path, root, "processes", load->members));
    TRY(check_number(path, root, "copies", load->copies));
    TRY(check_number(path, root, "megabytes", (double)load->megabytes));
    TRY(check_number(path, root, "function_seconds", clock_seconds(load->function_ns)));
    TRY(get_number(path, root, "memory", 0, &memory));
    TRY(get_number(path, root, "samples", 0, &samples));
    for (unsigned i = 0; i < STRESS_AREAS; i++) {
        TRY(get_number(path, root, "units", i, &units[i]));
        TRY(get_number(path, root, "low", i, &calibration->range.low[i]));
        TRY(get_number(path, root, "high", i, &calibration->range.high[i]));
        calibration->units[i] = (uint64_t)units[i];
    }
    calibration->memory = memory == MEASURE_REFERENCES ? MEASURE_REFERENCES : MEASURE_PAGES;
    calibration->samples = (size_t)samples;
    return NULL;
}

struct error *calibration_read(const char *path, const struct load_options *load, bool *ret_there,
                               struct calibration *ret_calibration)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    struct stat facts;
    json_error_t problem;
    *ret_there = false;
    if (stat(path, &facts) != 0)
        return errno == ENOENT ? NULL : error_from_errno(errno, "cannot read %s", path);
    TRY(buffer_read_regular(path, FILE_MOST, &text));
    if (text.size == 0)
        return NULL;
    _cleanup_(json_release) json_t *root = json_loadb(text.data, text.size, 0, &problem);
    if (!json_is_object(root))
        return error_new("%s is no calibration of ordeal stress: %s", path,
                         root == NULL ? problem.text : "no JSON object");
    struct calibration calibration;
    TRY(read_root(path, load, root, &calibration));
    *ret_calibration = calibration;
    *ret_there = true;
    return NULL;
}

static void add_range(struct json_builder *builder, json_t *root, const char *key,
                      const double values[STRESS_AREAS])
{
    json_t *list = json_add_array(builder, root, key);
    for (unsigned i = 0; i < STRESS_AREAS; i++)
        json_add_real(builder, list, NULL, values[i]);
}

struct error *calibration_write(const char *path, const struct load_options *load,
                                const struct calibration *calibration)
{
    struct json_builder builder = {0};
    _cleanup_(buffer_deinit) struct buffer text = {0};
    _cleanup_(output_close) struct output output = {.opened = -1};
    _cleanup_(json_release) json_t *root = json_object();
    if (root == NULL)
        return error_no_memory();
    json_add_integer(&builder, root, "processes", load->members);
    json_add_integer(&builder, root, "copies", load->copies);
    json_add_integer(&builder, root, "megabytes", load->megabytes);
    json_add_real(&builder, root, "function_seconds", clock_seconds(load->function_ns));
    json_add_integer(&builder, root, "memory", calibration->memory);
    json_add_integer(&builder, root, "samples", calibration->samples);
    json_t *units = json_add_array(&builder, root, "units");
    for (unsigned i = 0; i < STRESS_AREAS; i++)
        json_add_integer(&builder, units, NULL, calibration->units[i]);
    add_range(&builder, root, "low", calibration->range.low);
    add_range(&builder, root, "high", calibration->range.high);
    TRY(json_write(&builder, root, &text));
    TRY(output_open(path, -1, &output));
    return output_put(&output, &text);
}
