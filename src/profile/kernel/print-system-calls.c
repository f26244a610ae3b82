// SPDX-License-Identifier: GPL-3.0-or-later
// print-system-calls VMLINUX < NUMBERS prints rows of system-calls.tab for
// scripts/make-system-calls. NUMBERS are lines "NUMBER NAME", sorted by number: programs and
// kernels have different names for some calls.
#include "base/cleanup.h"
#include "profile/kernel/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 100

static void kernel_closep(struct kernel **kernel)
{
    kernel_close(*kernel);
}

static void put_word(const char *word, size_t *column)
{
    if (*column + strlen(word) + 2 > WIDTH)
        *column = (size_t)printf(",\n     %s", word) - 2;
    else
        *column += (size_t)printf(", %s", word);
}

static void put_row(long number, const char *name, const struct kernel_call *call)
{
    size_t column = (size_t)printf("CALL(%ld, %s", number, name);
    bool any = false;
    for (int behind = 0; behind < 2; behind++) {
        bool first = true;
        for (unsigned i = 1; i < ERROR_NUMBERS; i++) {
            if (!error_set_has(&call->errors, i) ||
                error_set_has(&call->direct, i) == (behind != 0) || strerrorname_np((int)i) == NULL)
                continue;
            char word[64];
            snprintf(word, sizeof word, "%s%s", behind != 0 && first ? "OPERATIONS " : "",
                     strerrorname_np((int)i));
            put_word(word, &column);
            any = true;
            first = false;
        }
    }
    if (!any)
        put_word("NONE", &column);
    puts(")");
}

int main(int argc, char **argv)
{
    _cleanup_(kernel_closep) struct kernel *kernel = NULL;
    if (argc != 2) {
        fputs("usage: print-system-calls VMLINUX < NUMBERS\n", stderr);
        return 2;
    }
    struct error *error = kernel_open(argv[1], &kernel);
    if (error != NULL) {
        fprintf(stderr, "print-system-calls: %s\n", error_message(error));
        error_free(error);
        return 2;
    }
    struct kernel_figures figures = kernel_figures(kernel);
    // Leaves out who compiled the kernel, and with what.
    const char *version = kernel_version(kernel), *build = strchr(version, '#');
    printf("// From: %.*s %s\n", (int)strcspn(version, "("), version, build != NULL ? build : "");
    printf("// %zu functions, %zu of them cut; %zu indirect calls, %zu of them followed.\n",
           figures.functions, figures.cut, figures.indirect, figures.resolved);
    long number;
    char name[64];
    size_t at = 0;
    while (scanf("%ld %63s", &number, name) == 2) {
        while (at < kernel_call_count(kernel) && kernel_call(kernel, at)->number < number)
            at++;
        if (at < kernel_call_count(kernel) && kernel_call(kernel, at)->number == number)
            put_row(number, name, kernel_call(kernel, at));
    }
    return fflush(stdout) == 0 ? 0 : 2;
}
