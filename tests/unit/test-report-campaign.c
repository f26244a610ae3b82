// SPDX-License-Identifier: GPL-3.0-or-later
// Reports of campaigns from stores made up here. With arguments KIND FILE [NUMBER] it makes such a
// store for an end-to-end test (tests/e2e/report-*.test).
#include "campaign-help.h"

int main(int count, char **arguments)
{
    if (count > 2)
        return make_store(arguments[1], arguments[2], count > 3 ? arguments[3] : NULL);
    return 0;
}
