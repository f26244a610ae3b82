// SPDX-License-Identifier: GPL-3.0-or-later
// Whether KVM can be used. A machine may have /dev/kvm, and a guest in it never gets anywhere; so a
// guest is booted, and the answer is kept until the machine restarts.
#include "guest/machine.h"

#include "base/cache-directory.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/timeouts.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define QEMU "qemu-system-x86_64"

// A boot sector that leaves QEMU by its exit device: mov al, 0x10; out 0xf4, al; hlt. The status is
// twice the value plus one.
static const unsigned char boot_sector[512] = {0xb0, 0x10,         0xe6,        0xf4,
                                               0xf4, [510] = 0x55, [511] = 0xaa};
#define BOOTED 33

static _Noreturn void boot_probe(const char *disk)
{
    int nothing = open("/dev/null", O_RDWR);
    char *drive = NULL;
    if (nothing >= 0 && dup2(nothing, 0) >= 0 && dup2(nothing, 1) >= 0 && dup2(nothing, 2) >= 0 &&
        asprintf(&drive, "if=floppy,format=raw,readonly=on,file=%s", disk) >= 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execlp(QEMU, QEMU, "-nodefaults", "-no-user-config", "-display", "none", "-machine",
               "pc,accel=kvm", "-m", "16", "-drive", drive, "-boot", "a", "-device",
               "isa-debug-exit,iobase=0xf4", NULL);
    }
    _exit(127);
}

// *ret_certain: QEMU has run, so that the answer is KVM's.
static bool boots(const char *disk, bool *ret_certain)
{
    int status = 0;
    pid_t process = fork();
    if (process == 0)
        boot_probe(disk);
    int ended = process > 0 ? pidfd_open(process, 0) : -1;
    struct pollfd state = {.fd = ended, .events = POLLIN};
    bool in_time = ended >= 0 && poll(&state, 1, clock_poll_ms(GUEST_PROBE_WAIT_NS)) > 0;
    if (process > 0 && !in_time)
        kill(process, SIGKILL);
    if (process > 0)
        while (waitpid(process, &status, 0) < 0 && errno == EINTR)
            ;
    if (ended >= 0)
        close(ended);
    bool works = in_time && WIFEXITED(status) && WEXITSTATUS(status) == BOOTED;
    *ret_certain = works || (process > 0 && !in_time);
    return works;
}

static struct error *probe(bool *ret_works, bool *ret_certain)
{
    char path[] = "/tmp/ordeal-probe-XXXXXX";
    *ret_works = *ret_certain = false;
    if (access("/dev/kvm", R_OK | W_OK) != 0)
        return NULL;
    _cleanup_close_ int file = mkostemp(path, O_CLOEXEC);
    if (file < 0)
        return error_from_errno(errno, "cannot make a file in /tmp");
    bool written = write(file, boot_sector, sizeof boot_sector) == (ssize_t)sizeof boot_sector;
    *ret_works = written && boots(path, ret_certain);
    unlink(path);
    return written ? NULL : error_from_errno(errno, "cannot write %s", path);
}

// The file that has the answer, "yes" or "no"; NULL if there is no place for it.
static struct error *find_answer(char **ret_path)
{
    _cleanup_(buffer_deinit) struct buffer boot = {0};
    _cleanup_free_ char *directory = NULL;
    *ret_path = NULL;
    TRY(cache_directory_find(&directory));
    struct error *error = buffer_read_file("/proc/sys/kernel/random/boot_id", 100, &boot);
    if (error != NULL || directory == NULL || boot.size < 36) {
        error_free(error);
        return NULL;
    }
    if (asprintf(ret_path, "%s/kvm-%.36s", directory, boot.data) >= 0)
        return NULL;
    *ret_path = NULL;
    return error_no_memory();
}

static bool read_answer(const char *path, bool *ret_works)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    struct error *error = buffer_read_own(path, 100, &text);
    bool known = error == NULL && text.size != 0;
    error_free(error);
    if (known)
        *ret_works = text.data[0] == 'y';
    return known;
}

// Without a place for it, the next one tries again.
static void keep_answer(char *path, bool works)
{
    char word[] = "yes\n";
    const struct buffer text = {works ? word : strcpy(word, "no\n"), works ? 4 : 3, sizeof word};
    char *slash = strrchr(path, '/');
    *slash = '\0';
    struct error *error = cache_directory_make(path);
    *slash = '/';
    if (error == NULL)
        error = file_replace(path, &text);
    error_free(error);
}

struct error *guest_probe_kvm(bool *ret_works)
{
    _cleanup_free_ char *path = NULL;
    TRY(find_answer(&path));
    if (path != NULL && read_answer(path, ret_works))
        return NULL;
    bool certain;
    TRY(probe(ret_works, &certain));
    if (path != NULL && certain)
        keep_answer(path, *ret_works);
    return NULL;
}

struct error *guest_choose_accelerator(enum guest_accelerator *accelerator)
{
    bool works;
    if (*accelerator != GUEST_AUTO)
        return NULL;
    TRY(guest_probe_kvm(&works));
    *accelerator = works ? GUEST_KVM : GUEST_TCG;
    return NULL;
}
