// SPDX-License-Identifier: GPL-3.0-or-later
// Shows the progress of a campaign and counts interrupts. Everything goes to stderr, so that
// standard output holds only the report.
#include "cli/campaign/progress.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/secrets.h"
#include "base/timeouts.h"
#include "cli/command.h"
#include "report/text.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define BAR_MOST  30 // columns
#define BAR_LEAST 5

struct progress {
    bool quiet, terminal, colour;
    bool drawn; // the bar is visible
    uint64_t next_ns;
    struct campaign_control control;
    struct buffer text;
    struct sigaction before[3]; // previous actions of the signals in `caught`
};

static volatile int interrupts;
static volatile sig_atomic_t on_terminal;

static const int caught[] = {SIGINT, SIGTERM, SIGHUP};
#define CAUGHT (sizeof caught / sizeof *caught)

// Prints at once, since a trial may take long. So it only calls what a signal handler may call.
static void tell_interrupt(void)
{
    static const char erase[] = "\r\033[K",
                      sentence[] = "finishing what runs; Ctrl-C again stops at once\n";
    if (on_terminal && write(STDERR_FILENO, erase, sizeof erase - 1) < 0)
        return;
    if (write(STDERR_FILENO, sentence, sizeof sentence - 1) < 0)
        return; // nobody is there to read it
}

static void count_interrupt(int number)
{
    int before = errno;
    if (interrupts++ == 0 && number == SIGINT)
        tell_interrupt();
    errno = before;
    // The process that leads a run ends it with everything it has started, unless it hangs.
    if (interrupts < 3)
        return;
    signal(number, SIG_DFL);
    raise(number);
}

static struct error *put_time(struct buffer *text, double seconds)
{
    uint64_t s = (uint64_t)(seconds + 0.5);
    if (s >= 3600)
        return buffer_printf(text, "%llu:%02u:%02u", (unsigned long long)(s / 3600),
                             (unsigned)(s / 60 % 60), (unsigned)(s % 60));
    return buffer_printf(text, "%u:%02u", (unsigned)(s / 60), (unsigned)(s % 60));
}

// Writes " 2 crash 1 hang 80 graceful": verdicts that occurred, most severe first.
static struct error *put_counts(struct buffer *text, const struct campaign_progress *now,
                                bool colour)
{
    for (int i = 0; i < VERDICTS; i++) {
        if (now->verdicts[i] == 0)
            continue;
        bool red = colour && verdict_facts[i].failure;
        TRY(buffer_printf(text, "  %s%llu %s%s", red ? "\033[31m" : "",
                          (unsigned long long)now->verdicts[i], verdict_facts[i].name,
                          red ? "\033[0m" : ""));
    }
    return NULL;
}

static struct error *put_done(struct buffer *text, const struct campaign_progress *now)
{
    if (strcmp(now->phase, "reference") == 0)
        return buffer_printf(text, "reference run %llu of %llu", (unsigned long long)now->done + 1,
                             (unsigned long long)now->planned);
    if (strcmp(now->phase, "candidates") == 0)
        return buffer_printf(text, "looking for candidates");
    if (strcmp(now->phase, "handling") == 0)
        return buffer_printf(text, "looking at the handling of failures, %llu of %llu",
                             (unsigned long long)now->done + 1, (unsigned long long)now->planned);
    if (now->planned == 0)
        return buffer_printf(text, "%llu %s", (unsigned long long)now->done, now->phase);
    return buffer_printf(text, "%llu/%llu %s", (unsigned long long)now->done,
                         (unsigned long long)now->planned, now->phase);
}

static struct error *put_left(struct buffer *text, const struct campaign_progress *now)
{
    if (now->left_s < 0 || !isfinite(now->left_s))
        return NULL;
    TRY(buffer_printf(text, "  "));
    TRY(put_time(text, now->left_s));
    return buffer_printf(text, " left");
}

struct error *progress_line(const struct campaign_progress *now, struct buffer *text)
{
    TRY(put_done(text, now));
    TRY(put_counts(text, now, false));
    return put_left(text, now);
}

static struct error *put_bar(struct buffer *text, double part, size_t columns)
{
    size_t full = (size_t)(part * (double)columns);
    TRY(buffer_append(text, "[", 1));
    for (size_t i = 0; i < columns; i++)
        TRY(buffer_append(text, i < full ? "=" : i == full ? ">" : " ", 1));
    return buffer_append(text, "] ", 2);
}

static struct error *bare_bar(const struct campaign_progress *now, size_t bar, bool counts,
                              bool colour, struct buffer *text)
{
    if (bar > 0)
        TRY(put_bar(text, (double)now->done / (double)now->planned, bar));
    TRY(put_done(text, now));
    if (counts)
        TRY(put_counts(text, now, colour));
    return put_left(text, now);
}

// If the width is too small, drops the bar first, then the counts.
struct error *progress_bar(const struct campaign_progress *now, unsigned width, bool colour,
                           struct buffer *text)
{
    _cleanup_(buffer_deinit) struct buffer all = {0}, less = {0};
    bool known = now->planned > 0 && now->done <= now->planned;
    TRY(bare_bar(now, 0, true, false, &all));
    if (all.size <= width) {
        size_t room = width - all.size, bar = known && room > BAR_LEAST + 3 ? room - 3 : 0;
        return bare_bar(now, bar < BAR_MOST ? bar : BAR_MOST, true, colour, text);
    }
    TRY(bare_bar(now, 0, false, false, &less));
    return buffer_append(text, less.data, less.size < width ? less.size : width);
}

