// SPDX-License-Identifier: GPL-3.0-or-later
// The injector `signal`: sends a signal to the workload's process at some moment. A spec is
// "SIGTERM at 0.012345678s". Moments are drawn at random, by the campaign's seed, from the time
// that reference runs took. The runtime is used only to tell where a process crashed.
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/suggestion.h"
#include "injector/injector.h"
#include "injector/journal-reader.h"
#include "stats/stats.h"
#include "trial/runtime-session.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define USUAL_TIMES 100
#define MOST_TIMES  100000000u
#define LONGEST_S   1e6

static const struct injector_parameter parameters[] = {
    {"signals", "NAME...", "which signals: SIGTERM, INT, 10", true, true},
    {"times", "N", "how many moments of each (100, or as many as the sample asks for)", false,
     false},
    {"window", "FROM..TO", "moments lie between these parts of the reference's time (0..1)", false,
     false},
    {0},
};

static const struct injector_option command_line[] = {
    {.name = "signal",
     .parameter = "signals",
     .argument = "NAME",
     .help = "send this signal at random moments; may be given again"},
    {0},
};

struct signals {
    struct injector_setup setup;
    ARRAY(int) numbers;
    uint64_t times;
    double from, to; // window

    struct runtime_session *session; // NULL: not made yet
    struct scenario *no_rules;       // empty: the runtime only reports crashes
    struct journal_reader *reader;
    bool has_runtime; // in this shot
    const char *visible[2];

    double reference_s; // the shortest reference run: a later signal may find no process
    bool is_reference;
    uint64_t start_ns, last_ns; // by the clock; when the workload was last seen alive, after that
    // This shot's.
    char *spec;
    int number;
    int handle; // pidfd of the workload's process, or -1; its pid may be reused, the pidfd not
    uint64_t due_ns, sent_ns; // sent_ns 0: not sent
    char program[32];
};

static int signal_number(const char *name)
{
    char *end;
    long number = strtol(name, &end, 10);
    if (*name >= '0' && *name <= '9' && *end == '\0')
        return number > 0 && number < NSIG ? (int)number : 0;
    if (strncmp(name, "SIG", 3) == 0)
        name += 3;
    for (int i = 1; i < NSIG; i++)
        if (sigabbrev_np(i) != NULL && strcmp(sigabbrev_np(i), name) == 0)
            return i;
    return 0;
}

static struct error *unknown_signal(const char *name)
{
    const char *word = strncmp(name, "SIG", 3) == 0 ? name + 3 : name;
    struct suggestion meant = suggestion_start(word, strlen(word));
    for (int i = 1; i < NSIG; i++)
        if (sigabbrev_np(i) != NULL)
            suggestion_offer(&meant, sigabbrev_np(i));
    if (meant.best != NULL)
        return error_new("there is no signal '%s'; did you mean SIG%s?", name, meant.best);
    return error_new("there is no signal '%s'; 'kill -l' lists them", name);
}

static struct error *read_signals(struct signals *self)
{
    const struct parameter *names = parameters_find(self->setup.parameters, "signals");
    for (size_t i = 0; names != NULL && i < names->values.count; i++) {
        int number = signal_number(names->values.items[i]);
        if (number == 0)
            return unknown_signal(names->values.items[i]);
        int *added = ARRAY_ADD(&self->numbers);
        if (added == NULL)
            return error_no_memory();
        *added = number;
    }
    return self->numbers.count != 0 ? NULL
                                    : error_new("there is nothing to send: 'signals' is empty");
}

static struct error *read_times(struct signals *self)
{
    const char *times = parameters_value(self->setup.parameters, "times", NULL);
    self->times = self->setup.sample > USUAL_TIMES ? self->setup.sample : USUAL_TIMES;
    if (times == NULL)
        return NULL;
    char *end;
    errno = 0;
    unsigned long long number = strtoull(times, &end, 10);
    if (*times < '0' || *times > '9' || *end != '\0' || errno != 0 || number == 0 ||
        number > MOST_TIMES)
        return error_new("times: expected a number from 1 to %u, not '%s'", MOST_TIMES, times);
    self->times = number;
    return NULL;
}

static struct error *read_window(struct signals *self)
{
    const char *window = parameters_value(self->setup.parameters, "window", "0..1");
    const char *dots = strstr(window, "..");
    char *end = NULL, *last = NULL;
    _cleanup_free_ char *from = strndup(window, dots != NULL ? (size_t)(dots - window) : 0);
    if (from == NULL)
        return error_no_memory();
    self->from = strtod(from, &end);
    self->to = dots != NULL ? strtod(dots + 2, &last) : 0;
    if (dots == NULL || *from == '\0' || *end != '\0' || last == dots + 2 || *last != '\0' ||
        !(self->from >= 0 && self->from < self->to && self->to <= 100))
        return error_new("window: expected FROM..TO such as 0..1 or 0.5..1.5, not '%s'", window);
    return NULL;
}

