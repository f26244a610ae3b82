// SPDX-License-Identifier: GPL-3.0-or-later
// A kernel's system calls, of a kernel small enough to know them: thunks, a table of operations,
// codes that programs never see, errors through pointers. And of files that only look like one.
#include "profile/kernel/profile.h"

#include "base/array.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char source[] =
    "#define APART __attribute__((noinline, noclone))\n"
    "struct pt_regs { long words[21]; };\n"
    "struct file;\n"
    "struct file_operations {\n"
    "    void *owner;\n"
    "    long (*llseek)(struct file *, long, int);\n"
    "    long (*read)(struct file *, char *, unsigned long);\n"
    "    int (*flush)(struct file *, void *);\n"
    "};\n"
    "struct file { long count; const struct file_operations *f_op; void *private_data; };\n"
    "volatile long sink;\n"
    "struct file *volatile files[4];\n"
    "static long pipe_read(struct file *f, char *b, unsigned long n) { if (sink == 1) "
    "return -11; if (sink == 2) return -512; sink = n; return n; }\n"
    "static long tty_read(struct file *f, char *b, unsigned long n) { if (sink == 3) "
    "return -5; return sink; }\n"
    "static long other_read(struct file *f, char *b, unsigned long n) { if (sink == 3) "
    "return -99; return sink; }\n"
    "const struct file_operations pipefifo_fops = { .read = pipe_read };\n"
    "const struct file_operations tty_fops = { .read = tty_read };\n"
    "const struct file_operations unusual_fops = { .read = other_read };\n"
    "APART struct file *fget(unsigned fd) { return fd < 4 ? files[fd] : (struct file "
    "*)-9L; }\n"
    "APART struct file *lookup(unsigned fd, int *error) { struct file *f = fd < 4 ? "
    "files[fd] : 0; if (!f) { *error = -9; return 0; } if (f->count == 7) { *error = "
    "-88; return 0; } return f; }\n"
    "APART long vfs_read(struct file *f, char *b, unsigned long n) { if (!f->f_op->read) "
    "return -22; return f->f_op->read(f, b, n); }\n"
    "APART static int crypto_check(long x) { return x == 5 ? -126 : 0; }\n"
    "long __x64_sys_read(const struct pt_regs *r) { struct file *f = fget(r->words[14]); "
    "if ((unsigned long)f > -4096UL) return (long)f; if (!f) return -14; return "
    "vfs_read(f, 0, r->words[12]); }\n"
    "long __x64_sys_getpid(const struct pt_regs *r) { return sink; }\n"
    "long __x64_sys_pause(const struct pt_regs *r) { sink = 4; return -514; }\n"
    "long __x64_sys_ioctl(const struct pt_regs *r) { long e = sink == 9 ? -515 : sink == "
    "10 ? -517 : sink == 11 ? -513 : 0; return e; }\n"
    "long __x64_sys_shutdown(const struct pt_regs *r) { int error; struct file *f = "
    "lookup(r->words[14], &error); if (f) { sink = f->count; return 0; } return error; }\n"
    "long __x64_sys_stat(const struct pt_regs *r) { if (sink == 10) return -10; if "
    "(crypto_check(sink)) return crypto_check(sink); return sink == 11 ? -2 : 0; }\n"
    "long __x64_sys_wait4(const struct pt_regs *r) { return sink ? -10 : 0; }\n"
    "struct time { long seconds, parts; };\n"
    "APART int get_time(struct time *t) { if (sink == 6) return -14; t->seconds = sink; "
    "return 0; }\n"
    "long __x64_sys_nanosleep(const struct pt_regs *r) { struct time t = {0, 0}; if "
    "(get_time(&t)) return -14; if (t.seconds < 0) return -22; sink = t.seconds; return 0; }\n"
    "long __x64_sys_ni_syscall(const struct pt_regs *r) { return -38; }\n"
    "long (*const sys_call_table[])(const struct pt_regs *) = { __x64_sys_read, "
    "__x64_sys_getpid, __x64_sys_pause, __x64_sys_ioctl, __x64_sys_shutdown, "
    "__x64_sys_stat, __x64_sys_wait4, __x64_sys_ni_syscall, __x64_sys_nanosleep };\n"
    "const char linux_banner[] = \"Linux version 9.8.7 (somebody) #1\\n\";\n"
    "__asm__(\".text\\n.globl "
    "__fentry__,__x86_return_thunk,__x86_indirect_thunk_rax,__x86_indirect_thunk_rdx,__x86_"
    "indirect_thunk_rcx,__x86_indirect_thunk_r8\\n\"\n"
    "\".type __fentry__,@function\\n__fentry__: ret\\n.size __fentry__, "
    ".-__fentry__\\n__x86_return_thunk: ret\\nint3\\n__x86_indirect_thunk_rax: jmp "
    "*%rax\\n__x86_indirect_thunk_rcx: jmp *%rcx\\n__x86_indirect_thunk_rdx: jmp "
    "*%rdx\\n__x86_indirect_thunk_r8: jmp *%r8\\n\");\n";

