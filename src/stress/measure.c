// SPDX-License-Identifier: GPL-3.0-or-later
// Samples come from /proc. Where the machine counts references of the caches (perf_event_open()),
// memory is measured by them; elsewhere by the pages that a copy refers to in a short time, since
// within a whole period it may refer to all it has, however often.
#include "stress/measure.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/timeouts.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

const char *const measure_memory_names[] = {"references of the last cache", "referenced pages"};

#define BLOCK 512.0

// ---- One process ----

// False: the process is gone, which is no error.
static bool read_proc(pid_t process, const char *name, char *text, size_t room)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)process, name);
    _cleanup_close_ int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = file >= 0 ? read(file, text, room - 1) : -1;
    text[size > 0 ? size : 0] = '\0';
    return size > 0;
}

// Processor time in ticks, with that of children which have ended. Fields are counted behind the
// name, which may have anything in it.
static bool read_ticks(pid_t process, uint64_t *ret_ticks)
{
    char text[1024];
    unsigned long times[4] = {0};
    if (!read_proc(process, "stat", text, sizeof text))
        return false;
    const char *rest = strrchr(text, ')');
    if (rest == NULL ||
        sscanf(rest + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %lu %lu", &times[0],
               &times[1], &times[2], &times[3]) != 4)
        return false;
    *ret_ticks = times[0] + times[1] + times[2] + times[3];
    return true;
}

static bool read_bytes(pid_t process, uint64_t *ret_bytes)
{
    char text[512];
    unsigned long long in, out;
    if (!read_proc(process, "io", text, sizeof text) ||
        sscanf(text, "rchar: %llu wchar: %llu", &in, &out) != 2)
        return false;
    *ret_bytes = in + out;
    return true;
}

static int open_counter(pid_t process)
{
    struct perf_event_attr attributes = {.type = PERF_TYPE_HARDWARE,
                                         .size = sizeof attributes,
                                         .config = PERF_COUNT_HW_CACHE_REFERENCES,
                                         .exclude_kernel = 1};
    return (int)syscall(SYS_perf_event_open, &attributes, process, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static bool read_counter(int counter, uint64_t *ret_references)
{
    return read(counter, ret_references, sizeof *ret_references) == sizeof *ret_references;
}

// Forgets which pages the process has referred to.
static bool forget_pages(pid_t process)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/clear_refs", (int)process);
    _cleanup_close_ int file = open(path, O_WRONLY | O_CLOEXEC);
    return file >= 0 && write(file, "1", 1) == 1;
}

static bool count_pages(pid_t process, uint64_t *ret_pages)
{
    char text[4096];
    unsigned long long kilobytes;
    if (!read_proc(process, "smaps_rollup", text, sizeof text))
        return false;
    const char *line = strstr(text, "\nReferenced:");
    if (line == NULL || sscanf(line, "\nReferenced: %llu", &kilobytes) != 1)
        return false;
    *ret_pages = kilobytes / 4;
    return true;
}

// ---- All of them ----

static void forget(struct measured *measured)
{
    if (measured->counter >= 0)
        close(measured->counter);
    *measured = (struct measured){.counter = -1};
}

static const struct measured *find(const struct measure *measure, pid_t process)
{
    for (size_t i = 0; i < measure->processes.count; i++)
        if (measure->processes.items[i].process == process)
            return &measure->processes.items[i];
    return NULL;
}

// False: it has ended.
static bool look_at(const struct measure *measure, pid_t process, const struct measured *before,
                    struct measured *ret_measured)
{
    struct measured now = {.process = process, .counter = before != NULL ? before->counter : -1};
    if (!read_ticks(process, &now.ticks) || !read_bytes(process, &now.bytes))
        return false;
    if (measure->memory == MEASURE_REFERENCES) {
        if (before == NULL)
            now.counter = open_counter(process);
        if (now.counter < 0 || !read_counter(now.counter, &now.references)) {
            if (before == NULL)
                forget(&now);
            return false;
        }
    }
    now.did_io = before != NULL && now.bytes > before->bytes;
    *ret_measured = now;
    return true;
}

// Pages per second that processes refer to: of those that do the same, one is looked at.
static double sample_pages(const struct measure *measure, const pid_list *processes)
{
    uint64_t pages, sum = 0, start = clock_ns();
    size_t looked_at = 0, wanted = 0;
    for (size_t i = 0; i < processes->count; i += measure->copies)
        forget_pages(processes->items[i]);
    clock_sleep(STRESS_PAGES_NS);
    double seconds = clock_seconds(clock_ns() - start);
    for (size_t i = 0; i < processes->count; i += measure->copies, wanted++)
        if (count_pages(processes->items[i], &pages)) {
            sum += pages;
            looked_at++;
        }
    return looked_at != 0
               ? (double)sum * (double)wanted * measure->copies / (double)looked_at / seconds
               : 0;
}

// A machine that does not tell these things would look idle.
static struct error *check_kernel(enum measure_memory memory)
{
    uint64_t number;
    pid_t self = getpid();
    if (!read_ticks(self, &number) || !read_bytes(self, &number))
        return error_new("the load cannot be measured: /proc/PID/stat or /proc/PID/io cannot be "
                         "read here");
    if (memory == MEASURE_PAGES && !(forget_pages(self) && count_pages(self, &number)))
        return error_new("the load on memory cannot be measured: there is no counter of cache "
                         "references here, and pages cannot be counted (/proc/PID/clear_refs, "
                         "/proc/PID/smaps_rollup)");
    return NULL;
}

static uint64_t own_time_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return clock_of(&time);
}

