// SPDX-License-Identifier: GPL-3.0-or-later
// What tests of call sites share: functions that can fail, and looking at a file.
#ifndef ORDEAL_TESTS_CALLSITE_HELP_H
#define ORDEAL_TESTS_CALLSITE_HELP_H

#include "callsite/site.h"

#include "base/cleanup.h"
#include "elf/object.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static bool failures(void *data, uint32_t import, struct site_failures *ret_failures)
{
    static const struct {
        const char *name;
        int64_t codes[3];
        size_t count;
        enum site_success success;
    } known[] = {
        {"fgets", {0}, 1, SITE_SUCCESS_POINTER},
        {"malloc", {0}, 1, SITE_SUCCESS_POINTER},
        {"opendir", {0}, 1, SITE_SUCCESS_POINTER},
        {"mmap", {-1}, 1, SITE_SUCCESS_POINTER},
        {"mmap64", {-1}, 1, SITE_SUCCESS_POINTER},
        {"open", {-1}, 1, SITE_SUCCESS_VALUE},
        {"fork", {-1}, 1, SITE_SUCCESS_VALUE},
        {"read", {-1}, 1, SITE_SUCCESS_LENGTH},
        {"write", {-1}, 1, SITE_SUCCESS_LENGTH},
        {"close", {-1}, 1, SITE_SUCCESS_ZERO},
        {"unlink", {-1}, 1, SITE_SUCCESS_ZERO},
        {"strtol", {0}, 1, SITE_SUCCESS_ANY},
        {"select", {-1, -2, -3}, 3, SITE_SUCCESS_ANY},
        {"dup", {-1}, 1, SITE_SUCCESS_DESCRIPTOR},
        {"fwrite", {0}, 1, SITE_SUCCESS_LENGTH},
        {"waitpid", {-1}, 1, SITE_SUCCESS_LENGTH},
        {"fdopen", {0}, 1, SITE_SUCCESS_POINTER},
        {"rmdir", {-1}, 1, SITE_SUCCESS_ZERO},
        {"lseek", {-1}, 1, SITE_SUCCESS_POSITION},
        {"getppid", {-1}, 1, SITE_SUCCESS_ANY},
        {"closedir", {-1}, 1, SITE_SUCCESS_ZERO},
        {"snprintf", {-1}, 1, SITE_SUCCESS_BELOW},
        {"dup2", {-1}, 1, SITE_SUCCESS_POSITION},
        {"mktime", {-1}, 1, SITE_SUCCESS_TIME},
        {"getc", {-1}, 1, SITE_SUCCESS_VALUE},
        {"recv", {0}, 1, SITE_SUCCESS_ANY},
        {"strrchr", {0}, 1, SITE_SUCCESS_POINTER},
        {"sysconf", {-1}, 1, SITE_SUCCESS_ANY},
        {"syscall", {-1}, 1, SITE_SUCCESS_REQUESTED},
        {"strtoll", {INT64_MIN}, 1, SITE_SUCCESS_CONVERTED},
    };
    const struct flow_image *image = data;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(image->imports.items[import].name, known[i].name) != 0)
            continue;
        *ret_failures = (struct site_failures){
            .codes = known[i].codes, .count = known[i].count, .success = known[i].success};
        return true;
    }
    return false;
}

struct looking {
    struct elf_object *object;
    struct flow_image *image;
    struct sites sites;
};

static void look(const char *path, struct looking *ret_looking)
{
    struct looking looking = {0};
    assert_null(elf_object_open(path, &looking.object));
    assert_null(flow_image_open(looking.object, &looking.image));
    const struct sites_context world = {.failures = failures, .data = looking.image};
    assert_null(sites_find(looking.image, &world, &looking.sites));
    *ret_looking = looking;
}

static void looked(struct looking *looking)
{
    sites_deinit(&looking->sites);
    flow_image_close(looking->image);
    elf_object_close(looking->object);
}

#endif
