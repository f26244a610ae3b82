// SPDX-License-Identifier: GPL-3.0-or-later
// ordeal replay: runs a trial of a campaign again.
#include "cli/registry.h"

#include "base/cleanup.h"
#include "campaign/campaign.h"
#include "cli/campaign/progress.h"
#include "cli/trial-name.h"
#include "report/json.h"
#include "report/text.h"
#include "stats/stats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_NOT_THE_SAME 1

struct settings {
    const char *store;
    bool json, gdb, quiet;
    struct option_number times;
};

#define FIELD(name) offsetof(struct settings, name)
static const struct option options[] = {
    {"db", 0, OPTION_FILE, "FILE", "the campaign's store (ordeal.db)", FIELD(store)},
    {"times", 'n', OPTION_NUMBER, "N",
     "run it N times, and say how often the verdict repeated, with the interval of that proportion",
     FIELD(times)},
    {"gdb", 0, OPTION_FLAG, NULL,
     "run it in gdb, in its sandbox, stopped where the fault is injected", FIELD(gdb)},
    {"json", 0, OPTION_FLAG, NULL, "print JSON", FIELD(json)},
    {"quiet", 'q', OPTION_FLAG, NULL, "show no progress", FIELD(quiet)},
};

static struct error *put_counts(struct buffer *text, const struct replay_end *end)
{
    bool first = true;
    for (int i = 0; i < VERDICTS; i++) {
        if (end->verdicts[i] == 0)
            continue;
        TRY(buffer_printf(text, "%s%llu %s", first ? "" : ", ",
                          (unsigned long long)end->verdicts[i], verdict_facts[i].name));
        first = false;
    }
    return NULL;
}

static enum verdict only_verdict(const struct replay_end *end)
{
    enum verdict verdict = 0;
    while (verdict + 1 < VERDICTS && end->verdicts[verdict] == 0)
        verdict++;
    return verdict;
}

// Values that the store does not have are those of here.
static struct error *put_environment(const struct replay_end *end, struct buffer *text)
{
    TRY(buffer_printf(text, "environment: "));
    TRY(environment_put(text, &end->environment));
    return buffer_append(text, "\n", 1);
}

static struct error *put_once(int64_t trial, const struct replay_end *end, struct buffer *text)
{
    enum verdict now = only_verdict(end);
    const char *before = verdict_facts[end->before].name;
    TRY(buffer_printf(text, "trial %lld: ", (long long)trial));
    if (end->repeated == 1)
        TRY(buffer_printf(text, "%s again", before));
    else if (now == end->before)
        TRY(buffer_printf(text, "%s again, but for another cause", before));
    else
        TRY(buffer_printf(text, "%s, not %s as before", verdict_facts[now].name, before));
    if (end->reason != NULL) {
        TRY(buffer_printf(text, ": "));
        TRY(text_put(text, end->reason, strlen(end->reason), 0));
    }
    TRY(buffer_append(text, "\n", 1));
    return put_environment(end, text);
}

static struct error *put_many(int64_t trial, const struct replay_end *end, struct buffer *text)
{
    struct stats_interval interval = stats_wilson(end->repeated, end->times, STATS_CONFIDENCE);
    TRY(buffer_printf(
        text,
        "trial %lld: %s repeated %llu of %llu times: %.1f %% (95 %% interval: %.1f %% "
        "to %.1f %%)\n",
        (long long)trial, verdict_facts[end->before].name, (unsigned long long)end->repeated,
        (unsigned long long)end->times,
        end->times == 0 ? 0 : 100.0 * (double)end->repeated / (double)end->times,
        100 * interval.low, 100 * interval.high));
    TRY(buffer_printf(text, "verdicts: "));
    TRY(put_counts(text, end));
    TRY(buffer_append(text, "\n", 1));
    return put_environment(end, text);
}

static void add_names(struct json_builder *builder, json_t *object, const char *key,
                      const struct words *names)
{
    json_t *list = json_add_array(builder, object, key);
    for (size_t i = 0; i < names->count; i++)
        json_add_string(builder, list, NULL, names->items[i]);
}

static void add_environment(struct json_builder *builder, json_t *root,
                            const struct environment_comparison *environment)
{
    json_t *object = json_add_object(builder, root, "environment");
    json_add_string(builder, object, "compared",
                    environment_is_same(environment)    ? "same"
                    : environment->different.count != 0 ? "differs"
                                                        : "cannot tell");
    json_add_integer(builder, object, "same", environment->same);
    add_names(builder, object, "different", &environment->different);
    add_names(builder, object, "missing", &environment->missing);
    add_names(builder, object, "unknown", &environment->unknown);
}