static const char compiler[] =
    "gcc -O2 -gbtf -ffreestanding -nostdlib -static -fno-pie -no-pie -mcmodel=kernel -mno-red-zone "
    "-mfunction-return=thunk-extern -mindirect-branch=thunk-extern -pg -mfentry "
    "-fno-stack-protector -fcf-protection=none -w -Wl,-Ttext-segment=0xffffffff81000000 -Wl,-e,0";

static char directory[] = "/tmp/ordeal-unit.XXXXXX";
static char image[64], hostile[64];

static int make_kernel(void **state)
{
    char path[64], command[1024];
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/k.c", directory);
    snprintf(image, sizeof image, "%s/vmlinux", directory);
    snprintf(hostile, sizeof hostile, "%s/hostile", directory);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(source, file);
    assert_int_equal(fclose(file), 0);
    snprintf(command, sizeof command, "%s -o %s %s", compiler, image, path);
    assert_int_equal(system(command), 0);
    unlink(path);
    return 0;
}

static int remove_kernel(void **state)
{
    unlink(image);
    unlink(hostile);
    rmdir(directory);
    return 0;
}

// "EBADF EAGAIN*": in the order of numbers, a star behind those found through operations.
static void expect(const struct kernel *kernel, int64_t number, const char *name,
                   const char *wanted)
{
    char text[256] = "";
    const struct kernel_call *call = kernel_call(kernel, (size_t)number);
    assert_int_equal(call->number, number);
    assert_string_equal(call->name, name);
    for (unsigned i = 1; i < ERROR_NUMBERS; i++)
        if (error_set_has(&call->errors, i))
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s%s",
                     *text != '\0' ? " " : "", strerrorname_np((int)i),
                     error_set_has(&call->direct, i) ? "" : "*");
    assert_string_equal(text, wanted);
    assert_memory_equal(kernel_errors(kernel, number), &call->errors, sizeof call->errors);
}

static void test_calls(void **state)
{
    struct kernel *kernel;
    assert_null(kernel_open(image, &kernel));
    assert_string_equal(kernel_version(kernel), "Linux version 9.8.7 (somebody) #1");
    assert_int_equal(kernel_call_count(kernel), 9);
    // unusual_fops is none of the tables that stand for all.
    expect(kernel, 0, "read", "EINTR* EIO* EBADF EAGAIN* EFAULT EINVAL");
    expect(kernel, 1, "getpid", "");
    expect(kernel, 2, "pause", "EINTR");
    expect(kernel, 3, "ioctl", "ENOTTY"); // nobody sees 517, and 513 is always repeated
    expect(kernel, 4, "shutdown", "EBADF ENOTSOCK");
    expect(kernel, 5, "stat", "ENOENT"); // not the cipher's, not "no child"
    expect(kernel, 6, "wait4", "ECHILD");
    expect(kernel, 7, "ni_syscall", "ENOSYS");
    expect(kernel, 8, "nanosleep", "EFAULT EINVAL"); // a variable that a call fills in
    assert_null(kernel_errors(kernel, 9));
    assert_null(kernel_errors(kernel, -1));
    struct kernel_figures figures = kernel_figures(kernel);
    assert_int_equal(figures.cut, 0);
    assert_int_equal(figures.resolved, 1);
    kernel_close(kernel);
}

