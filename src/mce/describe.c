// SPDX-License-Identifier: GPL-3.0-or-later
// Categories and names of bits.
#include "mce/error.h"

#include "base/cleanup.h"

#include <string.h>
#include <strings.h>

static const struct bit {
    uint64_t bit;
    const char *name;
} status_bits[] = {{MCE_VAL, "VAL"}, {MCE_OVER, "OVER"},   {MCE_UC, "UC"},
                   {MCE_EN, "EN"},   {MCE_MISCV, "MISCV"}, {MCE_ADDRV, "ADDRV"},
                   {MCE_PCC, "PCC"}, {MCE_S, "S"},         {MCE_AR, "AR"}},
  global_bits[] = {{MCE_RIPV, "RIPV"}, {MCE_EIPV, "EIPV"}, {MCE_MCIP, "MCIP"}};
#define COUNT(table) (sizeof table / sizeof *table)

const char *const mce_category_names[MCE_CATEGORIES] = {
    [MCE_NONE] = "none",      [MCE_CORRECTED] = "CE",  [MCE_NO_ACTION] = "UCNA",
    [MCE_OPTIONAL] = "SRAO",  [MCE_REQUIRED] = "SRAR", [MCE_UNDEFINED] = "undefined",
    [MCE_UNCORRECTED] = "UC",
};

enum mce_category mce_category(uint64_t status, bool recovery)
{
    if ((status & MCE_VAL) == 0)
        return MCE_NONE;
    if ((status & MCE_UC) == 0)
        return MCE_CORRECTED;
    if ((status & MCE_PCC) != 0 || !recovery)
        return MCE_UNCORRECTED;
    if ((status & MCE_S) == 0)
        return (status & MCE_AR) == 0 ? MCE_NO_ACTION : MCE_UNDEFINED;
    return (status & MCE_AR) == 0 ? MCE_OPTIONAL : MCE_REQUIRED;
}

static struct error *put_bits(uint64_t bits, const struct bit *table, size_t count,
                              struct buffer *text)
{
    const char *separator = "";
    for (size_t i = 0; i < count; i++)
        if ((bits & table[i].bit) != 0) {
            TRY(buffer_printf(text, "%s%s", separator, table[i].name));
            separator = " ";
        }
    return NULL;
}

struct error *mce_put_status_bits(uint64_t status, struct buffer *text)
{
    return put_bits(status, status_bits, COUNT(status_bits), text);
}

struct error *mce_put_global_bits(uint64_t global, struct buffer *text)
{
    return put_bits(global, global_bits, COUNT(global_bits), text);
}

static uint64_t find_bit(const char *name, size_t size, const struct bit *table, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(table[i].name) == size && strncasecmp(table[i].name, name, size) == 0)
            return table[i].bit;
    return 0;
}

uint64_t mce_status_bit(const char *name, size_t size)
{
    return find_bit(name, size, status_bits, COUNT(status_bits));
}

uint64_t mce_global_bit(const char *name, size_t size)
{
    return find_bit(name, size, global_bits, COUNT(global_bits));
}

void mce_error_deinit(struct mce_error *error)
{
    words_deinit(&error->others);
}

void mce_errors_deinit(struct mce_errors *errors)
{
    for (size_t i = 0; i < errors->list.count; i++)
        mce_error_deinit(&errors->list.items[i]);
    ARRAY_DEINIT(&errors->list);
}
