// SPDX-License-Identifier: GPL-3.0-or-later
// The corruption profiles of a campaign that compared interfaces, for the injector `interface` and
// for other people: what can be injected, without the numbers of areas, which mean something beside
// the trace only.
#include "base/cleanup.h"
#include "report/campaign/facts.h"

#include <string.h>

#define WORTH 65536

static struct error *put_trial(void *data, const struct store_interface_trial *trial)
{
    struct report_sink *sink = data;
    const char *line = trial->profile;
    while (line != NULL && *line != '\0') {
        size_t size = strcspn(line, "\n");
        size += line[size] == '\n';
        if (strncmp(line, "bytes ", 6) != 0)
            TRY(buffer_append(&sink->text, line, size));
        line += size;
    }
    return report_sink_flush(sink, WORTH);
}

static struct error *put_page(struct campaign_facts *facts, const struct report_subject *subject,
                              const struct report_options *options, struct report_sink *sink)
{
    TRY(campaign_facts_load(facts, subject, options));
    TRY(buffer_printf(&sink->text,
                      "# Errors at an interface; ordeal-store(5) explains the lines.\n"));
    TRY(store_each_interface_trial(facts->store, facts->campaign.id, put_trial, sink));
    return report_sink_flush(sink, 1);
}

static struct error *write_profile(const struct report_subject *subject,
                                   const struct report_options *options, struct report_sink *sink)
{
    struct campaign_facts facts;
    struct error *error = put_page(&facts, subject, options, sink);
    campaign_facts_deinit(&facts);
    return error;
}

const struct report_format report_profile = {.name = "profile", .write = write_profile};
