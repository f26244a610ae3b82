// SPDX-License-Identifier: GPL-3.0-or-later
// Changed libraries: their calls, what becomes of the results, recovery code, and the reports.
#include "callsite/recovery.h"
#include "callsite/site.h"
#include "changed-library.h"
#include "elf/object.h"
#include "report/callsites/callsites.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Every second import fails with one code, every other with many.
static bool failures(void *data, uint32_t import, struct site_failures *ret_failures)
{
    static const int64_t codes[] = {-1, 0, -22, 5, INT32_MIN, 1, 2, 3, -4095, INT64_MAX};
    (void)data;
    *ret_failures =
        (struct site_failures){codes, import % 2 == 0 ? 1 : sizeof codes / sizeof *codes,
                               (enum site_success)(import % 6), .guessed = false};
    return true;
}

static int error_of(void *data, size_t module, uint32_t import, int64_t result)
{
    (void)data, (void)module, (void)import;
    return result == -1 ? 5 : 0;
}

static struct error *report(const char *path, const struct flow_image *image, struct sites *sites)
{
    const struct callsites_options options = {0};
    _cleanup_(buffer_deinit) struct buffer text = {0}, json = {0}, sarif = {0}, yaml = {0};
    _cleanup_(callsites_report_deinit) struct callsites_report report;
    size_t rules;
    TRY(callsites_report_init(&report));
    TRY(callsites_report_add(&report, path, image, sites));
    TRY(callsites_report_finish(&report, &options, error_of, NULL));
    TRY(callsites_text(&report, CALLSITES_BRIEF, &text));
    TRY(callsites_json(&report, &json));
    TRY(callsites_sarif(&report, &sarif));
    return callsites_yaml(&report, SITE_UNCHECKED, &yaml, &rules);
}

static struct error *find(const char *path, const struct flow_image *image)
{
    const struct sites_context world = {.failures = failures, .failing = true};
    _cleanup_(sites_deinit) struct sites sites = {0};
    _cleanup_(recovery_deinit) struct recovery recovery = {0};
    TRY(sites_find(image, &world, &sites));
    TRY(recovery_find(image, &sites, &recovery));
    return report(path, image, &sites);
}

static struct error *look(const char *path)
{
    struct elf_object *object = NULL;
    struct flow_image *image = NULL;
    struct error *error = elf_object_open(path, &object);
    if (error == NULL)
        error = flow_image_open(object, &image);
    if (error == NULL)
        error = find(path, image);
    flow_image_close(image);
    elf_object_close(object);
    return error;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    with_changed_library(data, size, look);
    return 0;
}