// Shown as a library: by name, without failures where there are none.
static void test_as_library(void **state)
{
    struct kernel *kernel;
    struct profile profile;
    assert_null(kernel_open(image, &kernel));
    assert_null(kernel_profile(kernel, image, &profile));
    kernel_close(kernel);
    assert_int_equal(profile.functions.count, 9);
    const struct profile_function *functions = profile.functions.items;
    assert_string_equal(profile_text(&profile, functions[0].name), "getpid");
    assert_int_equal(functions[0].count, 0);
    assert_string_equal(profile_text(&profile, functions[1].name), "ioctl");
    assert_int_equal(functions[1].count, 1);
    const struct failure *failure = &profile.failures.items[functions[1].first];
    assert_int_equal(failure->result.kind, VALUE_ERRORS);
    assert_true(failure->result.negative);
    struct error_set wanted = {0};
    error_set_add(&wanted, ENOTTY);
    assert_memory_equal(&profile.sets.items.items[failure->result.set], &wanted, sizeof wanted);
    profile_deinit(&profile);
}

static void test_no_kernel(void **state)
{
    struct kernel *kernel = NULL;
    struct error *error = kernel_open("/proc/self/exe", &kernel);
    assert_non_null(error);
    assert_non_null(strstr(error_message(error), "has no table of system calls"));
    error_free(error);
    error = kernel_open("/nonexistent/vmlinux", &kernel);
    assert_non_null(error);
    error_free(error);
    kernel_close(NULL);
}

static void open_bytes(const char *bytes, size_t size)
{
    FILE *file = fopen(hostile, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    struct kernel *kernel = NULL;
    struct error *error = kernel_open(hostile, &kernel);
    assert_true((error == NULL) == (kernel != NULL));
    error_free(error);
    kernel_close(kernel);
}

static uint32_t chance(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(*seed >> 33);
}

// Whatever becomes of the bytes: an error or a kernel, in no time.
static void test_hostile(void **state)
{
    struct buffer whole = {0};
    assert_null(buffer_read_file(image, 1 << 24, &whole));
    for (size_t size = 0; size < whole.size; size += whole.size / 60)
        open_bytes(whole.data, size);
    const char *magic = memmem(whole.data, whole.size, "\x9f\xeb\x01", 3);
    assert_non_null(magic);
    size_t types = (size_t)(magic - whole.data);
    char *copy = malloc(whole.size);
    assert_non_null(copy);
    uint64_t seed = 1;
    for (int round = 0; round < 300; round++) {
        memcpy(copy, whole.data, whole.size);
        // Anywhere, in the headers, or in the types.
        size_t from = round % 3 == 2 ? types : 0, room = round % 3 == 1 ? 512 : 2000;
        if (round % 3 == 0 || room > whole.size - from)
            room = whole.size - from;
        for (uint32_t i = 0, count = 1 + chance(&seed) % 40; i < count; i++)
            copy[from + chance(&seed) % room] = (char)chance(&seed);
        open_bytes(copy, whole.size);
    }
    free(copy);
    buffer_deinit(&whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls), cmocka_unit_test(test_as_library),
        cmocka_unit_test(test_no_kernel), cmocka_unit_test(test_hostile)};
    return cmocka_run_group_tests(tests, make_kernel, remove_kernel);
}
