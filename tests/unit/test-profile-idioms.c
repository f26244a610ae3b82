// SPDX-License-Identifier: GPL-3.0-or-later
// Idioms of libraries in compiled functions: allocators behind pointers, constructors that are not
// implemented, sizes of what was made, statuses that are kept in objects, times to wait, signs.
#include "profile/batch.h"

#include "base/cleanup.h"
#include "profile/names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "profile-help.h"

static const char source[] =
    "#include <stddef.h>\n"
    "#include <stdio.h>\n"
    "#include <stdint.h>\n"
    "#include <string.h>\n"
    "struct system { void *(*open)(struct system *, const char *); void *(*alloc)(struct system *, "
    "size_t); void (*release)(void *); };\n"
    "struct decoder { struct system *system; int state, code; char buffer[200]; };\n"
    "extern struct system standard;\n"
    "void raise_error(const char *text);\n"
    "int is_complete(struct system *system);\n"
    "struct decoder *make_decoder(struct system *system)\n" // NULL is: it is checked at once
    "{\n"
    "    if (system == NULL) system = &standard;\n"
    "    struct decoder *decoder = system->alloc(system, sizeof *decoder);\n"
    "    if (decoder != NULL) { decoder->system = system; decoder->state = 3; }\n"
    "    return decoder;\n"
    "}\n"
    "__attribute__((noinline)) void *system_alloc(struct system *system, size_t size)\n" // unknown
    "{\n"
    "    return system->alloc(system, size);\n"
    "}\n"
    "void *make_box(struct system *system)\n" // NULL is, though it is another function's
    "{\n"
    "    struct decoder *decoder = system_alloc(system, sizeof *decoder);\n"
    "    if (decoder == NULL) return NULL;\n"
    "    decoder->system = system;\n"
    "    return decoder;\n"
    "}\n"
    "int put_box(struct system *system, struct decoder **ret)\n" // what is filled in is not
                                                                 // returned
    "{\n"
    "    struct decoder *decoder = system_alloc(system, sizeof *decoder);\n"
    "    if (decoder == NULL) return 4;\n"
    "    decoder->system = system; *ret = decoder;\n"
    "    return 0;\n"
    "}\n"
    "void keep_box(struct system *system, struct decoder *parent)\n" // nothing is returned
    "{\n"
    "    struct decoder *decoder = system_alloc(system, sizeof *decoder);\n"
    "    if (decoder == NULL) return;\n"
    "    decoder->system = system; *(struct decoder **)parent->buffer = decoder;\n"
    "}\n"
    "void *archive_create_writer(struct system *system) { return NULL; }\n" // it is not implemented
    "int archive_init(struct system *system) { return 0; }\n"               // who knows
    "int archive_create(struct decoder **ret) { *ret = NULL; return 0; }\n" // it does something
    "int block_compress(const char *from, char *to, int size, int room)\n"  // 0: it does not fit
    "{\n"
    "    char *at = to;\n"
    "    for (int i = 0; i < size; i++) {\n"
    "        if (at - to >= room - 2) return 0;\n"
    "        *at++ = from[i] ^ 3; if (from[i] == 3) *at++ = 7;\n"
    "    }\n"
    "    return (int)(at - to);\n"
    "}\n"
    "int block_copy(const char *from, char *to, int size, int room)\n" // who knows
    "{\n"
    "    char *at = to;\n"
    "    for (int i = 0; i < size; i++) {\n"
    "        if (at - to >= room - 2) return 0;\n"
    "        *at++ = from[i] ^ 3; if (from[i] == 3) *at++ = 7;\n"
    "    }\n"
    "    return (int)(at - to);\n"
    "}\n"
    "int work(struct decoder *decoder);\n"
    "void touch(struct decoder *decoder), close_all(struct decoder *decoder);\n"
    "int decoder_step(struct decoder *decoder)\n" // 100 is none: no code is kept
    "{\n"
    "    switch (work(decoder)) {\n"
    "    case 0: decoder->code = 7; touch(decoder); return 7;\n"
    "    case 1: decoder->code = 21; close_all(decoder); return 21;\n"
    "    case 2: decoder->code = 0; work(decoder); return 100;\n"
    "    default: return 0;\n"
    "    }\n"
    "}\n"
    "int decoder_feed(struct decoder *decoder)\n" // 0 is: a code is kept. 2 is not
    "{\n"
    "    switch (work(decoder)) {\n"
    "    case 0: decoder->code = 7; touch(decoder); return 0;\n"
    "    case 1: decoder->code = 21; close_all(decoder); return 0;\n"
    "    case 2: decoder->code = 33; return 0;\n"
    "    case 3: decoder->code = 0; touch(decoder); return 2;\n"
    "    default: decoder->code = 0; return 1;\n"
    "    }\n"
    "}\n"
    "int decoder_start(struct decoder *decoder)\n" // 5 is: a state is no status
    "{\n"
    "    if (work(decoder) == 3) { decoder->state = 0; return 5; }\n"
    "    if (work(decoder) == 4) { decoder->state = 0; return 9; }\n"
    "    decoder->state = 3; return 0;\n"
    "}\n"
    "int loop_timeout(struct decoder *decoder)\n" // -1: for ever
    "{\n"
    "    work(decoder);\n"
    "    if (decoder->state == 0) return -1;\n"
    "    return decoder->code - decoder->state;\n"
    "}\n"
    "int loop_set_timeout(struct decoder *decoder)\n"
    "{\n"
    "    work(decoder);\n"
    "    if (decoder->state == 0) return -1;\n"
    "    return decoder->code - decoder->state;\n"
    "}\n"
    "#include <stdlib.h>\n"
    "__attribute__((noinline)) void *must_alloc(struct system *system, size_t size)\n" // never
                                                                                       // NULL,
                                                                                       // whatever
                                                                                       // is called
    "{\n"
    "    void *memory = system->alloc(system, size);\n"
    "    if (memory == NULL) abort();\n"
    "    return memory;\n"
    "}\n"
    "int use_alloc(struct system *system) { return *(int *)must_alloc(system, 8); }\n"
    "__attribute__((noinline)) void *thing_malloc(size_t size)\n" // NULL is asked for
    "{\n"
    "    if (size == 0) return NULL;\n"
    "    void *memory = malloc(size);\n"
    "    if (memory == NULL) abort();\n"
    "    return memory;\n"
    "}\n"
    "char *thing_get_path(struct decoder *decoder)\n" // likewise
    "{\n"
    "    touch(decoder); return thing_malloc(decoder->state);\n"
    "}\n"
    "struct decoder *thing_ref(struct decoder *decoder)\n" // likewise
    "{\n"
    "    if (decoder == NULL) return NULL;\n"
    "    decoder->state++; return decoder;\n"
    "}\n"
    "struct decoder *thing_parent(struct decoder *decoder)\n" // itself
    "{\n"
    "    if (decoder == NULL) return NULL;\n"
    "    decoder->state++; return decoder;\n"
    "}\n"
    "struct link { struct link *next; struct decoder *decoder; };\n"
    "struct list { struct link *first; int count; };\n"
    "void unlink_first(struct list *list);\n"
    "struct decoder *list_pop_decoder(struct list *list)\n" // there is none
    "{\n"
    "    struct link *link = list->first;\n"
    "    if (link == NULL) return NULL;\n"
    "    unlink_first(list); return link->decoder;\n"
    "}\n"
    "int use_pop(struct list *list) { return list_pop_decoder(list)->code; }\n"
    "int XYisBusy(struct decoder *decoder)\n" // a question
    "{\n"
    "    if (decoder == NULL) return 0;\n"
    "    touch(decoder); return decoder->state == 3;\n"
    "}\n"
    "int set_ignored(int yes)\n" // 0 is: a variable that is not set is no failure
    "{\n"
    "    extern int ignored;\n"
    "    if (getenv(\"FORCE\") != NULL) return 0;\n"
    "    ignored = yes; return 1;\n"
    "}\n"
    "int lib_done_FreeType(struct decoder *decoder)\n" // 33 is, whatever the name says of kinds
    "{\n"
    "    if (decoder == NULL) return 33;\n"
    "    touch(decoder); return 0;\n"
    "}\n"
    "struct manager { void (*drop)(void *, int); };\n"
    "struct codec { struct manager *manager; int decodes, state; void *list; };\n"
    "void codec_reset(struct codec *codec)\n" // nothing is returned
    "{\n"
    "    if (codec->manager == NULL) return;\n"
    "    codec->manager->drop(codec, 1);\n"
    "    if (codec->decodes) { codec->state = 200; codec->list = NULL; }\n"
    "    else codec->state = 100;\n"
    "}\n"
    "void codec_reset_compress(struct codec *codec) { codec_reset(codec); }\n" // likewise
    "void g_return_if_fail_warning(const char *, const char *, const char *);\n"
    "int thing_rowstride(struct decoder *decoder)\n" // -1 is a mistake of the caller
    "{\n"
    "    if (decoder == NULL) { g_return_if_fail_warning(\"a\", \"b\", \"c\"); return -1; }\n"
    "    touch(decoder); return decoder->state;\n"
    "}\n"
    "__attribute__((noinline)) struct decoder *thing_first(struct decoder *decoder)\n"
    "{\n"
    "    if (decoder == NULL) { g_return_if_fail_warning(\"a\", \"b\", \"c\"); return NULL; }\n"
    "    touch(decoder); return (struct decoder *)decoder->system;\n"
    "}\n"
    "struct decoder *thing_both(struct decoder *decoder)\n" // the mistake is not handed on
    "{\n"
    "    touch(decoder); return thing_first(decoder);\n"
    "}\n"
    "void g_log(const char *, int, const char *, ...);\n"
    "struct decoder *thing_second(struct decoder *decoder)\n" // likewise
    "{\n"
    "    if (decoder->state == 3) { g_log(\"a\", 8, \"bad\"); return NULL; }\n"
    "    touch(decoder); return (struct decoder *)decoder->system;\n"
    "}\n"
    "struct decoder *thing_third(struct decoder *decoder)\n" // a warning is none
    "{\n"
    "    if (decoder->state == 3) { g_log(\"a\", 16, \"bad\"); return NULL; }\n"
    "    touch(decoder); return (struct decoder *)decoder->system;\n"
    "}\n"
    "int thing_get_gravity(const struct decoder *decoder)\n" // answers
    "{\n"
    "    if (decoder->state == 3) return 2;\n"
    "    return decoder->state == 7 ? 4 : 0;\n"
    "}\n"
    "int field_get_size(int kind)\n" // sizes are no codes
    "{\n"
    "    switch (kind) {\n"
    "    case 1: case 2: case 6: case 7: return 1;\n"
    "    case 3: case 8: return 2;\n"
    "    case 4: case 9: case 11: case 13: return 4;\n"
    "    case 5: case 10: case 12: case 16: return 8;\n"
    "    default: return 0;\n"
    "    }\n"
    "}\n"
    "int image_begin(struct decoder *decoder, char text[1024])\n" // 1 is not: a text is no result
    "{\n"
    "    if (work(decoder) == 3) { strcpy(text, \"no memory\"); return 0; }\n"
    "    if (work(decoder) == 4) { strcpy(text, \"bad file!\"); return 0; }\n"
    "    touch(decoder); return 1;\n"
    "}\n"
    "const char *thing_error(struct decoder *decoder)\n" // there was none
    "{\n"
    "    if (decoder->code == 0) return NULL;\n"
    "    touch(decoder); return decoder->buffer;\n"
    "}\n"
    "int tree_next(struct decoder *decoder)\n" // the end
    "{\n"
    "    if (decoder->state == 0) return 0;\n"
    "    touch(decoder); return 1;\n"
    "}\n"
    "char *name_by_ipnum_all(const struct decoder *decoder, const char *end)\n" // no number of them
    "{\n"
    "    for (const struct decoder *at = decoder; at->system != NULL; at++)\n"
    "        if (at->code == 3) return (char *)at - (end - (char *)decoder);\n"
    "    return NULL;\n"
    "}\n"
    "static const struct decoder one, two; const struct decoder *const decoders[] = {&one, &two, "
    "NULL};\n"
    "__attribute__((noinline)) const struct decoder *decoder_iterate(void **opaque)\n" // the end
    "{\n"
    "    uintptr_t i = (uintptr_t)*opaque;\n"
    "    const struct decoder *decoder = decoders[i];\n"
    "    if (decoder != NULL) *opaque = (void *)(i + 1);\n"
    "    return decoder;\n"
    "}\n"
    "int use_iterate(void **opaque) { return decoder_iterate(opaque)->code; }\n"
    "int queue_empty(struct decoder *decoder)\n" // a question
    "{\n"
    "    if (decoder == NULL) { raise_error(\"NULL\"); return 1; }\n"
    "    return decoder->state ? 0 : 1;\n"
    "}\n"
    "int read_token(struct decoder *decoder)\n"
    "{\n"
    "    int c = fgetc(*(FILE **)decoder->buffer);\n"
    "    if (c == EOF) return -1;\n"
    "    touch(decoder); return c * 3;\n"
    "}\n"
    "int parse_all(struct decoder *decoder, int (*finish)(struct decoder *))\n" // 1 is not: the end
    "{\n"
    "    if (decoder == NULL || finish == NULL) return 0;\n"
    "    while (read_token(decoder) != -1) { if (!finish(decoder)) return 0; touch(decoder); }\n"
    "    return 1;\n"
    "}\n"
    "int thing_check_name(struct decoder *decoder, const char *name)\n" // a question
    "{\n"
    "    if (work(decoder) == 3) return 0;\n"
    "    touch(decoder); return 1;\n"
    "}\n"
    "__attribute__((noinline)) struct decoder *make_sure(void)\n" // none is
    "{\n"
    "    struct decoder *decoder = malloc(20);\n"
    "    if (decoder == NULL) abort();\n"
    "    return decoder;\n"
    "}\n"
    "__attribute__((noinline)) struct decoder *cast(struct decoder *decoder)\n"
    "{\n"
    "    if (decoder == NULL) { touch(decoder); return NULL; }\n"
    "    decoder->state++; return decoder;\n"
    "}\n"
    "struct decoder *make_and_cast(struct decoder *first, const char *text)\n" // none is
    "{\n"
    "    struct decoder *decoder = make_sure();\n"
    "    if (text != NULL && *text != 0) touch(first);\n"
    "    if (work(first) == 3) touch(first); else work(first);\n"
    "    work(first);\n"
    "    return cast(decoder);\n"
    "}\n"
    "struct decoder *allocate_and_cast(struct decoder *first, const char *text)\n" // NULL is
    "{\n"
    "    struct decoder *decoder = malloc(20);\n"
    "    if (text != NULL && *text != 0) touch(first);\n"
    "    if (work(first) == 3) touch(first); else work(first);\n"
    "    work(first);\n"
    "    return cast(decoder);\n"
    "}\n"
    "int thing_check_key(struct decoder *decoder)\n" // 0 is reported
    "{\n"
    "    if (decoder->state == 3) { raise_error(\"state\"); return 0; }\n"
    "    touch(decoder); return 1;\n"
    "}\n"
    "int compare_both(struct decoder *a)\n" // differs
    "{\n"
    "    char *memory = malloc(20);\n"
    "    if (memory == NULL) return 0;\n"
    "    touch(a); return *memory;\n"
    "}\n"
    "long text_as_number(const char *path)\n" // 0 is: it cannot be read. The limit is a number
    "{\n"
    "    FILE *file = fopen(path, \"r\");\n"
    "    if (file == NULL) return 0;\n"
    "    char line[80];\n"
    "    line[0] = 0; fgets(line, sizeof line, file); fclose(file);\n"
    "    return strtol(line, NULL, 10);\n"
    "}\n"
    "#include <errno.h>\n"
    "int mode_set(struct decoder *decoder, int mode)\n" // 1 is: errno says so
    "{\n"
    "    if (mode > 4) { errno = EINVAL; return 1; }\n"
    "    decoder->state = mode; return 0;\n"
    "}\n"
    "int thing_sign(struct decoder *decoder)\n" // 0 is reported
    "{\n"
    "    if (decoder->state == 3) { raise_error(\"state\"); return 0; }\n"
    "    return work(decoder) * 2 + 7;\n"
    "}\n"
    "int use_sign(struct decoder *decoder) { int n = thing_sign(decoder); return n * n; }\n"
    "void *pad(struct decoder *decoder)\n" // what is never NULL is not returned as NULL
    "{\n"
    "    char *memory = must_alloc(decoder->system, 64);\n"
    "    if (decoder->state && memory) memset(memory, 0, 64);\n"
    "    return memory;\n"
    "}\n"
    "long to_whole(double number)\n" // -1 is a number
    "{\n"
    "    int64_t bits; memcpy(&bits, &number, sizeof bits);\n"
    "    int exponent = (int)(bits >> 52 & 0x7ff) - 0x3ff;\n"
    "    long sign = bits < 0 ? -1 : 1;\n"
    "    if (exponent < 0) return exponent < -1 ? 0 : sign;\n"
    "    return sign * (long)(((bits & 0xfffffffffffff) | 0x10000000000000) >> (52 - exponent));\n"
    "}\n";

