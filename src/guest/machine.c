// SPDX-License-Identifier: GPL-3.0-or-later
// Starts and ends QEMU, as Debian ships it.
#include "guest/machine.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/remove.h"
#include "base/stale.h"
#include "base/timeouts.h"
#include "guest/snapshot.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define QEMU      "qemu-system-x86_64"
#define PREFIX    "ordeal-guest-"
#define LOG_LIMIT (64u << 20)

// ---- Arguments ----

__attribute__((format(printf, 2, 3))) static struct error *add(struct words *words,
                                                               const char *format, ...)
{
    _cleanup_free_ char *text = NULL;
    va_list args;
    va_start(args, format);
    int size = vasprintf(&text, format, args);
    va_end(args);
    if (size < 0) {
        text = NULL;
        return error_no_memory();
    }
    return words_add(words, text, (size_t)size);
}

static struct error *add_all(struct words *words, const char *const *texts)
{
    for (; *texts != NULL; texts++)
        TRY(words_add(words, *texts, strlen(*texts)));
    return NULL;
}

// A comma ends a value of QEMU's options unless it is doubled.
static struct error *put_value(struct buffer *text, const char *value)
{
    for (; *value != '\0'; value++)
        TRY(buffer_append(text, *value == ',' ? ",," : value, *value == ',' ? 2 : 1));
    return NULL;
}

// The guest reaches nothing but who connects to it.
static struct error *add_network(const struct guest_system *system,
                                 const struct guest_machine *machine, struct words *words)
{
    if (machine->port == 0)
        return NULL;
    if (system->serial_link) {
        TRY(add(words, "-chardev"));
        TRY(add(words, "socket,id=link,host=127.0.0.1,port=%u,server=on,wait=off", machine->port));
        TRY(add(words, "-serial"));
        return add(words, "chardev:link");
    }
    TRY(add(words, "-netdev"));
    TRY(add(words, "user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:%u-:%" PRIu64, machine->port,
            system->port));
    TRY(add(words, "-device"));
    return add(words, "virtio-net-pci,netdev=net,romfile=");
}

// What the guest writes goes to a temporary layer; while a snapshot is made, to the snapshot's own,
// which is put above the disk before the guest begins.
static struct error *add_disk(const struct guest_system *system,
                              const struct guest_machine_options *options, struct words *words)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    bool begins = options->snapshot != NULL && !options->save;
    if (system->disk == NULL)
        return NULL;
    TRY(buffer_printf(&text, "if=virtio,snapshot=%s,file=", options->save ? "off" : "on"));
    TRY(put_value(&text, begins ? options->snapshot : system->disk));
    if (begins)
        TRY(buffer_printf(&text, "/" SNAPSHOT_DISK));
    TRY(add(words, "-drive"));
    return words_add(words, text.data, text.size);
}

// The guest's memory is a file. Who begins with it has a copy of each page that it changes.
static struct error *add_snapshot(const struct guest_system *system,
                                  const struct guest_machine_options *options, struct words *words)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    if (options->snapshot == NULL)
        return NULL;
    TRY(buffer_printf(&text, "memory-backend-file,id=memory,size=%" PRIu64 "M,share=%s,mem-path=",
                      system->memory, options->save ? "on" : "off"));
    TRY(put_value(&text, options->snapshot));
    TRY(buffer_printf(&text, "/" SNAPSHOT_MEMORY));
    TRY(add(words, "-object"));
    TRY(words_add(words, text.data, text.size));
    TRY(add(words, "-machine"));
    TRY(add(words, "memory-backend=memory"));
    if (options->save)
        return NULL;
    TRY(add(words, "-incoming"));
    return add(words, "defer");
}

static struct error *add_log(const struct guest_machine *machine,
                             const struct guest_machine_options *options, struct words *words)
{
    TRY(add(words, "-D"));
    TRY(add(words, "%s", options->trace != NULL ? options->trace : machine->log));
    TRY(add(words, "-d"));
    return add(words, "cpu_reset%s", options->trace != NULL ? ",in_asm" : "");
}

static struct error *add_system(const struct guest_system *system,
                                const struct guest_machine_options *options, struct words *words)
{
    TRY(add(words, "-machine"));
    TRY(add(words, "%s,accel=%s", system->machine != NULL ? system->machine : "pc",
            options->accelerator == GUEST_KVM ? "kvm" : "tcg"));
    if (system->processor != NULL) {
        TRY(add(words, "-cpu"));
        TRY(add(words, "%s", system->processor));
    }
    TRY(add(words, "-m"));
    TRY(add(words, "%" PRIu64, system->memory));
    TRY(add(words, "-smp"));
    TRY(add(words, "%" PRIu64, system->processors));
    TRY(add(words, "-kernel"));
    TRY(add(words, "%s", options->kernel != NULL ? options->kernel : system->kernel));
    if (system->initrd != NULL) {
        TRY(add(words, "-initrd"));
        TRY(add(words, "%s", system->initrd));
    }
    if (system->append != NULL) {
        TRY(add(words, "-append"));
        TRY(add(words, "%s", system->append));
    }
    return NULL;
}

