// SPDX-License-Identifier: GPL-3.0-or-later
// Regions: made, kept, read back; every damage is an error and never a crash.
#include "trial-help.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

static const char *const specs[] = {"read=-1/EIO when count == 3 and stack(main)",
                                    "write*=-1/ENOSPC when new_stack", NULL};

static void a_region_holds_what_it_was_given(void **state)
{
    struct region region;
    must(make_region(specs, NULL, 0, &region));
    struct wire_view view;
    must(region_check(region.map, region.size, "region", &view));
    assert_int_equal(view.rule_count, 2);
    assert_int_equal(view.record_count, 0);
    assert_int_equal(view.plan->seed, 42);
    assert_non_null(view.stack_set);
    assert_string_equal(view.command, "victim");
    assert_string_equal(view.command + 7, "-x");
    assert_string_equal((char *)region.map + region.map->preload, "/lib/runtime.so");
    assert_string_equal((char *)region.map + region.map->file, region.path);
    assert_int_equal(region.map->journal_capacity, REGION_JOURNAL_RECORDS);
    region_close(&region);
}

static void the_plan_has_pages_of_its_own(void **state)
{
    struct region region;
    must(make_region(specs, NULL, 0, &region));
    assert_int_equal(region.map->plan % 4096, 0);
    assert_int_equal(region.map->rules % 4096, 0);
    assert_true(region.map->rules >= region.map->plan + region_plan(&region)->size);
    assert_true(region.map->plan >= region.map->command + strlen("victim") + strlen("-x") + 2);
    region_close(&region);
}

static void stray_writes_are_undone(void **state)
{
    struct region region;
    must(make_region(specs, NULL, 0, &region));
    region_start(&region, 12345);
    struct wire_region *map = region.map;
    memset(map, 0x55, offsetof(struct wire_region, requests));
    memset(&map->command, 0x55, region.layout.rules - offsetof(struct wire_region, command));
    map->journal_head = 3;
    map->processes = 2;
    map->process_numbers[5] = 77;
    assert_int_equal(region_plan(&region)->seed, 42);
    struct wire_view view;
    must_say(region_check(map, region.layout.arena, "region", &view), "is not a journal");
    struct region_copy copy;
    must(region_copy_take(&region, &copy));
    assert_int_equal(copy.view.plan->seed, 42);
    assert_int_equal(copy.view.record_count, 3);
    region_copy_close(&copy);
    region_conclude(&region, WIRE_OUTCOME_EXIT, 7, 99);
    must(region_check(map, region.layout.arena, "region", &view));
    assert_int_equal(view.rule_count, 2);
    assert_string_equal(view.command, "victim");
    assert_int_equal(map->start_ns, 12345);
    assert_int_equal(map->processes, 2);
    assert_int_equal(map->process_numbers[5], 77);
    assert_int_equal(view.record_count, 3);
    assert_int_equal(map->outcome, WIRE_OUTCOME_EXIT);
    assert_int_equal(map->outcome_status, 7);
    assert_int_equal(map->outcome_ns, 99);
    region_close(&region);
}

static void the_file_is_for_its_owner(void **state)
{
    struct region region;
    must(make_region(specs, NULL, 0, &region));
    struct stat file, directory;
    assert_int_equal(stat(region.path, &file), 0);
    assert_int_equal(stat(region.directory, &directory), 0);
    assert_int_equal(file.st_mode & 0777, 0666);
    assert_int_equal(directory.st_mode & 0777, 0700);
    _cleanup_free_ char *path = strdup(region.path);
    region_remove(&region);
    assert_int_equal(access(path, F_OK), -1);
    region.map->requests = 1; // the mapping lives on
    region_close(&region);
}

static void storage_is_there(void **state)
{
    struct region region;
    must(make_region(specs, NULL, 2000, &region));
    must(region_reserve(&region));
    struct stat facts;
    assert_int_equal(fstat(region.file, &facts), 0);
    assert_true((uint64_t)facts.st_blocks * 512 >= region.layout.arena);
    assert_true((uint64_t)facts.st_blocks * 512 < region.size); // the arena is sparse
    uint64_t offset, second;
    char *bytes = calloc(1, 3 << 20);
    must(region_arena_put(&region, bytes, 3 << 20, &offset));
    must(region_arena_put(&region, "abc", 4, &second));
    assert_true(offset >= region.layout.arena && second >= offset + (3 << 20));
    assert_string_equal((char *)region.map + second, "abc");
    must_say(region_arena_put(&region, bytes, region.size, &offset), "need more than");
    free(bytes);
    region_close(&region);
}

