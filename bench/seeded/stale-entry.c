// SPDX-License-Identifier: GPL-3.0-or-later
// An entry that could not be finished is freed, but stays in the list.
#include "common.h"

struct entry {
    struct entry *next;
    char *text;
};

static struct entry *list;

static int add(const char *text)
{
    struct entry *entry = malloc(sizeof *entry);
    if (entry == NULL)
        return -1;
    entry->next = list;
    list = entry;
    entry->text = strdup(text); // SEEDED
    if (entry->text == NULL) {
#ifdef CORRECT
        list = entry->next;
#endif
        free(entry);
        return -1;
    }
    return 0;
}

int main(void)
{
    int failed = add("a text of a certain length") + add("another text, longer than that");
    while (list != NULL) {
        struct entry *next = list->next;
        if (!failed)
            puts(list->text);
        free(list->text);
        free(list);
        list = next;
    }
    check(!failed, "memory");
    return finish();
}
