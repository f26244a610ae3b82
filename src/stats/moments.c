// SPDX-License-Identifier: GPL-3.0-or-later
// Mean and deviation in one pass, by Welford's recurrence. A plain sum of squares would lose the
// differences between large values.
#include "stats/stats.h"

#include <math.h>

void stats_add(struct stats_moments *moments, double value)
{
    double squares =
        moments->n > 1 ? moments->deviation * moments->deviation * (double)(moments->n - 1) : 0;
    double before = value - moments->mean;
    moments->n++;
    moments->mean += before / (double)moments->n;
    squares += before * (value - moments->mean);
    moments->deviation = moments->n > 1 ? sqrt(squares / (double)(moments->n - 1)) : 0;
}