static void forget_process(struct signals *self)
{
    if (self->handle >= 0)
        close(self->handle);
    self->handle = -1;
}

static void close_signals(void *data)
{
    struct signals *self = data;
    if (self == NULL)
        return;
    forget_process(self);
    runtime_session_free(self->session);
    scenario_free(self->no_rules);
    journal_reader_free(self->reader);
    ARRAY_DEINIT(&self->numbers);
    free(self->spec);
    free(self);
}

static struct error *fill(struct signals *self)
{
    TRY(read_signals(self));
    TRY(read_times(self));
    TRY(read_window(self));
    TRY(scenario_new(&self->no_rules));
    return journal_reader_new(&self->reader);
}

static struct error *open_signals(const struct injector_setup *setup, void **ret_self)
{
    struct signals *self = calloc(1, sizeof *self);
    if (self == NULL)
        return error_no_memory();
    self->setup = *setup;
    self->handle = -1;
    return injector_opened(fill(self), self, close_signals, ret_self);
}

// "SIGTERM at 0.0123s"
static struct error *parse_spec(const char *spec, int *ret_number, uint64_t *ret_ns)
{
    const char *at = strstr(spec, " at ");
    _cleanup_free_ char *name = strndup(spec, at != NULL ? (size_t)(at - spec) : strlen(spec));
    if (name == NULL)
        return error_no_memory();
    char *end = NULL;
    double seconds = at != NULL ? strtod(at + 4, &end) : -1;
    int number = signal_number(name);
    if (number == 0 || end == NULL || strcmp(end, "s") != 0 ||
        !(seconds >= 0 && seconds <= LONGEST_S))
        return error_new("'%s' is not of the form 'SIGTERM at 0.01s'", spec);
    *ret_number = number;
    *ret_ns = (uint64_t)llround(seconds * (double)NS_PER_S);
    return NULL;
}

// A program that cannot load the runtime (static, set-user-ID, ...) runs without it. It can still
// be sent a signal; only its crash has no stack.
static void prepare_runtime(struct signals *self, struct shot *shot)
{
    _cleanup_error_ struct error *error =
        self->session == NULL ? runtime_session_new(&self->session) : NULL;
    const struct runtime_session_options options = {
        .scenario = self->no_rules,
        .seed = shot->seed,
        .command = shot->command,
        .environment = shot->environment,
        .catch_crashes = true,
    };
    if (error == NULL)
        error = runtime_session_prepare(self->session, &options);
    self->has_runtime = error == NULL;
    if (!self->has_runtime)
        return;
    self->visible[0] = runtime_session_file(self->session);
    shot->use_environment = runtime_session_environment(self->session);
    shot->visible = self->visible;
}

static struct error *prepare(void *data, struct shot *shot)
{
    struct signals *self = data;
    self->is_reference = shot->spec == NULL;
    self->last_ns = self->sent_ns = 0;
    self->program[0] = '\0';
    forget_process(self);
    free(TAKE(self->spec));
    if (shot->spec != NULL) {
        TRY(parse_spec(shot->spec, &self->number, &self->due_ns));
        self->spec = strdup(shot->spec);
        if (self->spec == NULL)
            return error_no_memory();
    }
    prepare_runtime(self, shot);
    return NULL;
}

static struct error *moved(void *data, const char *from, const char *to)
{
    struct signals *self = data;
    return self->has_runtime ? runtime_session_map_path(self->session, from, to) : NULL;
}

static struct error *begin(void *data, const char *root)
{
    struct signals *self = data;
    return self->has_runtime ? runtime_session_begin(self->session, root) : NULL;
}

// The state letter of a process; 0 if it is gone. The name before it may contain brackets.
static char process_state(struct signals *self, pid_t pid)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    _cleanup_close_ int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = file >= 0 ? read(file, text, sizeof text - 1) : -1;
    if (size <= 0)
        return '\0';
    text[size] = '\0';
    char *open_bracket = strchr(text, '('), *close_bracket = strrchr(text, ')');
    if (open_bracket == NULL || close_bracket == NULL || close_bracket[1] != ' ')
        return '\0';
    snprintf(self->program, sizeof self->program, "%.*s", (int)(close_bracket - open_bracket - 1),
             open_bracket + 1);
    return close_bracket[2];
}