static struct error *make_arguments(const struct guest_system *system,
                                    const struct guest_machine *machine,
                                    const struct guest_machine_options *options,
                                    struct words *words)
{
    static const char *const always[] = {QEMU,
                                         "-nodefaults",
                                         "-no-user-config",
                                         "-display",
                                         "none",
                                         "-no-reboot",
                                         "-S",
                                         "-chardev",
                                         "stdio,id=console,signal=off",
                                         "-serial",
                                         "chardev:console",
                                         "-qmp",
                                         "unix:qmp,server=on,wait=off",
                                         NULL};
    static const char *const debugging[] = {"-chardev", "socket,id=gdb,path=gdb,server=on,wait=off",
                                            "-gdb", "chardev:gdb", NULL};
    TRY(add_all(words, always));
    if (options->debug)
        TRY(add_all(words, debugging));
    TRY(add_system(system, options, words));
    TRY(add_network(system, machine, words));
    TRY(add_disk(system, options, words));
    TRY(add_snapshot(system, options, words));
    TRY(add_log(machine, options, words));
    for (size_t i = 0; i < system->options.count; i++)
        TRY(words_add(words, system->options.items[i], strlen(system->options.items[i])));
    return NULL;
}

// ---- The process ----

static struct error *make_directory(struct guest_machine *machine)
{
    const char *place = getenv("TMPDIR");
    if (place == NULL || *place != '/')
        place = "/tmp";
    stale_each(place, PREFIX, false, remove_stale);
    if (asprintf(&machine->directory, "%s/" PREFIX "%s-XXXXXX", place, stale_owner()) < 0) {
        machine->directory = NULL;
        return error_no_memory();
    }
    if (mkdtemp(machine->directory) == NULL) {
        struct error *error = error_from_errno(errno, "cannot make a directory in %s", place);
        free(TAKE(machine->directory));
        return error;
    }
    return asprintf(&machine->log, "%s/log", machine->directory) >= 0 ? NULL : error_no_memory();
}

// A port of this machine that nobody uses now.
static struct error *find_port(uint16_t *ret_port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    _cleanup_close_ int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (made < 0 || bind(made, (struct sockaddr *)&address, size) != 0 ||
        getsockname(made, (struct sockaddr *)&address, &size) != 0)
        return error_from_errno(errno, "cannot find a free port");
    *ret_port = ntohs(address.sin_port);
    return NULL;
}

static _Noreturn void become(const struct guest_machine *machine, const struct words *words,
                             int console, int errors, pid_t parent)
{
    int nothing = open("/dev/null", O_RDONLY);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    // A group of its own: a terminal interrupts Ordeal, which ends it.
    if (setpgid(0, 0) == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent &&
        chdir(machine->directory) == 0 && nothing >= 0 && dup2(nothing, 0) >= 0 &&
        dup2(console, 1) >= 0 && dup2(errors, 2) >= 0) {
        execvp(QEMU, words->items);
        dprintf(2, "cannot start " QEMU ": %s\n", strerror(errno));
    }
    _exit(127);
}

static struct error *start(struct guest_machine *machine, const struct words *words)
{
    int console[2] = {-1, -1}, errors[2] = {-1, -1};
    pid_t parent = getpid();
    if (pipe2(console, O_CLOEXEC) != 0)
        return error_from_errno(errno, "cannot make a pipe");
    machine->console = console[0];
    _cleanup_close_ int console_end = console[1];
    if (pipe2(errors, O_CLOEXEC) != 0)
        return error_from_errno(errno, "cannot make a pipe");
    machine->errors = errors[0];
    _cleanup_close_ int errors_end = errors[1];
    machine->process = fork();
    if (machine->process < 0)
        return error_from_errno(errno, "cannot start a process");
    if (machine->process == 0)
        become(machine, words, console_end, errors_end, parent);
    machine->ended = pidfd_open(machine->process, 0);
    if (machine->ended < 0)
        return error_from_errno(errno, "cannot watch a process");
    if (fcntl(machine->console, F_SETFL, O_NONBLOCK) != 0 ||
        fcntl(machine->errors, F_SETFL, O_NONBLOCK) != 0)
        return error_from_errno(errno, "cannot read from a pipe");
    return NULL;
}

