// SPDX-License-Identifier: GPL-3.0-or-later
// Recovery code, for code that says itself what it is: recovered() is called where only failures
// lead, normal() everywhere else. As gcc and clang compile it; and what makes sites the same.
#include "callsite-help.h"

#include "callsite/identity.h"
#include "callsite/recovery.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char source[] =
    "#include <fcntl.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n"
    "void recovered(int), normal(int), shared(int);\n"
    "char *simple(int n) { char *p = malloc(n); if (p == NULL) { recovered(1); return 0; }\n"
    "  normal(1); return p; }\n"
    "int labels(char *t, int n) { int f = open(t, O_RDONLY); if (f < 0) goto failed;\n"
    "  if (read(f, t, n) < 0) goto failed; normal(2); return 0; failed: recovered(2); return 1; }\n"
    // Also reached without any failure: belongs to neither.
    "int mixed(char *t, int n) { int f = open(t, O_RDONLY); if (f < 0 || n > 7) { shared(3);\n"
    "  return 1; } normal(3); return 0; }\n"
    "int end(char *t, int n, int f) { while (1) { int r = read(f, t, n); if (r < 0) {\n"
    "  recovered(4); return 1; } if (r == 0) break; normal(4); } normal(5); return 0; }\n"
    "int zero(char *t, int n, int f) { if (read(f, t, n) <= 0) { shared(6); return 1; }\n"
    "  normal(6); return 0; }\n"
    "int length(char *t, int n, int f) { if (write(f, t, n) != n) { recovered(7); return 1; }\n"
    "  normal(7); return 0; }\n"
    // The result is replaced by a success's own failure: no recovery code.
    "int again(char *t, int n) { int f = open(t, O_RDONLY); if (f >= 0 && n > 3) { close(f);\n"
    "  f = -1; } if (f < 0) { shared(8); return 1; } normal(8); return 0; }\n"
    "int before(char *t, int n) { int f = -1; if (n > 2) f = open(t, O_RDONLY); if (f < 0)\n"
    "  { shared(9); return 1; } normal(9); return 0; }\n"
    // The end of a file is no failure, and what follows the loop is no recovery code.
    "int lines(char *t, int n, FILE *f) { while (fgets(t, n, f) != NULL) normal(12); normal(13);\n"
    "  return 0; }\n"
    // How much there is to write is not what the variable began with.
    "int looped(char *t, int n, FILE *f) { size_t all = 0; ssize_t got;\n"
    "  while ((got = read(0, t + all, n - all)) > 0) all += got;\n"
    "  if (fwrite(t, 1, all, f) != all) { recovered(14); return 1; } normal(14); return 0; }\n"
    "int halved(char *t, int n, FILE *f) { size_t all = 4096;\n"
    "  while (n-- > 0) { shared(15); all /= 2; }\n"
    "  if (fwrite(t, 1, all, f) != all) { recovered(15); return 1; } normal(15); return 0; }\n"
    "int filled(char *t, FILE *f, void fill(size_t *)) { size_t all = 0; fill(&all);\n"
    "  if (fwrite(t, 1, all, f) != all) { recovered(16); return 1; } normal(16); return 0; }\n"
    "int chosen(char *t, int n, FILE *f) { size_t all = n > 3 ? 5 : 7; shared(17);\n"
    "  if (fwrite(t, 1, all, f) != all) { recovered(17); return 1; } normal(17); return 0; }\n"
    "int child(void) { switch (fork()) { case -1: recovered(10); return 1; case 0: normal(10);\n"
    "  return 2; default: normal(11); return 0; } }\n";

static bool calls(const struct flow_image *image, const struct flow_block *block, const char *name)
{
    return (block->end == FLOW_CALLS || block->end == FLOW_TAIL) &&
           flow_callee_is_import(block->callee) &&
           strcmp(image->imports.items[flow_callee_import(block->callee)].name, name) == 0;
}

static bool is_in(const struct recovery *recovery, uint32_t block)
{
    for (size_t i = 0; i < recovery->blocks.count; i++)
        if (recovery->blocks.items[i].block == block)
            return true;
    return false;
}

