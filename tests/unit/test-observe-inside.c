// SPDX-License-Identifier: GPL-3.0-or-later
// What the tracer reads in memory that programs can write, and the code that it puts into them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/error.h"
#include "observe/filter.h"
#include "observe/inside.h"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

static void must(struct error *error)
{
    if (error != NULL)
        fail_msg("%s", error_message(error));
}

struct taken {
    char text[256];
};

static struct error *take(void *data, const struct inside_call *call)
{
    struct taken *taken = data;
    size_t used = strlen(taken->text);
    snprintf(taken->text + used, sizeof taken->text - used, "%s(%s) %.*s;", call->call.call->name,
             call->descriptor, (int)call->size, (const char *)call->data);
    return NULL;
}

static uint32_t put(char *at, uint32_t number, uint32_t text, const char *data)
{
    struct inside_record record = {.number = number, .text = text, .data = (uint32_t)strlen(data)};
    record.size = (uint32_t)((sizeof record + record.data + 7) & ~7ull);
    record.result = record.data;
    memcpy(at, &record, sizeof record);
    memcpy(at + sizeof record, data, record.data);
    return record.size;
}

static struct inside_slot *new_slot(void)
{
    struct inside_slot *slot = calloc(1, INSIDE_SLOT_SIZE);
    assert_non_null(slot);
    return slot;
}

static char text[] = "file", *texts[] = {text};
static const struct inside inside = {.texts = {.items = texts, .count = 1}};

static void records_are_taken_once(void **state)
{
    struct inside_slot *slot = new_slot();
    struct inside_task task = {.slot = slot};
    struct taken taken = {0};
    char *records = (char *)slot + INSIDE_RECORDS;
    slot->used = put(records, SYS_write, 1, "abc");
    slot->used += put(records + slot->used, SYS_pwrite64, 1, "");
    must(inside_drain(&inside, &task, take, &taken));
    assert_string_equal(taken.text, "write(file) abc;pwrite64(file) ;");
    must(inside_drain(&inside, &task, take, &taken));
    assert_string_equal(taken.text, "write(file) abc;pwrite64(file) ;");
    free(slot);
}

// Whatever stands there: a call that is none, a text that there is not, sizes that lead outside.
static void nonsense_is_ignored(void **state)
{
    struct inside_slot *slot = new_slot();
    struct inside_task task = {.slot = slot};
    struct taken taken = {0};
    char *records = (char *)slot + INSIDE_RECORDS;
    slot->used = put(records, SYS_read, 1, "read");
    slot->used += put(records + slot->used, SYS_write, 2, "two");
    slot->used += put(records + slot->used, SYS_write, 0, "zero");
    slot->used += put(records + slot->used, 4000000000u, 1, "none");
    slot->used += put(records + slot->used, SYS_write, 1, "right");
    must(inside_drain(&inside, &task, take, &taken));
    assert_string_equal(taken.text, "write(file) right;");
    static const uint32_t sizes[] = {0, 1, 8, 47, UINT32_MAX, UINT32_MAX - 7, INSIDE_RECORD_ROOM};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct inside_record *record = (struct inside_record *)records;
        struct taken none = {0};
        slot->used = put(records, SYS_write, 1, "abcdefgh");
        record->size = sizes[i];
        must(inside_drain(&inside, &task, take, &none));
        slot->used = put(records, SYS_write, 1, "abcdefgh");
        record->data = sizes[i];
        if (sizes[i] > 8)
            must(inside_drain(&inside, &task, take, &none));
        assert_string_equal(none.text, "");
    }
    // More records than there is room for: those that are there count.
    memset(records, 0, INSIDE_RECORD_ROOM);
    put(records, SYS_write, 1, "one");
    slot->used = UINT32_MAX;
    struct taken one = {0};
    must(inside_drain(&inside, &task, take, &one));
    assert_string_equal(one.text, "write(file) one;");
    free(slot);
}

