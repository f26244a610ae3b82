// SPDX-License-Identifier: GPL-3.0-or-later
// Machine-check errors: what codes and statuses mean, both ways; files of mce-inject; fault loads;
// how severe Linux takes them to be.
#include "base/array.h"
#include "mce/code.h"
#include "mce/file.h"
#include "mce/load.h"
#include "mce/severity.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// Written by hand from the processor manual's tables.
static const struct {
    uint16_t code;
    enum mce_unit unit;
    const char *words;
} codes[] = {
    {0x0001, MCE_SIMPLE, "unclassified"},
    {0x0002, MCE_SIMPLE, "parity of the microcode ROM"},
    {0x0003, MCE_SIMPLE, "external error from another processor"},
    {0x0004, MCE_SIMPLE, "functional redundancy check"},
    {0x0005, MCE_SIMPLE, "internal parity"},
    {0x0006, MCE_SIMPLE, "code outside the memory of system management"},
    {0x0400, MCE_SIMPLE, "internal timer"},
    {0x0405, MCE_SIMPLE, "internal"},
    {0x0e0b, MCE_SIMPLE, "I/O"},
    {0x000c, MCE_GENERIC_CACHE, "cache hierarchy: level 0"},
    {0x000e, MCE_GENERIC_CACHE, "cache hierarchy: level 2"},
    {0x000f, MCE_GENERIC_CACHE, "cache hierarchy: any level"},
    {0x100d, MCE_GENERIC_CACHE, "cache hierarchy: level 1"},
    {0x0010, MCE_TLB, "TLB: instruction, level 0"},
    {0x0014, MCE_TLB, "TLB: data, level 0"},
    {0x0019, MCE_TLB, "TLB: generic, level 1"},
    {0x101b, MCE_TLB, "TLB: generic, any level"},
    {0x001c, MCE_UNKNOWN, "unknown"}, // TT is reserved
    {0x0080, MCE_MEMORY, "memory: channel 0"},
    {0x009f, MCE_MEMORY, "memory: read, any channel"},
    {0x00a3, MCE_MEMORY, "memory: write, channel 3"},
    {0x00b1, MCE_MEMORY, "memory: address or command, channel 1"},
    {0x00c0, MCE_MEMORY, "memory: scrubbing, channel 0"},
    {0x10cf, MCE_MEMORY, "memory: scrubbing, any channel"},
    {0x00d0, MCE_UNKNOWN, "unknown"}, // MMM is reserved
    {0x0290, MCE_MEMORY_CACHE, "memory as cache: read, channel 0"},
    {0x0100, MCE_CACHE, "cache: instruction, level 0"},
    {0x0115, MCE_CACHE, "cache: read, data, level 1"},
    {0x0126, MCE_CACHE, "cache: write, data, level 2"},
    {0x0134, MCE_CACHE, "cache: data load, data, level 0"},
    {0x1134, MCE_CACHE, "cache: data load, data, level 0"},
    {0x0145, MCE_CACHE, "cache: data store, data, level 1"},
    {0x0150, MCE_CACHE, "cache: instruction fetch, instruction, level 0"},
    {0x0166, MCE_CACHE, "cache: prefetch, data, level 2"},
    {0x017a, MCE_CACHE, "cache: eviction, generic, level 2"},
    {0x0186, MCE_CACHE, "cache: snoop, data, level 2"},
    {0x0190, MCE_UNKNOWN, "unknown"}, // RRRR is reserved
    {0x0800, MCE_BUS, "bus: memory, level 0, as source"},
    {0x0f1b, MCE_BUS, "bus: read, I/O, any level, timed out"},
    {0x1a35, MCE_BUS, "bus: data load, reserved, level 1, as responder"},
    {0x0c0f, MCE_BUS, "bus: other, any level, as observer"},
    {0x2134, MCE_UNKNOWN, "unknown"},
};
#define CODES (sizeof codes / sizeof *codes)

static void codes_have_words(void **state)
{
    for (size_t i = 0; i < CODES; i++) {
        struct buffer text = {0};
        assert_null(mce_put_code(codes[i].code, &text));
        if (strcmp(text.data, codes[i].words) != 0 || mce_code_unit(codes[i].code) != codes[i].unit)
            fail_msg("0x%04x is '%s', %s", codes[i].code, text.data,
                     mce_unit_names[mce_code_unit(codes[i].code)]);
        buffer_deinit(&text);
    }
}

