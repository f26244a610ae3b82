// SPDX-License-Identifier: GPL-3.0-or-later
// Compares packed files, archives, images and databases by what they hold, where a program could
// read them. See reference-model.h.
#include "base/cleanup.h"
#include "oracle/reference-model.h"

enum packed_relation reference_packed(const struct reference_item *item,
                                      const struct artifact *artifact)
{
    const struct decoding *decoding = &artifact->decoding;
    if (item == NULL || item->format == NULL ||
        (artifact->kind != ARTIFACT_FILE && artifact->kind != ARTIFACT_STREAM))
        return PACKED_UNKNOWN;
    if (artifact->size == 0 || artifact->format != item->format ||
        decoding->state == DECODING_DAMAGED)
        return PACKED_DAMAGED;
    if (decoding->state != DECODING_SOUND || !decoding->known || !item->same_inside)
        return PACKED_UNKNOWN;
    return decoding->hash == item->artifact->decoding.hash ? PACKED_SAME : PACKED_OTHER;
}

struct error *reference_put_packed(struct buffer *sentence, const struct reference_item *item,
                                   const struct artifact *artifact, enum packed_relation relation)
{
    const char *said = artifact->decoding.said;
    TRY(reference_put_name(sentence, artifact->path));
    if (relation == PACKED_OTHER)
        return buffer_printf(sentence, " is sound (%s), but holds something else",
                             item->format->name);
    if (artifact->size == 0)
        return buffer_printf(sentence, " is empty");
    if (artifact->format != item->format)
        return buffer_printf(sentence,
                             " is damaged: it does not begin like a %s file (%llu bytes "
                             "instead of %llu)",
                             item->format->name, (unsigned long long)artifact->size,
                             (unsigned long long)item->artifact->size);
    TRY(buffer_printf(sentence, " is damaged (%llu bytes instead of %llu)",
                      (unsigned long long)artifact->size,
                      (unsigned long long)item->artifact->size));
    return said != NULL ? buffer_printf(sentence, ": %s says %s", artifact->decoding.tool, said)
                        : NULL;
}

bool reference_wants_decoding(const struct reference *reference, const struct artifact *artifact)
{
    const struct reference_item *item =
        artifact->format != NULL ? reference_find(reference, artifact->path) : NULL;
    return item != NULL && item->format == artifact->format &&
           (artifact->size != item->artifact->size || artifact->hash != item->artifact->hash);
}
