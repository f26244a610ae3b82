// SPDX-License-Identifier: GPL-3.0-or-later
// The tiny guest: a system of a few hundred lines that boots in milliseconds, for tests. It keeps
// named values in memory and answers lines on its second serial port:
//   set NAME TEXT   get NAME   del NAME   sum NUMBER...   fill SECTORS   panic   hang   reset
//   flood   noise   bye
// Its console, the first serial port, is where it reports its end.
#include <stddef.h>
#include <stdint.h>

#define CONSOLE 0x3f8
#define LINK    0x2f8
#define DISK    0x1f0

static void out8(uint16_t port, uint8_t value)
{
    __asm__ volatile("outb %0, %1" : : "a"(value), "Nd"(port));
}
static uint8_t in8(uint16_t port)
{
    uint8_t value;
    __asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
    return value;
}
static void out16(uint16_t port, uint16_t value)
{
    __asm__ volatile("outw %0, %1" : : "a"(value), "Nd"(port));
}
static void put_char(uint16_t port, char c)
{
    while ((in8(port + 5) & 0x20) == 0)
        ;
    out8(port, (uint8_t)c);
}
static void put(uint16_t port, const char *text)
{
    for (; *text != '\0'; text++)
        put_char(port, *text);
}
static void put_number(uint16_t port, uint64_t number, unsigned base)
{
    char digits[24], *at = digits + sizeof digits - 1;
    *at = '\0';
    do {
        *--at = "0123456789abcdef"[number % base];
        number /= base;
    } while (number != 0);
    put(port, at);
}

static _Noreturn void stop(void)
{
    for (;;)
        __asm__ volatile("cli; hlt");
}

static _Noreturn void panic(const char *why)
{
    put(CONSOLE, "Kernel panic - not syncing: ");
    put(CONSOLE, why);
    put(CONSOLE, "\n");
    stop();
}

_Noreturn void kernel_exception(uint64_t number, uint64_t address)
{
    put(CONSOLE, "RIP: 0x");
    put_number(CONSOLE, address, 16);
    put(CONSOLE, " exception ");
    put_number(CONSOLE, number, 10);
    put(CONSOLE, "\n");
    panic("Fatal exception");
}

extern char exceptions[];
struct gate {
    uint16_t low, segment;
    uint8_t stack, flags;
    uint16_t middle;
    uint32_t high, zero;
};
static struct gate gates[18];

static void set_gates(void)
{
    struct __attribute__((packed)) {
        uint16_t size;
        uint64_t address;
    } table = {sizeof gates - 1, (uint64_t)gates};
    for (size_t i = 0; i < sizeof gates / sizeof *gates; i++) {
        uint64_t at = (uint64_t)exceptions + 16 * i;
        gates[i] =
            (struct gate){(uint16_t)at, 8, 0, 0x8e, (uint16_t)(at >> 16), (uint32_t)(at >> 32), 0};
    }
    __asm__ volatile("lidt %0" : : "m"(table));
}

// ---- Memory ----