// Runs the filter as the kernel does.
static uint32_t run(const struct filter *filter, const struct seccomp_data *data)
{
    uint32_t a = 0;
    for (size_t i = 0; i < filter->code.count; i++) {
        const struct sock_filter *one = &filter->code.items[i];
        switch (one->code) {
        case BPF_LD | BPF_W | BPF_ABS:
            memcpy(&a, (const char *)data + one->k, sizeof a);
            break;
        case BPF_JMP | BPF_JEQ | BPF_K:
            i += a == one->k ? one->jt : one->jf;
            break;
        case BPF_JMP | BPF_JGE | BPF_K:
            i += a >= one->k ? one->jt : one->jf;
            break;
        case BPF_JMP | BPF_JSET | BPF_K:
            i += (a & one->k) != 0 ? one->jt : one->jf;
            break;
        case BPF_JMP | BPF_JA:
            i += one->k;
            break;
        case BPF_ALU | BPF_AND | BPF_K:
            a &= one->k;
            break;
        case BPF_RET | BPF_K:
            return one->k;
        default:
            fail_msg("instruction %#x", one->code);
        }
    }
    fail_msg("no answer");
    return 0;
}

static void only_our_code_may_call(void **state)
{
    unsigned char *stops = calloc(linux_call_count(), 1);
    assert_non_null(stops);
    stops[linux_call_index(linux_call_find("write"))] = FILTER_STOP;
    stops[linux_call_index(linux_call_find("prctl"))] = FILTER_ABOUT(FILTER_STOP_IF_FILTERS, 0);
    struct filter filter;
    must(filter_make(stops, &inside_code, &filter));
    struct seccomp_data data = {.nr = SYS_write, .arch = AUDIT_ARCH_X86_64};
    static const struct {
        uint64_t place;
        uint32_t answer;
    } rows[] = {{INSIDE_BASE + 7, SECCOMP_RET_ALLOW},
                {INSIDE_BASE + INSIDE_CODE_SIZE - 1, SECCOMP_RET_ALLOW},
                {INSIDE_BASE + INSIDE_CODE_SIZE, SECCOMP_RET_TRACE},
                {INSIDE_BASE - 1, SECCOMP_RET_TRACE},
                {INSIDE_BASE + (1ull << 32), SECCOMP_RET_TRACE},
                {7, SECCOMP_RET_TRACE}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        data.instruction_pointer = rows[i].place;
        assert_int_equal(run(&filter, &data), rows[i].answer);
    }
    data.nr = SYS_lseek;
    assert_int_equal(run(&filter, &data), SECCOMP_RET_ALLOW);
    data.nr = SYS_prctl;
    data.args[0] = 15; // PR_SET_NAME
    assert_int_equal(run(&filter, &data), SECCOMP_RET_ALLOW);
    data.args[0] = 22; // PR_SET_SECCOMP
    assert_int_equal(run(&filter, &data), SECCOMP_RET_TRACE);
    // Programs for i386 have no code of ours.
    data = (struct seccomp_data){
        .nr = 4, .arch = AUDIT_ARCH_I386, .instruction_pointer = INSIDE_BASE + 7};
    assert_int_equal(run(&filter, &data), SECCOMP_RET_TRACE);
    filter_deinit(&filter);
    free(stops);
}

// The section is copied, so it must not lead out of itself: every call in it stays inside.
static void code_fits(void **state)
{
    size_t size = (size_t)(__stop_ordeal_inside - __start_ordeal_inside);
    assert_in_range(size, 256, INSIDE_CODE_SIZE);
    const char *const places[] = {inside_entry, inside_started,     inside_made,
                                  inside_kept,  inside_return_done, inside_return_undone};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        assert_true(places[i] >= __start_ordeal_inside && places[i] < __stop_ordeal_inside);
    struct inside opened = {0};
    inside_open(&opened);
    assert_non_null(opened.memory);
    assert_memory_equal(opened.memory, __start_ordeal_inside, size);
    inside_close(&opened);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_taken_once), cmocka_unit_test(nonsense_is_ignored),
        cmocka_unit_test(only_our_code_may_call), cmocka_unit_test(code_fits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
