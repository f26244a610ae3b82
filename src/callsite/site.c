// SPDX-License-Identifier: GPL-3.0-or-later
// See site.h: names, and which calls are sites.
#include "callsite/site.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

void sites_deinit(struct sites *sites)
{
    ARRAY_DEINIT(&sites->callees);
    ARRAY_DEINIT(&sites->items);
}

const char *site_class_name(enum site_class class)
{
    static const char *const names[] = {"unchecked", "partly", "checked", "unknown"};
    return names[class];
}

const char *site_use_name(enum site_use use)
{
    static const char *const names[] = {"ignored",   "checked first",  "dereferenced",
                                        "passed on", "returned",       "stored in a global",
                                        "stored",    "calculated with"};
    return names[use];
}

struct finding {
    const struct flow_image *image;
    const struct sites_world *world;
    struct sites sites;
    uint32_t *callees; // by import: of sites.callees + 1
};

static void finding_deinit(struct finding *finding)
{
    sites_deinit(&finding->sites);
    free(finding->callees);
}

static struct error *add_callee(struct finding *finding, uint32_t import)
{
    struct site_failures failures = {0};
    if (!finding->world->failures(finding->world->data, import, &failures) || failures.count == 0)
        return NULL;
    struct site_callee *callee = ARRAY_ADD(&finding->sites.callees);
    if (callee == NULL)
        return error_no_memory();
    *callee = (struct site_callee){.name = finding->image->imports.items[import].name,
                                   .version = finding->image->imports.items[import].version,
                                   .import = import,
                                   .success = failures.success};
    callee->more = failures.count > SITE_CODES;
    callee->count = callee->more ? SITE_CODES : failures.count;
    memcpy(callee->codes, failures.codes, callee->count * sizeof *callee->codes);
    finding->callees[import] = (uint32_t)finding->sites.callees.count;
    return NULL;
}

static struct error *add_site(struct finding *finding, const struct flow_block *block)
{
    const struct flow_image *image = finding->image;
    if (!flow_callee_is_import(block->callee))
        return NULL;
    finding->sites.calls++;
    uint32_t callee = finding->callees[flow_callee_import(block->callee)];
    if (callee == 0)
        return NULL;
    const struct isa_fact *call = &image->facts.items[block->first + block->count - 1];
    struct site *site = ARRAY_ADD(&finding->sites.items);
    if (site == NULL)
        return error_no_memory();
    *site = (struct site){.address = flow_address(image, call),
                          .function = block->function,
                          .callee = callee - 1,
                          .class = SITE_UNKNOWN,
                          .passed_to = FLOW_NONE,
                          .wrapper = FLOW_NONE,
                          .inner = FLOW_NONE,
                          .reason = "not followed yet"};
    if (block->end == FLOW_CALLS)
        site->after = site->address + call->length;
    return NULL;
}

struct error *sites_find(const struct flow_image *image, const struct sites_world *world,
                         struct sites *ret_sites)
{
    _cleanup_(finding_deinit) struct finding finding = {.image = image, .world = world};
    finding.callees = calloc(image->imports.count + 1, sizeof *finding.callees);
    if (finding.callees == NULL)
        return error_no_memory();
    for (uint32_t i = 0; i < image->imports.count; i++)
        TRY(add_callee(&finding, i));
    for (size_t b = 0; b < image->blocks.count; b++)
        TRY(add_site(&finding, &image->blocks.items[b]));
    *ret_sites = finding.sites;
    finding.sites = (struct sites){0};
    return NULL;
}