struct error *measure_open(unsigned copies, bool tree, struct measure *ret_measure)
{
    struct measure measure = {.copies = copies, .tree = tree};
    uint64_t references;
    int counter = open_counter(0);
    // A counter that a machine does not have may be there all the same, and never count.
    measure.memory = counter >= 0 && read_counter(counter, &references) && references != 0
                         ? MEASURE_REFERENCES
                         : MEASURE_PAGES;
    if (counter >= 0)
        close(counter);
    TRY(check_kernel(measure.memory));
    measure.processors = (double)sysconf(_SC_NPROCESSORS_ONLN);
    measure.last_ns = clock_ns();
    *ret_measure = measure;
    return NULL;
}

static void forget_all(struct measure *measure, const struct measure *kept)
{
    for (size_t i = 0; i < measure->processes.count; i++)
        if (kept == NULL || find(kept, measure->processes.items[i].process) == NULL)
            forget(&measure->processes.items[i]);
    ARRAY_DEINIT(&measure->processes);
}

void measure_close(struct measure *measure)
{
    forget_all(measure, NULL);
}

// What processes have used: the sum over them, now and before. In a tree, those that have come and
// gone belong to it, since others take over what they have used.
struct used {
    uint64_t ticks, bytes, references;
};
static void add(struct used *used, const struct measured *measured)
{
    used->ticks += measured->ticks;
    used->bytes += measured->bytes;
    used->references += measured->references;
}

static double grown(uint64_t now, uint64_t before)
{
    return now > before ? (double)(now - before) : 0;
}

static struct error *look_at_all(struct measure *measure, const pid_list *processes,
                                 struct used *now, struct used *before)
{
    struct measure next = {0};
    for (size_t i = 0; i < processes->count; i++) {
        struct measured measured;
        pid_t process = processes->items[i];
        const struct measured *old = process != 0 ? find(measure, process) : NULL;
        if (process == 0 || !look_at(measure, process, old, &measured))
            continue;
        struct measured *added = ARRAY_ADD(&next.processes);
        if (added == NULL) {
            ARRAY_DEINIT(&next.processes);
            return error_no_memory();
        }
        *added = measured;
        if (old != NULL || measure->tree)
            add(now, &measured);
        if (old != NULL && !measure->tree)
            add(before, old);
    }
    for (size_t i = 0; i < measure->processes.count && measure->tree; i++)
        add(before, &measure->processes.items[i]);
    forget_all(measure, &next);
    measure->processes = next.processes;
    return NULL;
}

struct error *measure_begin(struct measure *measure, const pid_list *processes)
{
    struct used now = {0}, before = {0};
    measure->last_ns = clock_ns();
    return look_at_all(measure, processes, &now, &before);
}

struct error *measure_take(struct measure *measure, const pid_list *processes,
                           struct stress_sample *ret_sample)
{
    uint64_t began_ns = own_time_ns();
    struct used used = {0}, before = {0};
    double pages = measure->memory == MEASURE_PAGES ? sample_pages(measure, processes) : 0;
    uint64_t time = clock_ns();
    double seconds = clock_seconds(time - measure->last_ns);
    measure->last_ns = time;
    TRY(look_at_all(measure, processes, &used, &before));
    double processor_s = grown(used.ticks, before.ticks) / (double)sysconf(_SC_CLK_TCK);
    *ret_sample = (struct stress_sample){
        .values = {[STRESS_CPU] = processor_s / seconds / measure->processors,
                   [STRESS_MEM] = measure->memory == MEASURE_PAGES
                                      ? pages
                                      : grown(used.references, before.references) / seconds,
                   [STRESS_IO] = grown(used.bytes, before.bytes) / BLOCK / seconds}};
    measure->spent_ns += own_time_ns() - began_ns;
    return NULL;
}

// ---- What is a lot ----

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

// By linear interpolation between the values next to it.
static double percentile(const double *sorted, size_t count, double share)
{
    double at = share * (double)(count - 1);
    size_t below = (size_t)at, above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (at - (double)below) * (sorted[above] - sorted[below]);
}

struct error *stress_samples_add(stress_samples *samples, const struct stress_sample *sample)
{
    struct stress_sample *added = ARRAY_ADD(samples);
    if (added == NULL)
        return error_no_memory();
    *added = *sample;
    return NULL;
}

struct error *stress_range_of(const stress_samples *samples, struct stress_range *ret_range)
{
    if (samples->count == 0)
        return error_new("there is no sample of the load: calibration was too short");
    _cleanup_free_ double *values = calloc(samples->count, sizeof *values);
    if (values == NULL)
        return error_no_memory();
    for (unsigned area = 0; area < STRESS_AREAS; area++) {
        for (size_t i = 0; i < samples->count; i++)
            values[i] = samples->items[i].values[area];
        qsort(values, samples->count, sizeof *values, compare);
        ret_range->low[area] = percentile(values, samples->count, 0.05);
        ret_range->high[area] = percentile(values, samples->count, 0.95);
    }
    return NULL;
}

void stress_normalise(const struct stress_range *range, const struct stress_sample *sample,
                      double ret_stress[STRESS_AREAS])
{
    for (unsigned area = 0; area < STRESS_AREAS; area++) {
        double width = range->high[area] - range->low[area];
        double place = width > 0 ? (sample->values[area] - range->low[area]) / width : 0;
        ret_stress[area] = fmin(fmax(place, 0), 1);
    }
}
