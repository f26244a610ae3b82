// SPDX-License-Identifier: GPL-3.0-or-later
// Fuzzes what the tracer reads in memory that it shares with traced programs: whatever they write
// there, only calls that write come out, with no more bytes than there are.
#include "observe/inside.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct error *take(void *data, const struct inside_call *call)
{
    const char *records = data, *end = records + INSIDE_RECORD_ROOM;
    const char *bytes = call->data;
    if (bytes < records || bytes > end || call->size > (size_t)(end - bytes) ||
        strstr(call->call.call->name, "write") == NULL || strcmp(call->descriptor, "file") != 0)
        abort();
    volatile char sum = 0;
    for (size_t i = 0; i < call->size; i++)
        sum = (char)(sum + bytes[i]);
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[] = "file", *texts[] = {text};
    struct inside inside = {.texts = {.items = texts, .count = 1}};
    struct inside_slot *slot = calloc(1, INSIDE_SLOT_SIZE);
    if (slot == NULL)
        return 0;
    struct inside_task state = {.slot = slot};
    char *records = (char *)slot + INSIDE_RECORDS;
    if (size > INSIDE_RECORD_ROOM)
        size = INSIDE_RECORD_ROOM;
    memcpy(records, data, size);
    memcpy(&slot->used, data, size < sizeof slot->used ? size : sizeof slot->used);
    slot->used = slot->used % 3 == 0 ? slot->used : (uint32_t)size;
    if (inside_drain(&inside, &state, take, records) != NULL || slot->used != 0)
        abort();
    free(slot);
    return 0;
}