// The other way: of all codes with these words there is one, apart from F.
static void words_have_codes(void **state)
{
    uint16_t all[MCE_MOST_CODES];
    size_t count = mce_all_codes(all), found = 0;
    assert_int_equal(count, 8 + 4 + 12 + 2 * 80 + 108 + 9 * 4 * 4 * 4 * 2 - 1); // 0x0e0b is no bus
    for (size_t i = 0; i < CODES; i++)
        for (size_t j = 0; j < count; j++) {
            struct buffer text = {0};
            assert_null(mce_put_code(all[j], &text));
            if (strcmp(text.data, codes[i].words) == 0) {
                assert_int_equal(all[j], codes[i].code & ~MCE_CODE_F);
                found++;
            }
            buffer_deinit(&text);
        }
    assert_int_equal(found, CODES - 5); // four unknown ones, and an internal one
}

static const struct mce_error *one(struct mce_errors *errors, const char *text)
{
    mce_errors_deinit(errors);
    assert_null(mce_read("test", text, strlen(text), errors));
    assert_int_equal(errors->list.count, 1);
    return &errors->list.items[0];
}

static void files_are_read(void **state)
{
    struct mce_errors errors = {0};
    // The thesis' own example.
    const struct mce_error *error = one(&errors, "CPU 2 BANK 8\n\nMCGSTATUS MCIP RIPV EIPV\n\n"
                                                 "STATUS UNCORRECTED 0x0186\n\nADDR 0x11111111\n\n"
                                                 "MISC 0x1111111\n\nNOBROADCAST\n");
    assert_int_equal(error->processor, 2);
    assert_int_equal(error->bank, 8);
    assert_int_equal(error->global, MCE_MCIP | MCE_RIPV | MCE_EIPV);
    assert_true(error->status == (MCE_VAL | MCE_UC | MCE_EN | MCE_ADDRV | MCE_MISCV | 0x0186));
    assert_int_equal(error->address, 0x11111111);
    assert_int_equal(error->misc, 0x1111111);
    assert_true(error->alone);
    assert_int_equal(mce_category(error->status, true), MCE_NO_ACTION);
    assert_int_equal(mce_category(error->status, false), MCE_UNCORRECTED);
    // Another, whose print lacks two zeros. It calls it an SRAO; AR says otherwise.
    error = one(&errors, "cpu 4 bank 8 status 0xbd8000000000017a # ADDR 0x1\nmcgstatus 0x5|eipv");
    assert_int_equal(mce_category(error->status, true), MCE_REQUIRED);
    assert_int_equal(error->global, 7);
    assert_int_equal(error->address, 0);
    error = one(&errors, "CPU 0 STATUS CORRECTED");
    assert_int_equal(mce_category(error->status, true), MCE_CORRECTED);
    error = one(&errors, "CPU 0 STATUS FATAL OVER 0xc1");
    assert_int_equal(mce_category(error->status, true), MCE_UNCORRECTED);
    error = one(&errors, "CPU 0 STATUS UC AR");
    assert_int_equal(mce_category(error->status, true), MCE_UNDEFINED);
    mce_errors_deinit(&errors);
}

static void files_come_back(void **state)
{
    static const char text[] = "CPU 1 BANK 4\nSTATUS uncorrected 0xc0\nMCGSTATUS EIPV MCIP\n"
                               "ADDR 0x1234\nRIP 0x33:0xdeadbabe\nMCGCAP SER CMCI 0x6 TES\n"
                               "IN_PROC TSC 0x77\n"
                               "CPU 65535 BANK 255 STATUS SRAR 0x134\n";
    struct mce_errors first = {0}, second = {0};
    struct buffer once = {0}, twice = {0};
    assert_null(mce_read("test", text, strlen(text), &first));
    assert_int_equal(first.list.count, 2);
    for (size_t i = 0; i < 2; i++)
        assert_null(mce_write(&first.list.items[i], &once));
    assert_non_null(
        strstr(once.data, "\nRIP 0x33:0xdeadbabe\nMCGCAP SER CMCI 0x6 TES\nIN_PROC\nTSC 0x77\n"));
    assert_null(mce_read("again", once.data, once.size, &second));
    for (size_t i = 0; i < 2; i++) {
        assert_true(first.list.items[i].status == second.list.items[i].status);
        assert_null(mce_write(&second.list.items[i], &twice));
    }
    assert_string_equal(once.data, twice.data);
    buffer_deinit(&once);
    buffer_deinit(&twice);
    mce_errors_deinit(&first);
    mce_errors_deinit(&second);
}

