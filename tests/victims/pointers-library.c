// Hands out the address of read as this library sees it.
#include <unistd.h>

void *library_read(void);
void *library_table(void);

static ssize_t (*const table[])(int, void *, size_t) = {read};

void *library_read(void)
{
    return (void *)read;
}
void *library_table(void)
{
    return (void *)table[0];
}
