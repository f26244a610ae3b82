// SPDX-License-Identifier: GPL-3.0-or-later
// A trace has a limit: beyond it the command goes on, and nothing more is kept.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "interface/record.h"
#include "skip.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIMIT 40000

static const char library[] = "void fill(unsigned long *where, unsigned long count)\n"
                              "{\n"
                              "    for (unsigned long i = 0, x = 1; i < count; i++)\n"
                              "        where[i & 255] = x = x * 6364136223846793005 + 1;\n"
                              "}\n";
static const char program[] = "#include <stdlib.h>\n"
                              "void fill(unsigned long *where, unsigned long count);\n"
                              "int main(int argc, char **argv)\n"
                              "{\n"
                              "    static unsigned long where[256];\n"
                              "    fill(where, strtoul(argv[1], 0, 0));\n"
                              "    return 5;\n"
                              "}\n";

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void test_limit(void **state)
{
    char directory[] = "/tmp/ordeal-record-XXXXXX", tool[4096];
    const char *build = getenv("ORDEAL_BUILD_ROOT");
    snprintf(tool, sizeof tool, "%s/src/interface/tool/ordeal_propagate-amd64-linux",
             build != NULL ? build : "build");
    if (access(tool, X_OK) < 0)
        skip_because("there is no tool of Valgrind");
    assert_non_null(mkdtemp(directory));
    assert_int_equal(chdir(directory), 0);
    write_file("fill.c", library);
    write_file("user.c", program);
    assert_int_equal(system("gcc -O1 -shared -fPIC -o libfill.so fill.c && "
                            "gcc -O1 -o user user.c ./libfill.so -Wl,-rpath,$PWD"),
                     0);
    static const struct {
        char *count;
        bool too_large;
    } rows[] = {{"100", false}, {"1000000", true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *command[] = {"./user", rows[i].count, NULL};
        const char *libraries[] = {"libfill"};
        struct interface_recorded recorded;
        struct stat facts;
        _cleanup_close_ int output = open("trace", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        assert_true(output >= 0);
        const struct interface_recording recording = {.tool = tool,
                                                      .command = command,
                                                      .environment = environ,
                                                      .libraries = libraries,
                                                      .library_count = 1,
                                                      .output = output,
                                                      .name = "trace",
                                                      .most_size = LIMIT};
        struct error *error = interface_record(&recording, &recorded);
        if (error != NULL)
            fail_msg("%s", error_message(error));
        assert_true(WIFEXITED(recorded.status) && WEXITSTATUS(recorded.status) == 5);
        assert_int_equal(recorded.too_large, rows[i].too_large);
        assert_int_equal(fstat(output, &facts), 0);
        // What zstd puts out at once is at most a block of 128 KB.
        assert_in_range(facts.st_size, 100, LIMIT + (130 << 10));
    }
    assert_int_equal(system("rm -f fill.c user.c libfill.so user trace"), 0);
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(rmdir(directory), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_limit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