static void mistakes_are_shown(void **state)
{
    static const struct {
        const char *text, *message;
    } mistakes[] = {
        {"BANK 1", "t:1:1: an error begins with CPU and a number"},
        {"CPU", "t:1:4: CPU takes a number up to 0xffff"},
        {"CPU 65536", "t:1:5: CPU takes a number up to 0xffff"},
        {"CPU 1 BANK 256", "t:1:12: BANK takes a number up to 0xff"},
        {"CPU 1\nSTATUS UNCORECTED", "t:2:8: expected a number, a bit of the status"},
        {"CPU 1\nMCGSTATUS UC", "t:2:11: expected a number, RIPV, EIPV or MCIP"},
        {"CPU 1\nADDR x", "t:2:6: ADDR takes a number up to 0xffffffffffffffff"},
        {"CPU 1\nADDR 0x10000000000000000", "t:2:6: ADDR takes a number"},
        {"CPU 1\nBANKS 2", "t:2:1: expected a keyword"},
        {"CPU 1\nRIP 0x33:\x7f", "t:2:5: expected a word of printable characters"},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        struct mce_errors errors = {0};
        struct error *error = mce_read("t", mistakes[i].text, strlen(mistakes[i].text), &errors);
        assert_non_null(error);
        if (strncmp(error_message(error), mistakes[i].message, strlen(mistakes[i].message)) != 0)
            fail_msg("%s: %s", mistakes[i].text, error_message(error));
        error_free(error);
        mce_errors_deinit(&errors);
    }
}

static struct mce_errors generate(const char *load, uint64_t seed)
{
    struct mce_errors errors = {0};
    assert_null(mce_generate(&(struct mce_wanted){.load = load, .seed = seed, .bank = 1}, &errors));
    return errors;
}

static int by_content(const void *a, const void *b)
{
    const struct mce_error *first = a, *second = b;
    if (first->status != second->status)
        return first->status < second->status ? -1 : 1;
    return (first->global > second->global) - (first->global < second->global);
}

static void loads_have_their_sizes(void **state)
{
    static const struct {
        const char *name;
        size_t size;
    } loads[] = {{"codes", 4096}, {"flags", 192}, {"xen-codes", 49502}, {"xen-flags", 1536}};
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
        struct mce_errors errors = generate(loads[i].name, 1), again = generate(loads[i].name, 1);
        assert_int_equal(errors.list.count, loads[i].size);
        assert_int_equal(again.list.count, loads[i].size);
        for (size_t j = 0; j < loads[i].size; j++)
            assert_int_equal(by_content(&errors.list.items[j], &again.list.items[j]), 0);
        qsort(errors.list.items, loads[i].size, sizeof *errors.list.items, by_content);
        for (size_t j = 1; j < loads[i].size; j++) // none twice
            assert_true(by_content(&errors.list.items[j - 1], &errors.list.items[j]) < 0);
        mce_errors_deinit(&errors);
        mce_errors_deinit(&again);
    }
    struct mce_errors one = generate("codes", 1), other = generate("codes", 2);
    size_t same = 0;
    for (size_t i = 0; i < 4096; i++)
        same += by_content(&one.list.items[i], &other.list.items[i]) == 0;
    assert_true(same < 4096);
    mce_errors_deinit(&one);
    mce_errors_deinit(&other);
}

static void loads_are_filtered(void **state)
{
    struct mce_errors errors = {0};
    struct mce_wanted wanted = {.load = "all", .seed = 1, .processor = 3, .bank = 7, .sample = 5};
    wanted.units[MCE_TLB] = wanted.categories[MCE_REQUIRED] = true;
    assert_null(mce_generate(&wanted, &errors));
    assert_int_equal(errors.list.count, 5);
    for (size_t i = 0; i < 5; i++) {
        const struct mce_error *error = &errors.list.items[i];
        assert_int_equal(mce_code_unit((uint16_t)error->status), MCE_TLB);
        assert_int_equal(mce_category(error->status, true), MCE_REQUIRED);
        assert_int_equal(error->processor, 3);
        assert_int_equal(error->bank, 7);
    }
    mce_errors_deinit(&errors);
    wanted.sample = 0;
    assert_null(mce_generate(&wanted, &errors));
    assert_int_equal(errors.list.count, 12);
    mce_errors_deinit(&errors);
    wanted.load = "nothing";
    struct error *error = mce_generate(&wanted, &errors);
    assert_non_null(error);
    error_free(error);
}