static void no_room_is_said(void **state)
{
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit old, tight = {.rlim_cur = 1 << 16, .rlim_max = RLIM_INFINITY};
    getrlimit(RLIMIT_FSIZE, &old);
    tight.rlim_max = old.rlim_max;
    setrlimit(RLIMIT_FSIZE, &tight);
    struct region region;
    struct error *error = make_region(specs, "journal", 0, &region);
    setrlimit(RLIMIT_FSIZE, &old);
    must_say(error, "File too large");
    assert_int_equal(access("journal", F_OK), -1);
    assert_int_equal(system("test -z \"$(ls -A)\""), 0); // nothing half made is left
}

static void a_journal_can_be_read_back(void **state)
{
    struct region region;
    must(make_region(specs, "journal", 10, &region));
    region.map->outcome = WIRE_OUTCOME_EXIT;
    region.map->journal_head = 12;
    region_close(&region);
    struct region_copy copy;
    must(region_copy_open("journal", &copy));
    assert_int_equal(copy.view.region->outcome, WIRE_OUTCOME_EXIT);
    assert_int_equal(copy.view.record_count, 10);
    region_copy_close(&copy);
}

// The journal is full, and records of crashes come after it.
static void crashes_find_room_in_a_full_journal(void **state)
{
    struct region region;
    must(make_region(specs, NULL, 10, &region));
    struct wire_record *records = (struct wire_record *)((char *)region.map + region.map->journal);
    struct wire_view view;
    region.map->journal_head = 10;
    records[10].state = WIRE_RECORD_COMPLETE; // not asked for
    must(region_check(region.map, region.layout.arena, "region", &view));
    assert_int_equal(view.record_count, 10);
    region.map->journal_head = 1000;
    region.map->processes = 1;
    for (uint32_t i = 0; i < WIRE_LATE_CRASHES; i++) {
        records[10 + i].kind = WIRE_RECORD_CRASH;
        records[10 + i].process_number = 1;
        records[10 + i].error = SIGSEGV;
    }
    records[11].state = WIRE_RECORD_OPEN;
    must(region_check(region.map, region.layout.arena, "region", &view));
    assert_int_equal(view.record_count, 12);
    for (uint32_t i = 0; i < WIRE_LATE_CRASHES; i++)
        records[10 + i].state = WIRE_RECORD_COMPLETE;
    must(region_check(region.map, region.layout.arena, "region", &view));
    assert_int_equal(view.record_count, 10 + WIRE_LATE_CRASHES);
    region_close(&region);
}

// A region as a trial leaves it: two calls, one injection, one crash.
static struct wire_rule_state *fill(struct region *region, struct wire_record **ret_records)
{
    must(make_region(specs, NULL, 10, region));
    struct wire_record *records =
        (struct wire_record *)((char *)region->map + region->map->journal);
    struct wire_rule_state *rules =
        (struct wire_rule_state *)((char *)region->map + region->map->rules);
    rules[0] = (struct wire_rule_state){.reached = 2, .fired = 1};
    records[0] = (struct wire_record){.kind = WIRE_RECORD_INJECTION, .occurrence = 2};
    records[1] = (struct wire_record){.kind = WIRE_RECORD_CRASH, .error = SIGSEGV};
    records[0].state = records[1].state = WIRE_RECORD_COMPLETE;
    records[0].process_number = records[1].process_number = 1;
    region->map->journal_head = 2;
    region->map->processes = 1;
    region->map->watched_ns = 1000000;
    *ret_records = records;
    return rules;
}

static enum wire_damage damage_of(const struct region *region)
{
    struct wire_view view;
    must(region_check(region->map, region->layout.arena, "region", &view));
    assert_true(view.damage == WIRE_DAMAGE_NONE || view.record_count == 0);
    return view.damage;
}

