// SPDX-License-Identifier: GPL-3.0-or-later
// Fuzzes the reader of machine-check errors: what was read and written is read again, and the same.
#include "base/cleanup.h"
#include "mce/file.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct error *write_all(const struct mce_errors *errors, struct buffer *text)
{
    for (size_t i = 0; i < errors->list.count; i++)
        TRY(mce_write(&errors->list.items[i], text));
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mce_errors errors = {0}, again = {0};
    struct buffer text = {0}, second = {0};
    struct error *error = mce_read("fuzz", (const char *)data, size, &errors);
    if (error == NULL) {
        error = write_all(&errors, &text);
        if (error != NULL ||
            mce_read("again", text.size != 0 ? text.data : "", text.size, &again) != NULL)
            abort();
        error = write_all(&again, &second);
        if (text.size != second.size ||
            (text.size != 0 && memcmp(text.data, second.data, text.size) != 0))
            abort();
    }
    error_free(error);
    mce_errors_deinit(&errors);
    mce_errors_deinit(&again);
    buffer_deinit(&text);
    buffer_deinit(&second);
    return 0;
}