void *memcpy(void *to, const void *from, size_t size)
{
    for (size_t i = 0; i < size; i++)
        ((char *)to)[i] = ((const char *)from)[i];
    return to;
}
void *memset(void *to, int value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        ((char *)to)[i] = (char)value;
    return to;
}
void *memmove(void *to, const void *from, size_t size)
{
    if (to <= from)
        return memcpy(to, from, size);
    while (size-- > 0)
        ((char *)to)[size] = ((const char *)from)[size];
    return to;
}
size_t strlen(const char *text)
{
    size_t size = 0;
    while (text[size] != '\0')
        size++;
    return size;
}
static int same(const char *a, const char *b)
{
    while (*a != '\0' && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

static char heap[65536];
static size_t used;

static void *allocate(size_t size)
{
    size = (size + 15) & ~(size_t)15;
    if (size > sizeof heap - used)
        return NULL;
    void *memory = heap + used;
    used += size;
    return memory;
}

// ---- Values ----

struct value {
    struct value *next;
    char *name, *text;
};
static struct value *values;

static char *copy(const char *text)
{
    size_t size = strlen(text) + 1;
    char *made = allocate(size);
    if (made == NULL)
        panic("out of memory");
    memcpy(made, text, size);
    return made;
}
static struct value *find(const char *name)
{
    struct value *value = values;
    while (value != NULL && !same(value->name, name))
        value = value->next;
    return value;
}
static void set(const char *name, const char *text)
{
    struct value *value = find(name);
    if (value == NULL) {
        value = allocate(sizeof *value);
        if (value == NULL)
            panic("out of memory");
        value->name = copy(name);
        value->next = values;
        values = value;
    }
    value->text = copy(text);
}
static int delete (const char *name)
{
    for (struct value **at = &values; *at != NULL; at = &(*at)->next)
        if (same((*at)->name, name)) {
            *at = (*at)->next;
            return 1;
        }
    return 0;
}
static uint64_t sum(const char *text)
{
    uint64_t total = 0;
    while (*text != '\0') {
        uint64_t number = 0;
        while (*text >= '0' && *text <= '9')
            number = number * 10 + (uint64_t)(*text++ - '0');
        total += number;
        while (*text == ' ')
            text++;
        if (*text != '\0' && (*text < '0' || *text > '9'))
            return 0;
    }
    return total;
}

// ---- Lines ----

static size_t read_line(char *line, size_t room)
{
    size_t size = 0;
    for (;;) {
        while ((in8(LINK + 5) & 1) == 0)
            ;
        char c = (char)in8(LINK);
        if (c == '\n')
            break;
        if (size + 1 < room && c != '\r')
            line[size++] = c;
    }
    line[size] = '\0';
    return size;
}
static char *cut(char *text)
{
    while (*text != '\0' && *text != ' ')
        text++;
    if (*text == ' ')
        *text++ = '\0';
    return text;
}
static void reset(void)
{
    struct __attribute__((packed)) {
        uint16_t size;
        uint64_t address;
    } none = {0, 0};
    __asm__ volatile("lidt %0; int3" : : "m"(none));
}
// Writes to the first sectors of the first IDE disk, by the old ports.
static void fill(uint64_t sectors)
{
    for (uint32_t at = 0; at < sectors; at++) {
        while ((in8(DISK + 7) & 0x80) != 0)
            ;
        out8(DISK + 6, (uint8_t)(0xe0 | at >> 24));
        out8(DISK + 2, 1);
        out8(DISK + 3, (uint8_t)at);
        out8(DISK + 4, (uint8_t)(at >> 8));
        out8(DISK + 5, (uint8_t)(at >> 16));
        out8(DISK + 7, 0x30);
        while ((in8(DISK + 7) & 0x88) != 0x08)
            ;
        for (int i = 0; i < 256; i++)
            out16(DISK, 0x5a5a);
    }
}
// Shaped as Linux' function of this name, and its first argument as Linux' struct mce.
struct check {
    uint64_t status, misc, address, mcgstatus, others[3];
    uint32_t words[2];
    uint8_t cs, bank, more[6];
};
__attribute__((noinline)) int mce_severity(const struct check *check, int severity, char **message,
                                           int exception)
{
    __asm__ volatile("" : "+r"(severity) : "r"(check), "r"(message), "r"(exception) : "memory");
    return severity;
}
static void answer(char *line)
{
    char *rest = cut(line);
    if (same(line, "set")) {
        char *text = cut(rest);
        set(rest, text);
        put(LINK, "ok\n");
    } else if (same(line, "get")) {
        const struct value *value = find(rest);
        put(LINK, value != NULL ? value->text : "none");
        put(LINK, "\n");
    } else if (same(line, "del")) {
        put(LINK, delete (rest) ? "ok\n" : "none\n");
    } else if (same(line, "sum")) {
        put_number(LINK, sum(rest), 10);
        put(LINK, "\n");
    } else if (same(line, "fill")) {
        fill(sum(rest));
        put(LINK, "ok\n");
    } else if (same(line, "panic")) {
        panic("asked for");
    } else if (same(line, "hang")) {
        for (;;)
            ;
    } else if (same(line, "reset")) {
        reset();
    } else if (same(line, "flood")) {
        for (;;)
            put(CONSOLE, "all work and no play\n");
    } else if (same(line, "noise")) {
        for (int c = 255; c >= 0; c--)
            put_char(CONSOLE, (char)c);
        put(CONSOLE, "\nBUG: \033]0;title\007\033[2J\nRIP: \033[31m\r\n");
        panic("\033c\xff\xfe");
    } else if (same(line, "grade")) {
        struct check check = {.status = 0xfd80000000000134, .mcgstatus = 7, .cs = 0x33, .bank = 8};
        put_number(LINK, (uint64_t)mce_severity(&check, (int)sum(rest), NULL, rest[0] != '0'), 10);
        put(LINK, "\n");
    } else if (same(line, "bye")) {
        put(LINK, "bye\n");
        out16(0x604, 0x2000);
    } else {
        put(LINK, "what?\n");
    }
}

void kernel_main(void)
{
    static char line[256];
    set_gates();
    put(CONSOLE, "tiny: ready\n");
    for (;;) {
        read_line(line, sizeof line);
        answer(line);
    }
}