// Rows of calls are added to the rules of their patterns, once; nonsense in them is left out.
static void calls_in_rows_reach_their_rules(void **state)
{
    struct region region;
    struct wire_record *records;
    struct wire_rule_state *rules = fill(&region, &records);
    struct wire_counts *counts = (struct wire_counts *)((char *)region.map + region.layout.counts);
    counts->used = 2;
    counts->counts[1][0] = 30;
    counts->counts[2][7] = 4;
    counts->counts[2][8] = 500;
    counts->counts[2][9] = 6000;
    counts->counts[0][0] = counts->counts[3][0] = 70000; // nobody's rows
    counts->functions[1][0].patterns[0] = 1;
    counts->functions[2][7].patterns[0] = 1;
    counts->functions[2][7].patterns[1] = 2;
    counts->functions[2][9].patterns[0] = 3; // there are two
    counts->functions[3][0].patterns[0] = 1;
    struct region_copy copy;
    must(region_copy_take(&region, &copy));
    assert_int_equal(copy.view.rule_states[0].reached, 2 + 30 + 4);
    assert_int_equal(copy.view.rule_states[1].reached, 4);
    region_copy_close(&copy);
    assert_int_equal(rules[0].reached, 2);
    counts->used = UINT32_MAX;
    for (int i = 0; i < 2; i++) {
        region_add_counts(region.map, region.layout.arena, counts);
        assert_int_equal(rules[0].reached, 2 + 30 + 4 + 70000);
    }
    region.map->magic++;
    counts->counts[1][0] = 1;
    region_add_counts(region.map, region.layout.arena, counts);
    assert_int_equal(rules[0].reached, 2 + 30 + 4 + 70000);
    region_close(&region);
}

static void impossible_numbers_are_damage(void **state)
{
    struct region region;
    struct wire_record *records;
    struct wire_rule_state *rules = fill(&region, &records);
    struct wire_region *map = region.map;
    assert_int_equal(damage_of(&region), WIRE_DAMAGE_NONE);
#define DAMAGED(member, value, expected)                                                           \
    do {                                                                                           \
        __typeof__(member) before = member;                                                        \
        member = value;                                                                            \
        assert_int_equal(damage_of(&region), expected);                                            \
        member = before;                                                                           \
    } while (0)
    DAMAGED(rules[0].fired, 3, WIRE_DAMAGE_FIRED);
    DAMAGED(rules[1].fired, UINT64_MAX, WIRE_DAMAGE_FIRED);
    DAMAGED(rules[0].reached, 0, WIRE_DAMAGE_FIRED);
    DAMAGED(rules[1].reached, 1ull << 62, WIRE_DAMAGE_TIME);
    DAMAGED(map->journal_head, UINT64_MAX, WIRE_DAMAGE_TIME);
    DAMAGED(map->forks, 2, WIRE_DAMAGE_TIME);
    DAMAGED(map->stack_set_lost, 1ull << 60, WIRE_DAMAGE_TIME);
    DAMAGED(rules[0].fired, 0, WIRE_DAMAGE_RECORD);
    DAMAGED(map->journal_head, 0, WIRE_DAMAGE_RECORD); // counted without a record
    DAMAGED(map->processes, 0, WIRE_DAMAGE_RECORD);
    DAMAGED(records[0].rule, 2, WIRE_DAMAGE_RECORD);
    DAMAGED(records[0].kind, 17, WIRE_DAMAGE_RECORD);
    DAMAGED(records[0].state, 17, WIRE_DAMAGE_RECORD);
    DAMAGED(records[0].occurrence, 0, WIRE_DAMAGE_RECORD);
    DAMAGED(records[0].occurrence, UINT64_MAX, WIRE_DAMAGE_RECORD);
    DAMAGED(records[0].frame_count, WIRE_FRAMES + 1, WIRE_DAMAGE_RECORD);
    DAMAGED(records[0].time_ns, UINT64_MAX - 5, WIRE_DAMAGE_RECORD);
    DAMAGED(records[1].process_number, 2, WIRE_DAMAGE_RECORD);
    DAMAGED(records[1].error, -7, WIRE_DAMAGE_RECORD);
    rules[0].reached = 100;
    DAMAGED(rules[0].fired, 2, WIRE_DAMAGE_RECORD); // one record is that of a crash
    // Two threads died, one while it wrote its record, one before it counted.
    map->journal_head = 4;
    DAMAGED(rules[0].fired, 1, WIRE_DAMAGE_NONE);
    DAMAGED(rules[0].fired, 2, WIRE_DAMAGE_NONE);
    DAMAGED(rules[0].fired, 4, WIRE_DAMAGE_RECORD);
    map->journal_head = 1000; // full: lost records count
    DAMAGED(rules[0].fired, 50, WIRE_DAMAGE_NONE);
    rules[0].reached = 10000;
    DAMAGED(rules[0].fired, 1000, WIRE_DAMAGE_RECORD);
    region_close(&region);
}

