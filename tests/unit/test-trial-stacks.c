// SPDX-License-Identifier: GPL-3.0-or-later
// The memory of new_stack across trials.
#include "trial-help.h"

#include "trial/stacks.h"

static const char *const specs[] = {"read=-1 when new_stack", NULL};
#define HEADING "# call stacks remembered by ordeal run --stacks, format 2\n"

static const char *const other[] = {"read=-1", NULL};

static uint64_t *set_of(struct region *region)
{
    return (uint64_t *)((char *)region->map + region->layout.stack_set);
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void stacks_come_back(void **state)
{
    struct region region;
    struct wire_view view;
    must(make_region(specs, NULL, 4, &region));
    must(stacks_load("seen", &region)); // not there yet
    // Two that fall on the same place, and one that wraps around.
    set_of(&region)[5] = 5;
    set_of(&region)[6] = 5 + WIRE_STACK_SET;
    set_of(&region)[WIRE_STACK_SET - 1] = UINT64_MAX;
    must(region_check(region.map, region.size, "region", &view));
    must(stacks_save("seen", &view));
    region_close(&region);

    must(make_region(specs, NULL, 4, &region));
    must(stacks_load("seen", &region));
    uint64_t *set = set_of(&region);
    assert_true((set[5] == 5 && set[6] == 5 + WIRE_STACK_SET) ||
                (set[6] == 5 && set[5] == 5 + WIRE_STACK_SET));
    assert_true(set[WIRE_STACK_SET - 1] == UINT64_MAX);
    unsigned used = 0;
    for (size_t i = 0; i < WIRE_STACK_SET; i++)
        used += set[i] != 0;
    assert_int_equal(used, 3);
    region_close(&region);
}

static void a_scenario_without_new_stack_leaves_the_file_alone(void **state)
{
    write_text("seen", "something else\n");
    struct region region;
    struct wire_view view;
    must(make_region(other, NULL, 4, &region));
    must(stacks_load("seen", &region));
    must(region_check(region.map, region.size, "region", &view));
    must(stacks_save("seen", &view));
    region_close(&region);
    struct buffer text = {0};
    must(buffer_read_file("seen", 100, &text));
    assert_string_equal(text.data, "something else\n");
    buffer_deinit(&text);
}

static void foreign_files_are_refused(void **state)
{
    struct region region;
    must(make_region(specs, NULL, 4, &region));
    write_text("notes.txt", "my notes\n");
    must_say(stacks_load("notes.txt", &region), "notes.txt is not a file of --stacks");
    write_text("bad", HEADING "12\nxyz\n");
    must_say(stacks_load("bad", &region), "bad:3:");
    write_text("zero", HEADING "0\n");
    must_say(stacks_load("zero", &region), "zero:2:");
    must_say(stacks_load(".", &region), "Is a directory");
    write_text("empty", "");
    must(stacks_load("empty", &region));
    struct wire_view view;
    must(region_check(region.map, region.size, "region", &view));
    must_say(stacks_save("/nonexistent/seen", &view), "/nonexistent/seen");
    region_close(&region);
}

// Their hashes are others, so that every stack would be new again.
static void files_of_other_formats_are_refused(void **state)
{
    struct region region;
    must(make_region(specs, NULL, 4, &region));
    write_text("old", "# call stacks remembered by ordeal run --stacks, format 1\n12\n");
    must_say(stacks_load("old", &region), "old is of another version of ordeal");
    write_text("new", "# call stacks remembered by ordeal run --stacks, format 23\n12\n");
    must_say(stacks_load("new", &region), "remove it, or name a new file");
    for (size_t i = 0; i < WIRE_STACK_SET; i++)
        assert_int_equal(set_of(&region)[i], 0);
    region_close(&region);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(stacks_come_back, enter_scratch, leave_scratch),
        cmocka_unit_test_setup_teardown(a_scenario_without_new_stack_leaves_the_file_alone,
                                        enter_scratch, leave_scratch),
        cmocka_unit_test_setup_teardown(foreign_files_are_refused, enter_scratch, leave_scratch),
        cmocka_unit_test_setup_teardown(files_of_other_formats_are_refused, enter_scratch,
                                        leave_scratch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
