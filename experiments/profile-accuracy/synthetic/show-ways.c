// SPDX-License-Identifier: GPL-3.0-or-later
// Prints every way of every exported function of a library, one per line, tab-separated:
// name, result, errno ("-" if not set, "?" if not known), effects. score compares that with the
// truth. System calls have made-up errors that score knows, too: EINVAL and 1 + number % 100.
#include "profile/library.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <stdlib.h>

static const struct error_set *system_call(const void *data, int64_t number)
{
    static struct error_set errors[512];
    (void)data;
    if (number < 0 || number >= 512)
        return NULL;
    error_set_add(&errors[number], 22);
    error_set_add(&errors[number], 1 + (unsigned)number % 100);
    return &errors[number];
}

static void print_value(const struct error_sets *sets, const struct value *value)
{
    if (value->kind == VALUE_CONSTANT) {
        printf("%lld", (long long)value->number);
    } else if (value->kind == VALUE_ERRORS) {
        const char *comma = "";
        for (unsigned i = 0; i < ERROR_NUMBERS; i++)
            if (error_set_has(&sets->items.items[value->set], i)) {
                printf("%s%s%u", comma, value->negative ? "-" : "", i);
                comma = ",";
            }
    } else {
        printf("?");
    }
}

static struct error *show(void *data, const struct profile_export *export)
{
    static const char *const kinds[] = {"global", "thread", "argument", "own-thread"};
    const struct error_sets *sets = data;
    if (export->summary == NULL) {
        printf("%s\tunknown\n", export->name);
        return NULL;
    }
    if (export->summary->cut)
        printf("%s\tcut\n", export->name);
    for (size_t i = 0; i < export->summary->ways.count; i++) {
        const struct way *way = &export->summary->ways.items[i];
        printf("%s\t", export->name);
        print_value(sets, &way->result);
        printf("\t");
        if (way->sets_error)
            print_value(sets, &way->error);
        else
            printf("-");
        for (unsigned e = 0; e < way->effect_count; e++) {
            const struct effect *effect = &way->effects[e];
            if (effect->source != 0) // what the caller handed over
                continue;
            printf("\t%s %u %lld %u %lld", kinds[effect->kind], effect->argument,
                   (long long)effect->where, effect->width, (long long)effect->value);
        }
        printf("\n");
    }
    return NULL;
}

static struct error *look(const char *path)
{
    const struct profile_options options = {.system_call = system_call};
    struct profile_set *set;
    size_t module;
    TRY(profile_set_new(&options, &set));
    struct error *error = profile_set_add(set, path, &module);
    if (error == NULL)
        error = profile_set_analyse(set, module);
    if (error == NULL)
        error = profile_each_export(set, module, show, (void *)profile_sets(set));
    profile_set_free(set);
    return error;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        struct error *error = look(argv[i]);
        if (error != NULL) {
            fprintf(stderr, "%s\n", error_message(error));
            return 2;
        }
    }
    return 0;
}