// In reference runs: checks now and then whether the workload is alive, so that its time is known
// to about two percent.
static uint64_t measure(struct signals *self, pid_t pid, uint64_t ns)
{
    char state = process_state(self, pid);
    if (state == '\0' || state == 'Z' || state == 'X')
        return UINT64_MAX;
    self->last_ns = ns;
    return ns + ns / 50 + 100 * NS_PER_US;
}

static uint64_t tick(void *data, pid_t pid, uint64_t ns)
{
    struct signals *self = data;
    if (self->is_reference)
        return measure(self, pid, ns);
    if (ns < self->due_ns)
        return self->due_ns;
    char state = process_state(self, pid);
    // A process that is dead does not get the signal.
    if (self->sent_ns == 0 && state != '\0' && state != 'Z' && state != 'X' &&
        syscall(SYS_pidfd_send_signal, self->handle, self->number, NULL, 0) == 0)
        self->sent_ns = ns != 0 ? ns : 1;
    return UINT64_MAX;
}

static uint64_t started(void *data, pid_t pid)
{
    struct signals *self = data;
    self->start_ns = clock_ns();
    self->handle = (int)syscall(SYS_pidfd_open, pid, 0);
    return self->is_reference || self->due_ns == 0 ? tick(self, pid, 0) : self->due_ns;
}

static struct error *add_injection(const struct signals *self, struct observation *observation)
{
    struct injection *injection = ARRAY_ADD(&observation->injections);
    if (injection == NULL)
        return error_no_memory();
    observation->activations = 1;
    injection->occurrence = injection->process = 1;
    injection->seconds = clock_seconds(self->sent_ns);
    injection->signal = self->number;
    // Without the moment: trials with the same effect must get the same fault.
    injection->fault = strndup(self->spec, strcspn(self->spec, " "));
    injection->program = strdup(self->program);
    return injection->fault != NULL && injection->program != NULL ? NULL : error_no_memory();
}

// How long the workload has run. A short one may have ended whenever it was looked at, when there
// is much to do: then it is only known that it takes no longer than it took until now.
static double reference_duration(const struct signals *self)
{
    return clock_seconds(self->last_ns != 0 ? self->last_ns : clock_ns() - self->start_ns);
}

static struct error *observe(void *data, const char *root, struct observation *observation)
{
    struct signals *self = data;
    double seconds = reference_duration(self);
    if (self->is_reference && (self->reference_s <= 0 || seconds < self->reference_s))
        self->reference_s = seconds;
    if (self->sent_ns != 0)
        TRY(add_injection(self, observation));
    struct wire_view view;
    return self->has_runtime ? journal_reader_end_session(self->reader, self->session, root,
                                                          self->no_rules, &view, observation)
                             : NULL;
}

static struct error *make_candidate(int number, double seconds, struct candidate *candidate)
{
    const char *name = sigabbrev_np(number);
    char type[32];
    if (name != NULL)
        snprintf(type, sizeof type, "SIG%s", name);
    else
        snprintf(type, sizeof type, "%d", number);
    candidate->weight = 1;
    candidate->type = strdup(type);
    if (asprintf(&candidate->spec, "%s at %.9fs", type, seconds) < 0)
        candidate->spec = NULL;
    return candidate->type != NULL && candidate->spec != NULL ? NULL : error_no_memory();
}

static struct error *candidates(void *data, candidate_add *add, void *add_data)
{
    const struct signals *self = data;
    for (size_t i = 0; i < self->numbers.count; i++) {
        // Each signal has its own random stream, so that adding one does not change the others.
        struct stats_random random =
            stats_random_start(self->setup.seed, 1ull << 62 | (unsigned)self->numbers.items[i]);
        for (uint64_t n = 0; n < self->times; n++) {
            double part = self->from + stats_random_unit(&random) * (self->to - self->from);
            struct candidate candidate = {0};
            struct error *error =
                make_candidate(self->numbers.items[i], part * self->reference_s, &candidate);
            if (error == NULL)
                error = add(add_data, &candidate);
            candidate_deinit(&candidate);
            if (error != NULL)
                return error;
        }
    }
    return NULL;
}

// "SIGTERM arrives"
static struct error *describe(void *self, const char *fault, const struct injection *injection,
                              struct buffer *text)
{
    return buffer_printf(text, "%.*s arrives", (int)strcspn(fault, " \n"), fault);
}

static const struct injector_outside outside = {.started = started, .tick = tick};

const struct injector injector_signal = {
    .name = "signal",
    .summary = "sends the workload a signal at a random moment",
    .parameters = parameters,
    .options = command_line,
    .open = open_signals,
    .close = close_signals,
    .prepare = prepare,
    .moved = moved,
    .begin = begin,
    .observe = observe,
    .candidates = candidates,
    .describe = describe,
    .outside = &outside,
};
