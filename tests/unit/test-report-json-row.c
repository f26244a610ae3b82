// SPDX-License-Identifier: GPL-3.0-or-later
// Rows that are written straight are those that jansson writes.
#include "trial-help.h"

#include "base/cleanup.h"
#include "report/json-row.h"
#include "report/json.h"

static const char *const texts[] = {"",
                                    "plain",
                                    "a \"quoted\" \\ word",
                                    "tab\tline\nbell\a\x1f\x7f",
                                    "/slash",
                                    "gr\xc3\xbc\xc3\x9f \xf0\x9f\x90\x9b",
                                    "\xff broken \xc3"};
#define TEXTS (sizeof texts / sizeof *texts)

static void rows_are_those_of_jansson(void **state)
{
    const uint64_t numbers[] = {0, 7, 10, UINT32_MAX, INT64_MAX, UINT64_MAX};
    struct json_builder builder = {0};
    _cleanup_(buffer_deinit) struct buffer expected = {0}, got = {0};
    _cleanup_(json_release) json_t *object = json_object();
    struct json_row row = json_row_begin(&got);
    char key[16];
    for (size_t i = 0; i < TEXTS; i++) {
        snprintf(key, sizeof key, "text%zu", i);
        json_add_string(&builder, object, key, texts[i]);
        json_row_string(&row, key, texts[i]);
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        snprintf(key, sizeof key, "number%zu", i);
        json_add_integer(&builder, object, key, numbers[i]);
        json_row_integer(&row, key, numbers[i]);
    }
    json_add_bool(&builder, object, "true", true);
    json_add_bool(&builder, object, "false", false);
    json_row_bool(&row, "true", true);
    json_row_bool(&row, "false", false);
    json_t *list = json_add_array(&builder, object, "list");
    for (size_t i = 0; i < TEXTS; i++)
        json_add_string(&builder, list, NULL, texts[i]);
    json_row_strings(&row, "list", texts, TEXTS);
    json_add_array(&builder, object, "none");
    json_row_strings(&row, "none", texts, 0);
    must(json_write_line(&builder, object, &expected));
    must(json_row_end(&row));
    must(buffer_append(&got, "", 1));
    must(buffer_append(&expected, "", 1));
    assert_string_equal(got.data, expected.data);
}

static void an_empty_row_is_an_empty_object(void **state)
{
    _cleanup_(buffer_deinit) struct buffer got = {0};
    struct json_row row = json_row_begin(&got);
    must(json_row_end(&row));
    must(buffer_append(&got, "", 1));
    assert_string_equal(got.data, "{}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_those_of_jansson),
        cmocka_unit_test(an_empty_row_is_an_empty_object),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
