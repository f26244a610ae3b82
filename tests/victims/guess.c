// SPDX-License-Identifier: GPL-3.0-or-later
// Calls functions of a library, of which some fail.
#include <stdio.h>
#include <string.h>

struct box;
int box_kind(const struct box *box, int number);
char *box_text(const char *text, size_t size);
char *box_name(const struct box *box, int number);
int box_close(int descriptor);

int main(int argc, char **argv)
{
    struct {
        int count, kinds[4];
        char *name;
    } box = {4, {1, 2, 3, 4}, argv[0]};
    struct box *opaque = (struct box *)&box;
    printf("%d\n", box_kind(opaque, argc));
    puts(box_text(argv[0], strlen(argv[0]) + 1));
    char *first = box_name(opaque, argc);
    if (first != NULL)
        puts(first);
    puts(box_name(opaque, argc - 1));
    box_close(7);
    return 0;
}