static unsigned check(const char *compiler, const char *path)
{
    struct elf_object *object;
    struct flow_image *image;
    struct sites sites;
    struct recovery recovery;
    unsigned wrong = 0, found = 0, all = 0;
    assert_null(elf_object_open(path, &object));
    assert_null(flow_image_open(object, &image));
    const struct sites_context world = {.failures = failures, .data = image, .failing = true};
    assert_null(sites_find(image, &world, &sites));
    assert_null(recovery_find(image, &sites, &recovery));
    for (uint32_t i = 0; i < image->blocks.count; i++) {
        const struct flow_block *block = &image->blocks.items[i];
        bool is = is_in(&recovery, i);
        if (is && (calls(image, block, "normal") || calls(image, block, "shared"))) {
            print_message(
                "%s: a success reaches the block at 0x%llx\n", compiler,
                (unsigned long long)flow_address(image, &image->insns.items[block->first]));
            wrong++;
        }
        found += is && calls(image, block, "recovered");
        all += calls(image, block, "recovered");
    }
    for (size_t i = 1; i < recovery.blocks.count; i++)
        assert_true(recovery.blocks.items[i - 1].address < recovery.blocks.items[i].address);
    // Too few is no error in itself, but this code is simple.
    if (found != all || all < 5) {
        print_message("%s: %u of %u places were found\n", compiler, found, all);
        wrong++;
    }
    recovery_deinit(&recovery);
    sites_deinit(&sites);
    flow_image_close(image);
    elf_object_close(object);
    return wrong;
}

static void build(const char *compiler, const char *directory, const char *text, char *path)
{
    char command[512], name[128];
    snprintf(name, sizeof name, "%s/source.c", directory);
    snprintf(path, 128, "%s/library.so", directory);
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    snprintf(command, sizeof command, "%s -w -fPIC -shared -o %s %s", compiler, path, name);
    assert_int_equal(system(command), 0);
    unlink(name);
}

static void only_failures_reach_it(void **state)
{
    static const char *const compilers[] = {"gcc -O0",   "gcc -O1",   "gcc -O2",   "gcc -O3",
                                            "gcc -Os",   "clang -O0", "clang -O1", "clang -O2",
                                            "clang -O3", "clang -Os"};
    char directory[] = "/tmp/ordeal-unit.XXXXXX", path[128];
    unsigned wrong = 0;
    assert_non_null(mkdtemp(directory));
    for (size_t i = 0; i < sizeof compilers / sizeof *compilers; i++) {
        build(compilers[i], directory, source, path);
        wrong += check(compilers[i], path);
        unlink(path);
    }
    rmdir(directory);
    assert_int_equal(wrong, 0);
}

// The identity of the only call of malloc().
static uint64_t identity(const char *directory, const char *text)
{
    char path[128];
    struct looking looking;
    build("gcc -O1", directory, text, path);
    look(path, &looking);
    uint64_t result = 0;
    for (size_t i = 0; i < looking.sites.items.count; i++) {
        const struct site *site = &looking.sites.items.items[i];
        if (strcmp(looking.sites.callees.items[site->callee].name, "malloc") == 0 &&
            site->wrapper == FLOW_NONE)
            result = site_identity(looking.image, site);
    }
    looked(&looking);
    unlink(path);
    return result;
}

#define HEAD "#include <stdio.h>\n#include <stdlib.h>\nint data;\n"
#define BODY(number)                                                                               \
    "char *f(int n) { char *p = malloc(n + " number "); if (p == NULL) { puts(\"no\");\n"          \
    "  data = 1; return 0; } p[0] = 1; return p; }\n"

static void sites_are_known_again(void **state)
{
    char directory[] = "/tmp/ordeal-unit.XXXXXX";
    assert_non_null(mkdtemp(directory));
    uint64_t first = identity(directory, HEAD BODY("1"));
    assert_int_not_equal(first, 0);
    assert_true(first == identity(directory, HEAD BODY("1")));
    // Data and code move.
    assert_true(first == identity(directory,
                                  HEAD "int more[100] = {1};\nconst char *other(void) {\n"
                                       "  more[3]++; return \"text\"; }\n" BODY("1")));
    assert_true(first != identity(directory, HEAD BODY("2")));
    assert_true(first != identity(directory, HEAD "#define puts perror\n" BODY("1")));
    // The same code in a function of another name is another place.
    assert_true(first != identity(directory, HEAD "#define f g\n" BODY("1")));
    rmdir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(only_failures_reach_it),
                                       cmocka_unit_test(sites_are_known_again)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