static void severities_follow_the_rules(void **state)
{
    static const struct {
        uint64_t status;
        unsigned global;
        enum mce_place place;
        bool no_recovery;
        enum mce_severity severity;
        const char *rule;
    } rows[] = {
        {MCE_EN | MCE_UC, 7, MCE_IN_USER, false, MCE_SEVERITY_NO, "Invalid"},
        {MCE_VAL | MCE_UC, 7, MCE_IN_USER, false, MCE_SEVERITY_NO, "Not enabled"},
        {MCE_VAL | MCE_EN | MCE_UC | MCE_PCC, 7, MCE_IN_USER, false, MCE_SEVERITY_PANIC,
         "Processor context corrupt"},
        {MCE_VAL | MCE_EN | MCE_UC, 3, MCE_IN_USER, false, MCE_SEVERITY_PANIC,
         "MCIP not set in MCA handler"},
        {MCE_VAL | MCE_EN | MCE_UC, 4, MCE_IN_USER, false, MCE_SEVERITY_PANIC,
         "Neither restart nor error IP"},
        {MCE_VAL | MCE_EN | MCE_UC, 6, MCE_IN_KERNEL, false, MCE_SEVERITY_PANIC,
         "In kernel and no restart IP"},
        {MCE_VAL | MCE_EN | MCE_UC, 6, MCE_IN_USER, false, MCE_SEVERITY_UCNA,
         "Uncorrected no action required"},
        {MCE_VAL | MCE_EN | MCE_UC, 5, MCE_IN_USER, true, MCE_SEVERITY_UC, "Uncorrected"},
        {MCE_VAL | MCE_EN | MCE_UC, 5, MCE_IN_KERNEL, true, MCE_SEVERITY_PANIC,
         "Uncorrected in kernel"},
        {MCE_VAL | MCE_EN | MCE_UC | MCE_AR, 5, MCE_IN_USER, false, MCE_SEVERITY_PANIC,
         "Illegal combination (UCNA with AR=1)"},
        {MCE_VAL | MCE_EN | MCE_UC | MCE_S | 0x10c5, 5, MCE_IN_USER, false, MCE_SEVERITY_AO,
         "Action optional: memory scrubbing error"},
        {MCE_VAL | MCE_EN | MCE_UC | MCE_S | MCE_AR | MCE_ADDRV | MCE_MISCV | 0x134, 5, MCE_IN_USER,
         false, MCE_SEVERITY_KEEP, "Action required but unaffected thread is continuable"},
        {MCE_VAL | MCE_EN | MCE_UC | MCE_S | MCE_AR | MCE_ADDRV | MCE_MISCV | 0x150, 7, MCE_IN_USER,
         false, MCE_SEVERITY_AR, "Action required: instruction fetch error in a user process"},
        {MCE_VAL | MCE_EN | MCE_UC | MCE_S | MCE_AR | MCE_ADDRV | 0x134, 7, MCE_IN_USER, false,
         MCE_SEVERITY_PANIC, "Action required: unknown MCACOD"},
        {MCE_VAL | MCE_EN | MCE_UC | MCE_S | MCE_AR | 0x150, 7, MCE_IN_USER, false,
         MCE_SEVERITY_PANIC, "Action required: unknown MCACOD"},
        {MCE_VAL | MCE_EN | MCE_UC | MCE_S | MCE_OVER, 5, MCE_IN_USER, false, MCE_SEVERITY_SOME,
         "Action optional with lost events"},
        // What is found by polling need not be enabled, and there is no exception whose state
        // counts.
        {MCE_VAL | 0x134, 0, MCE_POLLED, false, MCE_SEVERITY_KEEP, "Non signaled machine check"},
        {MCE_VAL | 0x134, 0, MCE_POLLED, true, MCE_SEVERITY_KEEP, "Corrected error"},
        {MCE_VAL | MCE_UC, 0, MCE_POLLED, true, MCE_SEVERITY_PANIC, "Uncorrected in kernel"},
        {MCE_VAL | MCE_UC, 0, MCE_POLLED, false, MCE_SEVERITY_UCNA,
         "Uncorrected no action required"},
        {MCE_VAL | MCE_PCC, 0, MCE_POLLED, false, MCE_SEVERITY_PANIC, "Processor context corrupt"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct mce_error error = {.status = rows[i].status, .global = rows[i].global};
        const char *rule;
        enum mce_severity severity =
            mce_severity(&error, rows[i].place, !rows[i].no_recovery, &rule);
        if (severity != rows[i].severity || strcmp(rule, rows[i].rule) != 0)
            fail_msg("row %zu: %s, %s", i, mce_severity_names[severity], rule);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_have_words),   cmocka_unit_test(words_have_codes),
        cmocka_unit_test(files_are_read),     cmocka_unit_test(files_come_back),
        cmocka_unit_test(mistakes_are_shown), cmocka_unit_test(loads_have_their_sizes),
        cmocka_unit_test(loads_are_filtered), cmocka_unit_test(severities_follow_the_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
