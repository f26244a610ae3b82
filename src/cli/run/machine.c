// SPDX-License-Identifier: GPL-3.0-or-later
// Tries what a machine may refuse: containers, hardened kernels and missing packages.
#include "cli/run/machine.h"

#include "base/cleanup.h"
#include "sandbox/sandbox.h"
#include "trial/program.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// A trial's region takes some 20 MB there, and there may be one for every processor.
#define SHARED_MEMORY_LEAST ((unsigned long long)64 << 20)

static struct error *check_runtime(void)
{
    _cleanup_free_ char *path = NULL;
    return program_runtime(&path);
}

static struct error *try_sandbox(enum sandbox_kind kind, bool network)
{
    char directory[] = "/tmp/ordeal-doctor.XXXXXX";
    if (mkdtemp(directory) == NULL)
        return error_from_errno(errno, "cannot make a directory in /tmp");
    struct sandbox *sandbox = NULL;
    const struct sandbox_options options = {
        .kind = kind, .directory = directory, .network = network};
    struct error *error = sandbox_new(&options, &sandbox);
    sandbox_free(sandbox);
    rmdir(directory);
    return error;
}

static struct error *check_sandbox(void)
{
    return try_sandbox(SANDBOX_AUTO, false);
}

static struct error *check_overlay(void)
{
    return try_sandbox(SANDBOX_OVERLAY, false);
}

static struct error *check_network(void)
{
    return try_sandbox(SANDBOX_OVERLAY, true);
}

static struct error *check_shared_memory(void)
{
    struct statvfs facts;
    if (statvfs("/dev/shm", &facts) < 0)
        return error_from_errno(errno, "cannot look at /dev/shm");
    unsigned long long free_bytes = (unsigned long long)facts.f_bavail * facts.f_frsize;
    if (access("/dev/shm", W_OK) < 0)
        return error_from_errno(errno, "cannot write in /dev/shm");
    if (free_bytes < SHARED_MEMORY_LEAST)
        return error_new("only %llu MB are free in /dev/shm", free_bytes >> 20);
    return NULL;
}

static struct error *check_proc(void)
{
    return access("/proc/self/maps", R_OK) == 0
               ? NULL
               : error_from_errno(errno, "cannot read /proc/self/maps");
}

// The tracer of system calls seizes its own child, which a filter of system calls or the strictest
// ptrace_scope forbids.
static struct error *check_ptrace(void)
{
    pid_t child = fork();
    if (child < 0)
        return error_from_errno(errno, "cannot start a process");
    if (child == 0) {
        for (;;)
            pause();
    }
    struct error *error = NULL;
    if (ptrace(PTRACE_SEIZE, child, NULL, NULL) < 0)
        error = error_from_errno(errno, "cannot trace a child process");
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return error;
}

// Scope 0: any process of the user; 1: descendants; 2: only privileged users; 3: nobody.
static struct error *check_attach(void)
{
    FILE *file = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
    if (file == NULL)
        return NULL; // the kernel has no such limit
    int scope = 0;
    bool read = fscanf(file, "%d", &scope) == 1;
    fclose(file);
    if (read && (scope == 3 || (scope > 0 && geteuid() != 0)))
        return error_new("kernel.yama.ptrace_scope is %d", scope);
    return NULL;
}

static struct error *check_membarrier(void)
{
    long commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
    if (commands < 0)
        return error_from_errno(errno, "cannot call membarrier()");
    return (commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0
               ? NULL
               : error_new("membarrier() has no expedited command");
}

// Whether a program can be found along PATH.
static struct error *check_program(const char *name)
{
    const char *path = getenv("PATH");
    for (const char *at = path != NULL ? path : ""; *at != '\0';) {
        size_t size = strcspn(at, ":");
        _cleanup_free_ char *file = NULL;
        if (asprintf(&file, "%.*s/%s", (int)size, at, name) < 0)
            return file = NULL, error_no_memory();
        if (access(file, X_OK) == 0)
            return NULL;
        at += size + (at[size] == ':');
    }
    return error_new("%s is not installed", name);
}

static struct error *check_gdb(void)
{
    return check_program("gdb");
}

static struct error *check_clang(void)
{
    return check_program("clang-19");
}

static struct error *check_qemu(void)
{
    return check_program("qemu-system-x86_64");
}

#define CONTAINER                                                                                  \
    "as an ordinary user: sysctl kernel.unprivileged_userns_clone=1; in Docker: --security-opt "   \
    "seccomp=unconfined --security-opt apparmor=unconfined"

const struct machine_check machine_checks[] = {
    {"runtime", "Ordeal's runtime library", "every fault", "build or install Ordeal again", true,
     check_runtime},
    {"proc", "/proc", "campaigns", "mount -t proc none /proc", false, check_proc},
    {"shared-memory", "shared memory", "every trial",
     "mount a larger /dev/shm; in Docker: --shm-size 1g", false, check_shared_memory},
    {"sandbox", "a sandbox for trials", "ordeal test, ordeal campaign",
     CONTAINER "; or --sandbox copy, which protects less", false, check_sandbox},
    {"overlay", "a private view of all file systems", "sandboxes that copy nothing", CONTAINER,
     false, check_overlay},
    {"network", "a private network", "trials of servers side by side", CONTAINER, false,
     check_network},
    {"ptrace", "tracing of child processes", "faults in system calls, ordeal trace",
     "in Docker: --cap-add SYS_PTRACE", false, check_ptrace},
    {"attach", "attaching to running processes", "ordeal faults -p, gdb -p",
     "sysctl kernel.yama.ptrace_scope=0, or run as root", false, check_attach},
    {"membarrier", "membarrier()", "fast exact counts with many threads",
     "a kernel with CONFIG_MEMBARRIER", false, check_membarrier},
    {"gdb", "gdb", "ordeal replay --gdb, stacks of hangs", "apt-get install gdb", false, check_gdb},
    {"clang", "clang 19", "ordeal cc, ordeal c++", "apt-get install clang-19", false, check_clang},
    {"qemu", "QEMU", "ordeal guest", "apt-get install qemu-system-x86", false, check_qemu},
};
const size_t machine_check_count = sizeof machine_checks / sizeof *machine_checks;
