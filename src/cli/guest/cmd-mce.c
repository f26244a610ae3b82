// SPDX-License-Identifier: GPL-3.0-or-later
// ordeal mce: lists machine-check errors for 'ordeal guest --mce', and says what one means.
#include "cli/registry.h"

#include "base/choice.h"
#include "base/cleanup.h"
#include "mce/file.h"
#include "mce/load.h"
#include "mce/severity.h"
#include "report/json.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct settings {
    const char *load, *address;
    struct option_list units, categories;
    struct option_number processor, bank, sample, seed;
    bool alone, no_recovery, json;
};

#define FIELD(name) offsetof(struct settings, name)
static const struct option options[] = {
    {"faultload", 0, OPTION_TEXT, "NAME", "what to list: all, codes, flags, xen-codes or xen-flags",
     FIELD(load)},
    {"unit", 0, OPTION_LIST, "UNIT",
     "only errors of this unit: simple, generic-cache, tlb, memory, memory-cache, cache or bus; "
     "may "
     "be given again",
     FIELD(units)},
    {"category", 0, OPTION_LIST, "CATEGORY",
     "only errors of this category: CE, UCNA, SRAO, SRAR, undefined or UC; may be given again",
     FIELD(categories)},
    {"processor", 0, OPTION_NUMBER, "N", "the processor that has the error; 0 if it is not given",
     FIELD(processor)},
    {"bank", 0, OPTION_NUMBER, "N", "its bank of registers; 1 if it is not given", FIELD(bank)},
    {"address", 0, OPTION_TEXT, "ADDRESS", "where memory failed; 0x8000000 if it is not given",
     FIELD(address)},
    {"alone", 0, OPTION_FLAG, NULL, "only that processor is interrupted, not all", FIELD(alone)},
    {"sample", 0, OPTION_NUMBER, "N", "draw so many at random", FIELD(sample)},
    {"seed", 0, OPTION_NUMBER, "N", "for what is drawn; 1 if it is not given", FIELD(seed)},
    {"no-recovery", 0, OPTION_FLAG, NULL,
     "the processor does not support recovery by software (SER_P is clear)", FIELD(no_recovery)},
    {"json", 0, OPTION_FLAG, NULL, "print as JSON, one line for each error", FIELD(json)},
};

static const char *const words[] = {"list", "decode", NULL};

// ---- One error ----

static struct error *put_code(const struct mce_error *error, struct buffer *text)
{
    TRY(mce_put_code((uint16_t)error->status, text));
    return (error->status & MCE_CODE_F) == 0 ? NULL : buffer_printf(text, ", filtered");
}

static struct error *put_severity(const struct mce_error *error, bool recovery, struct buffer *text)
{
    if ((error->status & MCE_VAL) == 0)
        return NULL;
    if ((error->status & MCE_UC) == 0)
        return buffer_printf(text, "  Linux          finds it by polling, and writes it down\n");
    static const char *const places[] = {
        [MCE_IN_USER] = "in user space", [MCE_IN_KERNEL] = "in the kernel"};
    for (enum mce_place place = MCE_IN_USER; place <= MCE_IN_KERNEL; place++) {
        const char *rule;
        enum mce_severity severity = mce_severity(error, place, recovery, &rule);
        TRY(buffer_printf(text, "  %-14s %s: %s\n", places[place], mce_severity_names[severity],
                          rule));
    }
    return NULL;
}

static struct error *put_words(const struct mce_error *error, bool recovery, struct buffer *text)
{
    TRY(buffer_printf(text, "processor %u, bank %u: %s, ", error->processor, error->bank,
                      mce_category_names[mce_category(error->status, recovery)]));
    TRY(put_code(error, text));
    TRY(buffer_printf(text, "\n  status         %#018llx ", (unsigned long long)error->status));
    TRY(mce_put_status_bits(error->status, text));
    TRY(buffer_printf(text, ", code 0x%04x\n", (unsigned)(error->status & MCE_CODE)));
    TRY(buffer_printf(text, "  global         %#llx ", (unsigned long long)error->global));
    TRY(mce_put_global_bits(error->global, text));
    TRY(buffer_printf(text, "\n"));
    if ((error->status & MCE_ADDRV) != 0)
        TRY(buffer_printf(text, "  address        %#llx\n", (unsigned long long)error->address));
    if ((error->status & MCE_MISCV) != 0)
        TRY(buffer_printf(text, "  misc           %#llx\n", (unsigned long long)error->misc));
    return put_severity(error, recovery, text);
}

static void add_hexadecimal(struct json_builder *builder, json_t *row, const char *name,
                            uint64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%#llx", (unsigned long long)value);
    json_add_string(builder, row, name, text);
}

static struct error *put_json(const struct mce_error *error, bool recovery, struct buffer *text)
{
    struct json_builder builder = {0};
    _cleanup_(json_release) json_t *row = json_object();
    _cleanup_(buffer_deinit) struct buffer code = {0}, line = {0};
    const char *rule;
    if (row == NULL)
        return error_no_memory();
    TRY(put_code(error, &code));
    json_add_integer(&builder, row, "processor", error->processor);
    json_add_integer(&builder, row, "bank", error->bank);
    add_hexadecimal(&builder, row, "status", error->status);
    add_hexadecimal(&builder, row, "global", error->global);
    add_hexadecimal(&builder, row, "address", error->address);
    add_hexadecimal(&builder, row, "misc", error->misc);
    json_add_string(&builder, row, "unit", mce_unit_names[mce_code_unit((uint16_t)error->status)]);
    json_add_string(&builder, row, "error", code.data);
    json_add_string(&builder, row, "category",
                    mce_category_names[mce_category(error->status, recovery)]);
    if ((error->status & MCE_UC) != 0) { // others are no exceptions
        json_add_string(&builder, row, "severity_in_user_space",
                        mce_severity_names[mce_severity(error, MCE_IN_USER, recovery, &rule)]);
        json_add_string(&builder, row, "rule_in_user_space", rule);
        json_add_string(&builder, row, "severity_in_kernel",
                        mce_severity_names[mce_severity(error, MCE_IN_KERNEL, recovery, &rule)]);
        json_add_string(&builder, row, "rule_in_kernel", rule);
    }
    TRY(json_write_line(&builder, row, &line));
    return buffer_append(text, line.data, line.size);
}