static void check(const char *compiler, const char *directory)
{
    char path[64];
    _cleanup_(batch_item_deinit) struct batch_item item = {.path = path};
    profile_of(compiler, directory, path, sizeof path, &item);
    expect(&item.profile, "make_decoder", "0");
    expect_unknown(&item.profile, "system_alloc", true);
    expect(&item.profile, "make_box", "0");
    expect(&item.profile, "put_box", "4");
    expect(&item.profile, "keep_box", "");
    expect(&item.profile, "archive_create_writer", "0");
    expect(&item.profile, "archive_init", "");
    expect(&item.profile, "archive_create", "");
    expect(&item.profile, "block_compress", "0");
    expect(&item.profile, "block_copy", "");
    expect(&item.profile, "decoder_step", "21 7");
    expect(&item.profile, "decoder_feed", "0");
    expect(&item.profile, "decoder_start", "9 5");
    expect(&item.profile, "loop_timeout", "");
    expect(&item.profile, "loop_set_timeout", "-1");
    expect(&item.profile, "to_whole", "");
    expect_unknown(&item.profile, "must_alloc", false);
    expect_unknown(&item.profile, "thing_malloc", false);
    expect_unknown(&item.profile, "thing_get_path", false);
    expect(&item.profile, "thing_ref", "");
    expect(&item.profile, "thing_parent", "");
    expect(&item.profile, "list_pop_decoder", "");
    expect(&item.profile, "XYisBusy", "");
    expect(&item.profile, "set_ignored", "0");
    expect(&item.profile, "lib_done_FreeType", "33");
    expect(&item.profile, "codec_reset", "");
    expect(&item.profile, "thing_rowstride", "");
    expect(&item.profile, "thing_both", "");
    expect(&item.profile, "thing_second", "");
    expect(&item.profile, "thing_third", "0");
    expect(&item.profile, "thing_get_gravity", "");
    expect(&item.profile, "field_get_size", "");
    expect(&item.profile, "image_begin", "0");
    expect(&item.profile, "thing_error", "");
    expect(&item.profile, "tree_next", "");
    expect(&item.profile, "mode_set", "1");
    expect(&item.profile, "name_by_ipnum_all", "0");
    expect(&item.profile, "decoder_iterate", "");
    expect(&item.profile, "queue_empty", "");
    expect(&item.profile, "parse_all", "");
    expect(&item.profile, "thing_check_name", "");
    expect(&item.profile, "thing_check_key", "0");
    expect(&item.profile, "make_and_cast", "");
    expect(&item.profile, "allocate_and_cast", "0");
    expect(&item.profile, "compare_both", "");
    expect(&item.profile, "text_as_number", "0");
    expect(&item.profile, "thing_sign", "0");
    expect(&item.profile, "pad", "");
    expect(&item.profile, "codec_reset_compress", "");
    unlink(path);
}

static void test_idioms(void **state)
{
    char directory[] = "/tmp/ordeal-unit.XXXXXX", path[64];
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/judged.c", directory);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(source, file) >= 0);
    assert_int_equal(fclose(file), 0);
    check("gcc -O2", directory);
    check("clang -O2", directory);
    unlink(path);
    rmdir(directory);
}

static void test_documented(void **state)
{
    assert_true(name_never_fails("libglib-2.0.so.0", "g_slice_alloc"));
    assert_false(name_never_fails("libc.so.6", "g_slice_alloc"));
    assert_true(name_never_fails("libc.so.6", "__strerror_l"));
    assert_false(name_never_fails("libx.so.6", "strerror"));
    assert_true(name_never_fails("libgobject-2.0.so.0", "g_object_new_with_properties"));
    assert_false(name_never_fails("libgobject-2.0.so.0", "g_object_new_other"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_idioms),
                                       cmocka_unit_test(test_documented)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
