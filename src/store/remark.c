// SPDX-License-Identifier: GPL-3.0-or-later
// Writes a remark about a campaign as a sentence.
#include "store/remark.h"

struct error *remark_put(struct buffer *text, const struct store_remark *remark)
{
    if (remark->kind != REMARK_UNTESTED || remark->about == NULL)
        return buffer_printf(text, "%s", remark->text);
    return buffer_printf(text, "not tested: %s%s%s", remark->about,
                         *remark->text != '\0' ? ": " : "", remark->text);
}