// ---- ordeal mce list ----

static struct error *take_names(const struct option_list *list, const char *const *names,
                                size_t count, const char *what, bool *ret_set)
{
    for (size_t i = 0; i < list->entries.count; i++) {
        const char *word = list->entries.items[i].value;
        if (!mce_mark_name(names, count, word, ret_set))
            return error_new("--%s does not know '%s'; 'ordeal mce --help' lists them", what, word);
    }
    return NULL;
}

static struct error *take_address(const char *text, uint64_t *ret_address)
{
    char *end;
    errno = 0;
    *ret_address = strtoull(text, &end, 0);
    return isdigit((unsigned char)*text) && *end == '\0' && errno == 0
               ? NULL
               : error_new("--address takes a number such as 0x8000000, not '%s'", text);
}

static uint64_t number_or(const struct option_number *number, uint64_t otherwise)
{
    return number->given ? number->value : otherwise;
}

static struct error *list(const struct settings *settings, struct mce_errors *ret_errors)
{
    struct mce_wanted wanted = {
        .load = settings->load != NULL ? settings->load : "all",
        .processor = (unsigned)number_or(&settings->processor, 0),
        .bank = (unsigned)number_or(&settings->bank, 1),
        .address = MCE_ADDRESS,
        .misc = MCE_PAGE,
        .alone = settings->alone,
        .seed = number_or(&settings->seed, 1),
        .sample = number_or(&settings->sample, 0),
    };
    if (number_or(&settings->processor, 0) > 65535 || number_or(&settings->bank, 0) > 255)
        return error_new("processors have numbers up to 65535, banks up to 255");
    if (settings->address != NULL)
        TRY(take_address(settings->address, &wanted.address));
    TRY(take_names(&settings->units, mce_unit_names, MCE_UNKNOWN, "unit", wanted.units));
    TRY(take_names(&settings->categories, mce_category_names, MCE_CATEGORIES, "category",
                   wanted.categories));
    return mce_generate(&wanted, ret_errors);
}

// ---- ordeal mce decode ----

// A status, or a file.
static struct error *decode(char *operand, struct mce_errors *ret_errors)
{
    char *end;
    errno = 0;
    unsigned long long status = strtoull(operand, &end, 0);
    if (isdigit((unsigned char)*operand) && *end == '\0' && errno == 0) {
        struct mce_error *error = ARRAY_ADD(&ret_errors->list);
        if (error == NULL)
            return error_no_memory();
        *error = (struct mce_error){.status = status, .global = MCE_RIPV | MCE_EIPV | MCE_MCIP};
        return NULL;
    }
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(buffer_read_file(operand, MCE_FILE_LIMIT, &text));
    return mce_read(operand, text.data != NULL ? text.data : "", text.size, ret_errors);
}

static struct error *run(const void *data, char **operands, int *ret_status)
{
    const struct settings *settings = data;
    _cleanup_(mce_errors_deinit) struct mce_errors errors = {0};
    _cleanup_(buffer_deinit) struct buffer text = {0};
    bool decodes = strcmp(operands[0], "decode") == 0;
    (void)ret_status;
    if (!decodes && strcmp(operands[0], "list") != 0)
        return choice_error("list|decode", operands[0], strlen(operands[0]));
    if (decodes && (settings->load != NULL || settings->address != NULL || settings->alone ||
                    settings->units.entries.count != 0 || settings->categories.entries.count != 0 ||
                    settings->processor.given || settings->bank.given || settings->sample.given ||
                    settings->seed.given))
        return error_new("decode takes no options but --no-recovery and --json");
    if (decodes == (operands[1] == NULL))
        return error_new(decodes ? "decode takes a status such as 0xbd0000000000017a, or a file"
                                 : "list takes options only");
    if (!decodes)
        TRY(list(settings, &errors));
    for (char **operand = operands + 1; *operand != NULL; operand++)
        TRY(decode(*operand, &errors));
    for (size_t i = 0; i < errors.list.count; i++) {
        const struct mce_error *error = &errors.list.items[i];
        TRY(settings->json ? put_json(error, !settings->no_recovery, &text)
            : decodes      ? put_words(error, !settings->no_recovery, &text)
                           : mce_write(error, &text));
    }
    return output_print(&text);
}

const struct command cmd_mce = {
    .name = "mce",
    .summary = "List machine-check errors of x86 processors, and say what they mean.",
    .operands = "list | decode STATUS|FILE...",
    .details =
        "list writes errors in the format of mce-inject; decode says what errors mean, and how\n"
        "severe Linux takes them to be.\n"
        "\n"
        "  ordeal mce list --category SRAR --unit cache --sample 1 >error\n"
        "  ordeal mce decode 0xbd0000000000017a\n"
        "  ordeal guest --mce error systems/linux\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .settings_size = sizeof(struct settings),
    .least = 1,
    .most = 1000,
    .words = words,
    .run = run,
};
