// SPDX-License-Identifier: GPL-3.0-or-later
// One mistake per argument, each with its own way from the failing call to the damage. The test is
// explain: it knows the lines by the comments that mark them.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct config {
    int level;
    char *name;
};
static struct config *config;
static char *global_name;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define APART         __attribute__((noinline, noclone))
#define KEEP(pointer) __asm__ volatile("" : "+r"(pointer) : : "memory") // no allocation is left out

static APART void load_config(struct config *into, const char *text)
{
    into->level = 3;
    into->name = strdup(text); // field-call
}

static APART size_t log_config(const struct config *from)
{
    return strlen(from->name); // field-use
}

static int field(void)
{
    static struct config storage;
    config = &storage;
    KEEP(config);
    load_config(config, "a name");
    printf("%zu\n", log_config(config));
    return 0;
}

static APART void load_global(const char *text)
{
    global_name = strdup(text); // global-call
}

static APART char first_letter(void)
{
    return global_name[0]; // global-use
}

static int global(void)
{
    load_global("text");
    printf("%c\n", first_letter());
    return 0;
}

static APART int unchecked(int size)
{
    char *memory = malloc((size_t)size); // unchecked-call
    KEEP(memory);
    memory[0] = 'x'; // unchecked-use
    printf("%c\n", memory[0]);
    free(memory);
    return 0;
}

static APART char *make(int size)
{
    return malloc((size_t)size); // returned-call
}

static APART int returned(int size)
{
    char *memory = make(size); // returned-caller
    KEEP(memory);
    memory[0] = 'y'; // returned-use
    printf("%c\n", memory[0]);
    free(memory);
    return 0;
}

static APART void save(int file)
{
    write(file, "precious\n", 9); // ignored-call
}

static int ignored(void)
{
    int file = open("saved", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (file < 0)
        return 1;
    save(file);
    close(file);
    return 0;
}

static int piped(void)
{
    save(1);
    return 0;
}

static APART int wrong_test(void)
{
    char line[16];
    ssize_t size = read(0, line, sizeof line); // errno-call
    if (size == 0)                             // errno-test
        return 1;
    printf("%zd\n", size);
    return 0;
}

static APART int recovery(void)
{
    char *first = malloc(40);
    if (first == NULL)
        return 1;
    strcpy(first, "first");
    char *second = strdup(first); // double-call
    if (second == NULL) {         // double-test
        free(first);
        goto end;
    }
    printf("%s\n", second);
    free(second);
end:
    free(first); // double-free
    return 0;
}

static APART int locked(void)
{
    pthread_mutex_lock(&lock);
    char *copy = strdup("copy"); // lock-call
    if (copy == NULL)            // lock-test
        return -1;
    puts(copy);
    free(copy);
    pthread_mutex_unlock(&lock);
    return 0;
}

static int hang(void)
{
    if (locked() != 0) // lock-caller
        fputs("no memory\n", stderr);
    pthread_mutex_lock(&lock); // lock-again
    puts("done");
    return 0;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(void);
    } plain[] = {
        {"field", field},     {"global", global}, {"ignored", ignored}, {"wrong-test", wrong_test},
        {"double", recovery}, {"piped", piped},   {"hang", hang},
    };
    const char *wanted = argc > 1 ? argv[1] : "";
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (strcmp(wanted, plain[i].name) == 0)
            return plain[i].run();
    if (strcmp(wanted, "unchecked") == 0)
        return unchecked(argc * 10);
    return strcmp(wanted, "returned") == 0 ? returned(argc * 10) : 2;
}
