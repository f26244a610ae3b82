// SPDX-License-Identifier: GPL-3.0-or-later
// ordeal report: reports on a campaign in every format, and compares two campaigns.
#include "cli/registry.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/suggestion.h"
#include "cli/campaign/formats.h"
#include "cli/trial-name.h"
#include "report/campaign/campaign.h"
#include "stats/stats.h"
#include "store/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct settings {
    struct format_setting formats[FORMATS];
    struct option_number campaign;
    const char *store, *group_by, *confidence, *proof, *scope;
    bool compare, all, verbose;
};

#define FIELD(name) offsetof(struct settings, name)
static const struct option options[] = {
    {"db", 0, OPTION_FILE, "FILE", "the campaign's store (ordeal.db); the same as FILE.db",
     FIELD(store)},
    {"campaign", 'c', OPTION_NUMBER, "N", "the campaign of that number, instead of the newest",
     FIELD(campaign)},
#define OPTION(symbol, kind, help) FORMAT_OPTION(struct settings, formats, symbol, kind, help),
    REPORT_FORMATS(OPTION)
#undef OPTION
        {"group-by", 'g', OPTION_TEXT, "WHAT",
         "put trials in groups and compare them: type, function, module, file, component, "
         "instruction or program",
         FIELD(group_by)},
    {"compare", 0, OPTION_FLAG, NULL, "two campaigns side by side: A.db B.db, or A.db:1 A.db:2",
     FIELD(compare)},
    {"confidence", 0, OPTION_TEXT, "P", "of the intervals; 0.95 without this option",
     FIELD(confidence)},
    {"proof", 0, OPTION_TEXT, "WHICH",
     "findings to show, by whether their faults can happen: certain, caused, all; without it: "
     "all but the impossible",
     FIELD(proof)},
    {"scope", 0, OPTION_TEXT, "WHICH",
     "findings that count: first (your own code, and the others are listed after it), mine (the "
     "others are not shown) or all; without it: as the campaign's definition says",
     FIELD(scope)},
    {"verbose", 'v', OPTION_FLAG, NULL,
     "also print the table of groups, with tests of their differences", FIELD(verbose)},
    {"all", 'a', OPTION_FLAG, NULL, "list all findings and groups, however many there are",
     FIELD(all)},
};

// A subject together with the store that it keeps open.
struct report_source {
    struct report_subject subject;
    struct store *store;
    char *path;
};

static void source_close(struct report_source *source)
{
    store_close(source->store);
    free(source->path);
}

// Opens PATH, or campaign N of PATH:N. If a file has that very name, the file wins.
static struct error *source_open(const char *name, struct report_source *source)
{
    const char *colon = strrchr(name, ':');
    char *end = NULL;
    struct stat facts;
    unsigned long long number = colon != NULL ? strtoull(colon + 1, &end, 10) : 0;
    bool numbered = colon != NULL && colon[1] >= '0' && colon[1] <= '9' && *end == '\0' &&
                    number != 0 && number <= INT64_MAX && stat(name, &facts) != 0;
    if (colon == NULL && name[strspn(name, "0123456789")] == '\0' && name[0] != '\0' &&
        stat(name, &facts) != 0)
        return error_new("there is no file '%s'; campaign %s of %s is 'ordeal report -c %s'", name,
                         name, STORE_DEFAULT, name);
    if (trial_is_name(name) && stat(name, &facts) != 0)
        return error_new("there is no file '%s'; one finding is shown by 'ordeal show %s'", name,
                         name);
    source->path = numbered ? strndup(name, (size_t)(colon - name)) : strdup(name);
    if (source->path == NULL)
        return error_no_memory();
    TRY(store_open(source->path, STORE_READ, &source->store));
    // The report shows the store at one moment, even if a campaign goes on writing.
    TRY(store_begin(source->store));
    source->subject = (struct report_subject){
        .store = source->store, .campaign = numbered ? (int64_t)number : 0, .name = name};
    return NULL;
}

static struct error *check_group(const char *group_by)
{
    if (group_by == NULL)
        return NULL;
    struct suggestion meant = suggestion_start(group_by, strlen(group_by));
    for (size_t i = 0; report_groupings[i] != NULL; i++) {
        if (strcmp(report_groupings[i], group_by) == 0)
            return NULL;
        suggestion_offer(&meant, report_groupings[i]);
    }
    char storage[SUGGESTION_SIZE];
    return error_new("trials cannot be grouped by '%s'%s; --group-by takes type, function, module, "
                     "file, component or program",
                     group_by, suggestion_text(&meant, storage));
}

static struct error *parse_confidence(const char *text, double *ret_confidence)
{
    *ret_confidence = STATS_CONFIDENCE;
    if (text == NULL)
        return NULL;
    char *end;
    double number = strtod(text, &end);
    if (end == text || *end != '\0' || !(number >= 0.5 && number <= 0.9999))
        return error_new("--confidence needs a number from 0.5 to 0.9999 such as 0.99, not '%s'",
                         text);
    *ret_confidence = number;
    return NULL;
}