static void write_text(const struct buffer *text)
{
    struct error *error = file_write(STDERR_FILENO, "stderr", text);
    error_free(error); // a closed terminal is no reason to end a campaign
}

static unsigned terminal_width(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
        return 79;
    return size.ws_col - 1u;
}

static struct error *draw(struct progress *progress, const struct campaign_progress *now)
{
    progress->text.size = 0;
    TRY(buffer_printf(&progress->text, "\r"));
    TRY(progress_bar(now, terminal_width(), progress->colour, &progress->text));
    return buffer_printf(&progress->text, "\033[K");
}

static struct error *log_line(struct progress *progress, const struct campaign_progress *now)
{
    progress->text.size = 0;
    TRY(progress_line(now, &progress->text));
    return buffer_append(&progress->text, "\n", 1);
}

static void on_progress(void *data, const struct campaign_progress *now)
{
    struct progress *progress = data;
    uint64_t now_ns = clock_ns();
    if (progress->quiet || now_ns < progress->next_ns)
        return;
    progress->next_ns = now_ns + (progress->terminal ? PROGRESS_PAUSE_NS : PROGRESS_LINE_PAUSE_NS);
    struct error *error = progress->terminal ? draw(progress, now) : log_line(progress, now);
    if (error == NULL)
        write_text(&progress->text);
    progress->drawn |= error == NULL && progress->terminal;
    error_free(error);
}

static void wipe(struct progress *progress)
{
    char erase[] = "\r\033[K";
    const struct buffer text = {.data = erase, .size = strlen(erase)};
    if (!progress->drawn)
        return;
    write_text(&text);
    progress->drawn = false;
    progress->next_ns = 0;
}

struct error *progress_wrap(const struct buffer *line, unsigned width, struct buffer *text)
{
    static const char indent[] = "\n    ";
    size_t column = 0;
    for (size_t at = 0; at < line->size;) {
        size_t blank = strspn(line->data + at, " "), word = strcspn(line->data + at + blank, " ");
        if (column > 0 && column + blank + word > width) {
            TRY(buffer_append(text, indent, strlen(indent)));
            column = strlen(indent) - 1;
            at += blank;
            blank = 0;
        }
        TRY(buffer_append(text, line->data + at, blank + word));
        column += blank + word;
        at += blank + word;
    }
    return NULL;
}

static void say(struct progress *progress, const char *before, const char *sentence)
{
    wipe(progress);
    progress->text.size = 0;
    struct error *error = buffer_printf(&progress->text, "%s", before);
    _cleanup_(buffer_deinit) struct buffer masked = {0};
    if (error == NULL)
        error = secrets_put(&masked, sentence, strlen(sentence));
    if (error == NULL)
        error = text_put(&progress->text, masked.data, masked.size, 0);
    _cleanup_(buffer_deinit) struct buffer wrapped = {0};
    struct buffer *lines = &progress->text;
    if (error == NULL && progress->terminal) {
        error = progress_wrap(&progress->text, terminal_width(), &wrapped);
        lines = &wrapped;
    }
    if (error == NULL)
        error = buffer_append(lines, "\n", 1);
    if (error == NULL)
        write_text(lines);
    error_free(error);
}

static void on_note(void *data, const char *sentence)
{
    say(data, "", sentence);
}

static void on_warning(void *data, const char *sentence)
{
    say(data, "warning: ", sentence);
}

static void on_finding(void *data, const struct store_finding *finding)
{
    struct progress *progress = data;
    char before[64];
    if (progress->quiet)
        return;
    snprintf(before, sizeof before, "F%lld %s: ", (long long)finding->id,
             verdict_facts[finding->verdict].name);
    say(progress, before, finding->title);
}

struct error *progress_new(bool quiet, struct progress **ret_progress)
{
    struct progress *progress = calloc(1, sizeof *progress);
    if (progress == NULL)
        return error_no_memory();
    const char *terminal = getenv("TERM");
    progress->quiet = quiet;
    progress->terminal = isatty(STDERR_FILENO) && terminal != NULL && strcmp(terminal, "dumb") != 0;
    progress->colour = output_colour(STDERR_FILENO);
    // A log gets its first line only when there is something to say.
    progress->next_ns = progress->terminal ? 0 : clock_ns() + PROGRESS_LINE_PAUSE_NS;
    progress->control = (struct campaign_control){
        .progress = on_progress,
        .warn = on_warning,
        .note = on_note,
        .found = on_finding,
        .data = progress,
        .interrupts = &interrupts,
    };
    interrupts = 0;
    on_terminal = progress->terminal;
    struct sigaction action = {.sa_handler = count_interrupt};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < CAUGHT; i++) // block all of them in each handler: they share one counter
        sigaddset(&action.sa_mask, caught[i]);
    for (size_t i = 0; i < CAUGHT; i++) {
        sigaction(caught[i], NULL, &progress->before[i]);
        if (progress->before[i].sa_handler != SIG_IGN) // ignored, for instance by nohup
            sigaction(caught[i], &action, NULL);
    }
    *ret_progress = progress;
    return NULL;
}

void progress_free(struct progress *progress)
{
    if (progress == NULL)
        return;
    wipe(progress);
    for (size_t i = 0; i < CAUGHT; i++)
        sigaction(caught[i], &progress->before[i], NULL);
    buffer_deinit(&progress->text);
    free(progress);
}

struct campaign_control *progress_control(struct progress *progress)
{
    return &progress->control;
}
