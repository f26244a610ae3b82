// SPDX-License-Identifier: GPL-3.0-or-later
// Journals of unknown origin: whatever the bytes, the reader refuses them or the reports are made.
// An input is either a whole file, or patches to a sound journal: a 4-byte offset and 8 bytes each.
#include "base/array.h"
#include "base/cleanup.h"
#include "injector/journal-reader.h"
#include "report/run/run.h"
#include "scenario/scenario.h"
#include "trial/region.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(struct error *error)
{
    if (error != NULL)
        abort();
}

// As campaigns read it.
static void observe(const struct wire_view *view)
{
    struct journal_reader *reader = NULL;
    struct scenario *scenario = NULL;
    struct observation observation = {0};
    must(journal_reader_new(&reader));
    must(scenario_new(&scenario));
    must(journal_reader_begin(reader, "/nonexistent"));
    must(journal_reader_observe(reader, view, scenario, &observation));
    if (view->damage != WIRE_DAMAGE_NONE &&
        (observation.activations != 0 || observation.injections.count != 0))
        abort();
    observation_deinit(&observation);
    scenario_free(scenario);
    journal_reader_free(reader);
}

static void check(const void *bytes, uint64_t size)
{
    struct wire_view view;
    struct error *error = region_check(bytes, size, "journal", &view);
    for (int again = 0; error == NULL && again < 2; again++) {
        const struct report_run run = {.view = &view, .all = true};
        struct buffer text = {0}, json = {0};
        must(report_run_text(&run, &text));
        must(report_run_json(&run, &json));
        buffer_deinit(&text);
        buffer_deinit(&json);
        observe(&view);
        // Also what was noticed as damaged must do no harm.
        uint64_t head = view.region->journal_head;
        view.damage = WIRE_DAMAGE_NONE;
        view.record_count =
            head < view.region->journal_capacity ? (uint32_t)head : view.region->journal_capacity;
    }
    error_free(error);
}

static struct buffer make_plan(void)
{
    static const char *const specs[] = {
        "open=-1/ENOENT when count == 2 and stack(main, ..., outer)",
        "re*d delay 5ms, signal SIGTERM when arg(1) ~ \"x*\" or random(0.5)",
        "pthread_create=EAGAIN, out(1)=7 when after(read, within: 3)",
        "pow=1.5L",
        "write short when new_stack",
    };
    struct scenario *scenario;
    must(scenario_new(&scenario));
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
        must(scenario_add_spec(scenario, specs[i]));
    struct buffer plan = {0};
    must(scenario_compile(scenario, 1, &plan));
    scenario_free(scenario);
    return plan;
}

// A journal as a trial leaves it, in memory of exactly its size.
static void *make_journal(uint64_t *ret_size)
{
    char *command[] = {(char *)"victim", (char *)"argument", NULL};
    struct buffer plan = make_plan();
    const struct region_options options = {.plan = plan.data,
                                           .plan_size = plan.size,
                                           .preload = "runtime.so",
                                           .command = command,
                                           .journal_records = 8};
    struct region region;
    must(region_create(&options, &region));
    struct wire_record *records = (struct wire_record *)((char *)region.map + region.map->journal);
    struct wire_rule_state *rules =
        (struct wire_rule_state *)((char *)region.map + region.map->rules);
    region.map->processes = 1;
    for (uint32_t i = 0; i < 8; i++) {
        records[i].state = WIRE_RECORD_COMPLETE;
        records[i].kind = i > 5 ? (uint16_t)(i - 5) : WIRE_RECORD_INJECTION;
        records[i].rule = i % 5;
        rules[i % 5].reached++;
        rules[i % 5].fired += i <= 5;
        records[i].actions = 1u << i | WIRE_RETURN;
        records[i].frame_count = 3;
        records[i].process_number = records[i].occurrence = 1;
        strcpy(records[i].function, "open");
    }
    region.map->journal_head = 9;
    uint64_t size = region.layout.arena;
    void *bytes = aligned_alloc(64, (size + 63) & ~63ull);
    if (bytes == NULL)
        abort();
    memcpy(bytes, region.map, size);
    region_close(&region);
    buffer_deinit(&plan);
    *ret_size = size;
    return bytes;
}

// Each patch is undone afterwards, the last first.
static void check_patched(char *journal, uint64_t journal_size, const uint8_t *data, size_t size)
{
    if (size < 12) {
        check(journal, journal_size);
        return;
    }
    uint32_t at;
    uint64_t old;
    memcpy(&at, data, sizeof at);
    // Most of a journal is empty module entries: aim at the rest.
    at %= at & 1 ? 16384 : (uint32_t)(journal_size - sizeof old);
    memcpy(&old, journal + at, sizeof old);
    memcpy(journal + at, data + sizeof at, sizeof old);
    check_patched(journal, journal_size, data + 12, size - 12);
    memcpy(journal + at, &old, sizeof old);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void *journal;
    static uint64_t journal_size;
    if (journal == NULL)
        journal = make_journal(&journal_size);
    if (size == 0)
        return 0;
    if (data[0] != 0) {
        if (size < 600)
            check_patched(journal, journal_size, data + 1, size - 1);
        return 0;
    }
    void *bytes = aligned_alloc(64, (size + 63) & ~63ull);
    if (bytes == NULL)
        return 0;
    memcpy(bytes, data + 1, size - 1);
    check(bytes, size - 1);
    free(bytes);
    return 0;
}