// What QEMU said when it ended instead of starting.
static struct error *explain(struct guest_machine *machine, struct error *error)
{
    char text[1024];
    struct pollfd state = {.fd = machine->ended, .events = POLLIN};
    if (machine->ended < 0 || poll(&state, 1, clock_poll_ms(GUEST_DEATH_WAIT_NS)) <= 0)
        return error;
    ssize_t size = read(machine->errors, text, sizeof text - 1);
    if (size <= 0)
        return error;
    text[size] = '\0';
    text[strcspn(text, "\n")] = '\0';
    error_free(error);
    if (strstr(text, "cannot start " QEMU) != NULL)
        return error_new("%s; install the package qemu-system-x86", text);
    return error_new("QEMU does not start: %s", text);
}

static struct error *begin_snapshot(struct guest_machine *machine,
                                    const struct guest_machine_options *options,
                                    uint64_t deadline_ns)
{
    if (options->snapshot == NULL)
        return NULL;
    return options->save ? guest_snapshot_prepare(&machine->qmp, options->snapshot,
                                                  machine->has_disk, deadline_ns)
                         : guest_snapshot_load(&machine->qmp, options->snapshot, deadline_ns);
}

static struct error *open_links(struct guest_machine *machine,
                                const struct guest_machine_options *options, uint64_t deadline_ns)
{
    _cleanup_free_ char *qmp = NULL, *gdb = NULL;
    if (asprintf(&qmp, "%s/qmp", machine->directory) < 0) {
        qmp = NULL;
        return error_no_memory();
    }
    if (asprintf(&gdb, "%s/gdb", machine->directory) < 0) {
        gdb = NULL;
        return error_no_memory();
    }
    TRY(guest_link_open(qmp, "QEMU's monitor", machine->ended, deadline_ns, &machine->qmp.link));
    TRY(guest_qmp_start(&machine->qmp, deadline_ns));
    TRY(begin_snapshot(machine, options, deadline_ns));
    if (!machine->debug)
        return NULL;
    TRY(guest_link_open(gdb, "QEMU's gdb stub", machine->ended, deadline_ns, &machine->gdb.link));
    return guest_gdb_start(&machine->gdb, deadline_ns);
}

struct error *guest_machine_open(const struct guest_system *system,
                                 const struct guest_machine_options *options, uint64_t deadline_ns,
                                 struct guest_machine *ret_machine)
{
    _cleanup_(words_deinit) struct words words = {0};
    *ret_machine = (struct guest_machine){.ended = -1,
                                          .console = -1,
                                          .errors = -1,
                                          .debug = options->debug,
                                          .has_disk = system->disk != NULL,
                                          .qmp.link.socket = -1,
                                          .gdb.link.socket = -1};
    TRY(make_directory(ret_machine));
    if (system->port != 0 || system->serial_link)
        TRY(find_port(&ret_machine->port));
    TRY(make_arguments(system, ret_machine, options, &words));
    TRY(start(ret_machine, &words));
    struct error *error = open_links(ret_machine, options, deadline_ns);
    return error != NULL ? explain(ret_machine, error) : NULL;
}

struct error *guest_machine_go(struct guest_machine *machine, uint64_t deadline_ns)
{
    return machine->debug ? guest_gdb_continue(&machine->gdb, false)
                          : guest_qmp_command(&machine->qmp, "cont", deadline_ns);
}

int guest_machine_stop(struct guest_machine *machine)
{
    int status = 0;
    if (machine->process <= 0)
        return 0;
    kill(machine->process, SIGKILL);
    while (waitpid(machine->process, &status, 0) < 0 && errno == EINTR)
        ;
    machine->process = 0;
    return status;
}

struct error *guest_machine_tripped(const struct guest_machine *machine, bool *ret_tripped)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    *ret_tripped = false;
    if (machine->log == NULL || access(machine->log, R_OK) != 0)
        return NULL;
    TRY(buffer_read_regular(machine->log, LOG_LIMIT, &text));
    *ret_tripped = text.data != NULL && strstr(text.data, "Triple fault") != NULL;
    return NULL;
}

void guest_machine_close(struct guest_machine *machine)
{
    guest_machine_stop(machine);
    guest_link_close(&machine->qmp.link);
    guest_link_close(&machine->gdb.link);
    int *const descriptors[] = {&machine->ended, &machine->console, &machine->errors};
    for (size_t i = 0; machine->directory != NULL && i < 3; i++)
        if (*descriptors[i] >= 0)
            close(*descriptors[i]);
    if (machine->directory != NULL)
        error_free(remove_tree(machine->directory));
    free(machine->directory);
    free(machine->log);
    *machine = (struct guest_machine){.ended = -1, .console = -1, .errors = -1};
}
