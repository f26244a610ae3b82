// SPDX-License-Identifier: GPL-3.0-or-later
// Tests the sentence about candidates that were carried over from an earlier campaign.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "campaign/since.h"

#define BEGINNING                                                                                  \
    "carried over from old.db and not tried again, since the code of the caller is the same: "
#define REASON                                                                                     \
    " tried: of the call only the number or stack is known, or nothing of the code around it"

static void says(const struct since *since, const char *expected)
{
    char *sentence = NULL;
    assert_null(since_tell(since, "old.db", 9, &sentence));
    if (expected == NULL)
        assert_null(sentence);
    else
        assert_string_equal(sentence, expected);
    free(sentence);
}

static void sentences(void **state)
{
    struct since since = {0};
    says(&since, NULL);
    since.unidentified = 2;
    says(&since, BEGINNING "0 of 9; 2 cannot be known again in another build and are" REASON);
    since.unidentified = 1;
    since.verdicts[VERDICT_PASS] = 4;
    since.verdicts[VERDICT_CRASH] = 1;
    says(&since, BEGINNING "5 of 9 (1 crash, 4 pass); 1 cannot be known again in another build and "
                           "is" REASON);
    since.unidentified = 0;
    says(&since, BEGINNING "5 of 9 (1 crash, 4 pass)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sentences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
