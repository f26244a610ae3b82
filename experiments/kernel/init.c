// SPDX-License-Identifier: GPL-3.0-or-later
// The first and only process of the experiment's machine: says what the kernel tells it, and
// restarts. Without a C library, so that it can be built by any clang.
#include <linux/reboot.h>
#include <linux/utsname.h>
#include <sys/syscall.h>

static long call(long number, long a, long b, long c, long d)
{
    long result;
    register long fourth __asm__("r10") = d;
    register long fifth __asm__("r8") = 0;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth)
                     : "rcx", "r11", "memory");
    return result;
}

static void say(const char *text)
{
    long size = 0;
    while (text[size] != '\0')
        size++;
    call(SYS_write, 1, (long)text, size, 0);
}

static void say_number(const char *what, long number)
{
    char digits[24];
    char *at = digits + sizeof digits - 1;
    unsigned long rest = number < 0 ? -(unsigned long)number : (unsigned long)number;
    *at = '\0';
    do {
        *--at = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (number < 0)
        *--at = '-';
    say(what);
    say(at);
    say("\n");
}

static void say_file(const char *path)
{
    char text[256];
    long file = call(SYS_open, (long)path, 0, 0, 0);
    long size = file >= 0 ? call(SYS_read, file, (long)text, sizeof text - 1, 0) : file;
    say("init: ");
    say(path);
    if (size <= 0) {
        say_number(" cannot be read: ", size);
        return;
    }
    text[size] = '\0';
    say(": ");
    say(text);
}

void _start(void)
{
    static struct new_utsname name;
    say("init: the kernel runs\n");
    say_number("init: getpid gives ", call(SYS_getpid, 0, 0, 0, 0));
    say_number("init: uname gives ", call(SYS_uname, (long)&name, 0, 0, 0));
    say("init: release ");
    say(name.release);
    say("\n");
    say_number("init: mount gives ", call(SYS_mount, (long)"proc", (long)"/proc", (long)"proc", 0));
    say_file("/proc/version");
    say("init: done\n");
    call(SYS_reboot, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2, LINUX_REBOOT_CMD_RESTART, 0);
    for (;;)
        ;
}