static void an_older_journal_stays_whole_for_its_readers(void **state)
{
    struct region first, second;
    must(make_region(specs, "journal", 10, &first));
    must(make_region(specs, "journal", 20, &second));
    assert_int_equal(first.map->journal_capacity, 10);
    struct stat facts;
    assert_int_equal(fstat(first.file, &facts), 0);
    assert_true((uint64_t)facts.st_size == first.size);
    region_close(&first);
    region_close(&second);
    struct region_copy copy;
    must(region_copy_open("journal", &copy));
    assert_int_equal(copy.view.region->journal_capacity, 20);
    region_copy_close(&copy);
}

static void places_that_cannot_be_written_are_named(void **state)
{
    struct region region;
    must_say(make_region(specs, "/nonexistent/x", 0, &region), "/nonexistent/x: No such file");
    must_say(make_region(specs, "/dev/null", 0, &region), "is not a regular file");
    must_say(make_region(specs, ".", 0, &region), "is not a regular file");
    must_say(make_region(specs, "x/", 0, &region), "directory");
    must_say(make_region(specs, NULL, REGION_JOURNAL_RECORDS_MAX + 1, &region), "at most");
}

static void cut_files_are_refused(void **state)
{
    struct region region;
    must(make_region(specs, "journal", 4, &region));
    uint64_t arena = region.layout.arena;
    region_close(&region);
    for (uint64_t size = 0; size < arena; size += size < 2000 ? 7 : 4099) {
        assert_int_equal(system("cp journal cut"), 0);
        assert_int_equal(truncate("cut", (off_t)size), 0);
        struct region_copy copy;
        must_say(region_copy_open("cut", &copy), "cut");
        if (size > 2000)
            size += arena / 20;
    }
    struct region_copy copy;
    must_say(region_copy_open("nowhere", &copy), "No such file");
    must_say(region_copy_open(".", &copy), "not a regular file");
}

// Every word of the header takes values that point nowhere; whatever is accepted must be in bounds.
static void a_damaged_header_never_leads_outside(void **state)
{
    struct region region;
    must(make_region(specs, NULL, 4, &region));
    uint64_t size = region.layout.arena;
    // Exactly as large as the data, so that a read past the end is noticed by the sanitizers.
    void *bytes = aligned_alloc(64, (size + 63) & ~63ull);
    memcpy(bytes, region.map, size);
    const uint64_t values[] = {1,        7,          8,          size - 8,       size - 1,  size,
                               size + 8, UINT32_MAX, UINT64_MAX, UINT64_MAX - 7, 1ull << 63};
    unsigned refused = 0;
    for (size_t at = 0; at + 8 <= sizeof(struct wire_region); at += 4)
        for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
            uint64_t old;
            memcpy(&old, (char *)bytes + at, 8);
            memcpy((char *)bytes + at, &values[i], 8);
            struct wire_view view;
            struct error *error = region_check(bytes, size, "it", &view);
            refused += error != NULL;
            if (error == NULL)
                assert_true((char *)(view.journal + view.record_count) <= (char *)bytes + size);
            error_free(error);
            memcpy((char *)bytes + at, &old, 8);
        }
    assert_true(refused > 100);
    free(bytes);
    region_close(&region);
}

static void only_what_dead_controllers_left_is_swept(void **state)
{
    pid_t dead = fork();
    if (dead == 0)
        _exit(0);
    assert_int_equal(waitpid(dead, NULL, 0), dead);
    char stale[60], alive[60];
    snprintf(stale, sizeof stale, "ordeal-%ld-abc", (long)dead);
    snprintf(alive, sizeof alive, "ordeal-%ld-abc", (long)getpid());
    const char *const others[] = {"ordeal-setuid", "ordeal-", "ordeal-12x-3", "other-1-2"};
    assert_int_equal(mkdir(stale, 0711) | mkdir(alive, 0711), 0);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(mkdir(others[i], 0711), 0);
    char file[100];
    snprintf(file, sizeof file, "%s/region-1", stale);
    close(open(file, O_CREAT | O_WRONLY, 0666));
    region_sweep(".", UINT_MAX);
    assert_int_equal(access(stale, F_OK), -1);
    assert_int_equal(access(alive, F_OK), 0);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(access(others[i], F_OK), 0);
    region_sweep("/nonexistent", UINT_MAX);
}