// The file is opened with the first piece of text, so a report that fails leaves no file behind.
struct destination {
    const char *path; // NULL: the standard output
    struct output output;
    bool open;
};

static struct error *put_piece(void *data, const struct buffer *text)
{
    struct destination *destination = data;
    struct output *output = &destination->output;
    struct stat facts;
    if (!destination->open) {
        TRY(output_open(destination->path, STDOUT_FILENO, output));
        destination->open = true;
        if (output->opened >= 0 && fstat(output->opened, &facts) == 0 && S_ISREG(facts.st_mode) &&
            ftruncate(output->opened, 0) < 0)
            return error_from_errno(errno, "cannot write %s", output->name);
    }
    return file_write(output->descriptor, output->name, text);
}

static void destination_close(struct destination *destination)
{
    if (destination->open)
        output_close(&destination->output);
}

// A path of NULL or "-" is standard output.
static struct error *write_format(const struct report_format *format, const char *path,
                                  const struct report_source *sources, bool compare,
                                  const struct report_options *chosen)
{
    bool standard = path == NULL || strcmp(path, "-") == 0;
    _cleanup_(destination_close) struct destination destination = {.path = standard ? NULL : path};
    _cleanup_(report_sink_deinit) struct report_sink sink = {.write = put_piece,
                                                             .data = &destination};
    TRY(compare ? format->compare(&sources[0].subject, &sources[1].subject, chosen, &sink)
                : format->write(&sources[0].subject, chosen, &sink));
    int file = destination.open ? destination.output.opened : -1;
    destination.output.opened = -1;
    // Some file systems report only now that the disk is full.
    return file >= 0 && close(file) < 0 ? error_from_errno(errno, "cannot write %s", path) : NULL;
}

static struct error *write_all(const struct settings *settings, const struct report_source *sources,
                               const struct report_options *chosen)
{
    bool any = false;
    for (int i = 0; i < FORMATS; i++) {
        const struct format_setting *setting = &settings->formats[i];
        if (!setting->flag && setting->file == NULL)
            continue;
        any = true;
        if (settings->compare && format_table[i]->compare == NULL)
            return error_new("--%s knows one campaign only; --compare goes with --html, --json or "
                             "neither",
                             format_table[i]->name);
        TRY(write_format(format_table[i], setting->file, sources, settings->compare, chosen));
    }
    return any ? NULL : write_format(&report_text, NULL, sources, settings->compare, chosen);
}

static struct error *open_sources(const struct settings *settings, char **operands,
                                  struct report_source sources[2])
{
    if (settings->store != NULL && (settings->compare || operands[0] != NULL))
        return error_new("--db names the one campaign's store; leave it out");
    if (settings->compare) {
        if (operands[0] == NULL || operands[1] == NULL)
            return error_new("--compare needs two campaigns: ordeal report --compare A.db B.db");
        if (settings->campaign.given)
            return error_new("--campaign goes with one file; with --compare, write A.db:%llu",
                             (unsigned long long)settings->campaign.value);
        TRY(source_open(operands[0], &sources[0]));
        return source_open(operands[1], &sources[1]);
    }
    if (operands[0] != NULL && operands[1] != NULL)
        return error_new("'%s' is one too many; two campaigns go with --compare", operands[1]);
    const char *store = settings->store != NULL ? settings->store : operands[0];
    TRY(source_open(store != NULL ? store : STORE_DEFAULT, &sources[0]));
    if (settings->campaign.given)
        sources[0].subject.campaign = (int64_t)settings->campaign.value;
    return NULL;
}

static void sources_close(struct report_source (*sources)[2])
{
    source_close(&(*sources)[0]);
    source_close(&(*sources)[1]);
}

static struct error *run(const void *data, char **operands, int *ret_status)
{
    const struct settings *settings = data;
    struct report_options chosen = {.group_by = settings->group_by,
                                    .all = settings->all,
                                    .verbose = settings->verbose,
                                    .colour = output_colour(STDOUT_FILENO)};
    TRY(check_group(settings->group_by));
    TRY(parse_confidence(settings->confidence, &chosen.confidence));
    TRY(report_proof_parse(settings->proof, &chosen.proof));
    TRY(report_scope_parse(settings->scope, &chosen.scope));
    _cleanup_(sources_close) struct report_source sources[2] = {{.store = NULL}};
    TRY(open_sources(settings, operands, sources));
    return write_all(settings, sources, &chosen);
}

const struct command cmd_report = {
    .name = "report",
    .summary = "Report what a campaign found: for people, browsers and machines.",
    .operands = "[FILE.db | --compare A.db[:N] B.db[:N]]",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .settings_size = sizeof(struct settings),
    .least = 0,
    .most = 2,
    .run = run,
};
