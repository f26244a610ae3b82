// SPDX-License-Identifier: GPL-3.0-or-later
// A list of names; copies of them are not checked.
#include "common.h"

struct name {
    char *text;
    struct name *next;
};

int main(void)
{
    char *text = slurp("users.txt");
    struct name *names = NULL;
    for (char *word = strtok(text, "\n"); word != NULL; word = strtok(NULL, "\n")) {
        struct name *name = malloc(sizeof *name);
        check(name != NULL, "memory");
        name->text = strdup(word); // SEEDED
        CHECK(name->text != NULL, "memory");
        name->next = names;
        names = name;
    }
    for (struct name *name = names; name != NULL; name = name->next)
        printf("%zu %s\n", strlen(name->text), name->text);
    return finish();
}