static unsigned left_over(void)
{
    unsigned count = 0;
    DIR *here = opendir(".");
    assert_non_null(here);
    for (struct dirent *entry; (entry = readdir(here)) != NULL;)
        count += strncmp(entry->d_name, "ordeal-", strlen("ordeal-")) == 0;
    closedir(here);
    return count;
}

// While a command runs, there is no time for more.
static void a_few_are_swept_at_a_time(void **state)
{
    pid_t dead = fork();
    if (dead == 0)
        _exit(0);
    assert_int_equal(waitpid(dead, NULL, 0), dead);
    for (int i = 0; i < 10; i++) {
        char stale[60];
        snprintf(stale, sizeof stale, "ordeal-%ld-%d", (long)dead, i);
        assert_int_equal(mkdir(stale, 0711), 0);
    }
    const struct region region = {.directory = (char *)"./somewhere"};
    region_tidy(&region);
    unsigned left = left_over();
    assert_in_range(left, 1, 9);
    for (unsigned before = 10; left < before;) {
        before = left;
        region_tidy(&region);
        left = left_over();
    }
    assert_int_equal(left, 0);
}

static struct wire_region *restored; // what region_restore() works on
static size_t restored_size;

// A target's answer arrives between what is read and what is written.
static void answer_meanwhile(int number)
{
    mprotect(restored, restored_size, PROT_READ | PROT_WRITE);
    restored->fork.state = WIRE_FORK_ENDED;
    restored->fork.events++;
}

static void what_a_fork_waits_for_is_left_alone(void **state)
{
    struct region region;
    must(make_region(specs, NULL, 0, &region));
    restored_size = (region.layout.rules + 4095) & ~4095ull;
    restored =
        mmap(NULL, restored_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(restored, MAP_FAILED);
    memcpy(restored, region.map, region.layout.rules);
    restored->fork.state = WIRE_FORK_GRANTED;
    restored->fork.events = 6;
    restored->size = 1; // a stray write
    mprotect(restored, restored_size, PROT_READ);
    struct sigaction before, catching = {.sa_handler = answer_meanwhile};
    assert_int_equal(sigaction(SIGSEGV, &catching, &before), 0);
    region_restore(&region, restored);
    sigaction(SIGSEGV, &before, NULL);
    assert_int_equal(restored->size, region.layout.size);
    assert_int_equal(restored->fork.state, WIRE_FORK_ENDED);
    assert_int_equal(restored->fork.events, 7);
    munmap(restored, restored_size);
    region_close(&region);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_region_holds_what_it_was_given),
        cmocka_unit_test(the_plan_has_pages_of_its_own),
        cmocka_unit_test(stray_writes_are_undone),
        cmocka_unit_test(what_a_fork_waits_for_is_left_alone),
        cmocka_unit_test(the_file_is_for_its_owner),
        cmocka_unit_test(storage_is_there),
        cmocka_unit_test_setup_teardown(no_room_is_said, enter_scratch, leave_scratch),
        cmocka_unit_test_setup_teardown(a_journal_can_be_read_back, enter_scratch, leave_scratch),
        cmocka_unit_test(crashes_find_room_in_a_full_journal),
        cmocka_unit_test(calls_in_rows_reach_their_rules),
        cmocka_unit_test(impossible_numbers_are_damage),
        cmocka_unit_test_setup_teardown(an_older_journal_stays_whole_for_its_readers, enter_scratch,
                                        leave_scratch),
        cmocka_unit_test_setup_teardown(places_that_cannot_be_written_are_named, enter_scratch,
                                        leave_scratch),
        cmocka_unit_test_setup_teardown(cut_files_are_refused, enter_scratch, leave_scratch),
        cmocka_unit_test(a_damaged_header_never_leads_outside),
        cmocka_unit_test_setup_teardown(only_what_dead_controllers_left_is_swept, enter_scratch,
                                        leave_scratch),
        cmocka_unit_test_setup_teardown(a_few_are_swept_at_a_time, enter_scratch, leave_scratch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
