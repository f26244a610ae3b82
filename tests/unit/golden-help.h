// SPDX-License-Identifier: GPL-3.0-or-later
// What a test sees against what is written down in tests/golden; ORDEAL_REBASE=1 writes it anew.
// To be included after cmocka.
#include "base/array.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void golden_compare(const char *golden, const struct buffer *shown)
{
    const char *rebase = getenv("ORDEAL_REBASE");
    struct buffer wanted = {0};
    if (rebase != NULL && strcmp(rebase, "1") == 0) {
        FILE *file = fopen(golden, "w");
        assert_non_null(file);
        fwrite(shown->data, 1, shown->size, file);
        assert_int_equal(fclose(file), 0);
    }
    assert_null(buffer_read_file(golden, 1 << 20, &wanted));
    if (shown->size != wanted.size || memcmp(shown->data, wanted.data, shown->size) != 0)
        fail_msg("%s is not what is seen now:\n%s", golden, shown->data);
    buffer_deinit(&wanted);
}

// Every source in tests/golden/FOLDER, with a directory for what is made of them.
static void golden_each(const char *folder, size_t least,
                        void (*check)(const char *source, const char *directory))
{
    const char *root = getenv("ORDEAL_SOURCE_ROOT");
    char directory[] = "/tmp/ordeal-unit.XXXXXX", pattern[512];
    glob_t found = {0};
    assert_non_null(root);
    snprintf(pattern, sizeof pattern, "%s/tests/golden/%s/*.s", root, folder);
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    assert_true(found.gl_pathc >= least);
    assert_non_null(mkdtemp(directory));
    for (size_t i = 0; i < found.gl_pathc; i++)
        check(found.gl_pathv[i], directory);
    globfree(&found);
    rmdir(directory);
}