// What another build means for what is printed.
static const char *build_hint(const struct replay_end *end)
{
    if (end->build == BUILD_SAME)
        return NULL;
    if (end->by_address)
        return "the fault is aimed at an address of the build that the campaign tested, which may "
               "be "
               "another place now, or none; to see the finding as it was, replay it with that "
               "build, and to test the new one, run the campaign again";
    return "the fault is injected into the same function at the same call as then, but the new "
           "build "
           "may make other calls, and lines and addresses of the finding are those of the build "
           "that "
           "the campaign tested; to see the finding as it was, replay it with that build";
}

static const char *build_word(enum build_state build)
{
    static const char *const words[] = {
        [BUILD_SAME] = "same", [BUILD_DIFFERS] = "differs", [BUILD_UNKNOWN] = "cannot tell"};
    return words[build];
}

static struct error *put_json(int64_t trial, const struct replay_end *end, struct buffer *text)
{
    _cleanup_(json_release) json_t *root = json_object();
    struct json_builder builder = {.failed = root == NULL};
    struct stats_interval interval = stats_wilson(end->repeated, end->times, STATS_CONFIDENCE);
    json_add_integer(&builder, root, "trial", (uint64_t)trial);
    json_add_string(&builder, root, "before", verdict_facts[end->before].name);
    json_add_integer(&builder, root, "times", end->times);
    json_add_integer(&builder, root, "repeated", end->repeated);
    json_add_real(&builder, root, "low", interval.low);
    json_add_real(&builder, root, "high", interval.high);
    json_t *verdicts = json_add_object(&builder, root, "verdicts");
    for (int i = 0; i < VERDICTS; i++)
        if (end->verdicts[i] != 0)
            json_add_integer(&builder, verdicts, verdict_facts[i].name, end->verdicts[i]);
    add_environment(&builder, root, &end->environment);
    if (end->reason != NULL)
        json_add_string(&builder, root, "reason", end->reason);
    json_add_string(&builder, root, "build", build_word(end->build));
    if (end->build_id_before != NULL)
        json_add_string(&builder, root, "build_id_before", end->build_id_before);
    if (end->build_id_now != NULL)
        json_add_string(&builder, root, "build_id_now", end->build_id_now);
    if (end->warning != NULL)
        json_add_string(&builder, root, "warning", end->warning);
    return json_write(&builder, root, text);
}

static struct error *replay(const struct settings *settings, struct store *store, int64_t trial,
                            struct replay_end *ret_end)
{
    uint64_t times = settings->times.given ? settings->times.value : 1;
    if (times == 0)
        return error_new("--times must be at least 1");
    _cleanup_(progress_freep) struct progress *progress = NULL;
    TRY(progress_new(settings->quiet || times == 1, &progress));
    const struct campaign_control *control = progress_control(progress);
    TRY(campaign_replay(store, trial, times, control, ret_end));
    const char *hint = build_hint(ret_end);
    if (ret_end->warning != NULL && !settings->json)
        control->warn(control->data, ret_end->warning);
    if (hint != NULL && ret_end->warning != NULL && !settings->json)
        control->warn(control->data, hint);
    return NULL;
}

static struct error *debug(struct store *store, int64_t trial, int *ret_status)
{
    _cleanup_(progress_freep) struct progress *progress = NULL;
    TRY(progress_new(true, &progress));
    return campaign_debug(store, trial, progress_control(progress), ret_status);
}

static struct error *run(const void *data, char **operands, int *ret_status)
{
    const struct settings *settings = data;
    const char *path = settings->store != NULL ? settings->store : STORE_DEFAULT;
    _cleanup_(store_closep) struct store *store = NULL;
    int64_t trial = 0;
    TRY(store_open(path, STORE_READ, &store));
    TRY(trial_find(store, operands[0], &trial));
    if (settings->gdb)
        return debug(store, trial, ret_status);
    _cleanup_(replay_end_deinit) struct replay_end end = {0};
    TRY(replay(settings, store, trial, &end));
    if (end.times == 0)
        return error_new("interrupted before the first run was over");
    _cleanup_(buffer_deinit) struct buffer text = {0};
    if (settings->json)
        TRY(put_json(trial, &end, &text));
    else
        TRY(end.times == 1 ? put_once(trial, &end, &text) : put_many(trial, &end, &text));
    *ret_status = end.repeated == end.times ? 0 : EXIT_NOT_THE_SAME;
    return output_print(&text);
}

const struct command cmd_replay = {
    .name = "replay",
    .summary = "Run a trial of a campaign again and say whether its verdict repeats.",
    .operands = "TRIAL|FINDING",
    .details =
        "A trial is the number that reports show, a finding F3 or finding:3. The exit status is 0\n"
        "if the verdict and its cause repeated, every time with --times; 1 if not; 2 if the trial\n"
        "could not be run.\n"
        "\n"
        "  ordeal replay 17\n"
        "  ordeal replay F3 --times 20\n"
        "  ordeal replay --db tests.db --gdb 17\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .settings_size = sizeof(struct settings),
    .least = 1,
    .most = 1,
    .run = run,
};
