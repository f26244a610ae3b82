// SPDX-License-Identifier: GPL-3.0-or-later
// The scripts of a system: pretest, workload, shutdown.
#include "guest/run-internal.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static int status_of(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void guest_script_take_end(struct guest *guest)
{
    int status = 0;
    kill(-guest->script, SIGKILL); // what it left running; its own end keeps the number taken
    while (waitpid(guest->script, &status, 0) < 0 && errno == EINTR)
        ;
    guest->status = status_of(status);
    close(guest->script_ended);
    guest->script_ended = -1;
    guest->script = 0;
}

static _Noreturn void become(const struct guest *guest, char *const *command, bool quiet,
                             pid_t parent)
{
    char port[16];
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    snprintf(port, sizeof port, "%u", guest->machine.port);
    int nothing = open("/dev/null", O_RDONLY);
    if (setpgid(0, 0) == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent &&
        chdir(guest->system->directory) == 0 && nothing >= 0 && dup2(nothing, 0) >= 0 &&
        (!quiet || dup2(2, 1) >= 0) && setenv("GUEST_PORT", port, 1) == 0 &&
        setenv("GUEST_PHASE", guest_phase_names[guest->report->phase], 1) == 0) {
        execvp(command[0], command);
        dprintf(2, "ordeal guest: cannot run %s: %s\n", command[0], strerror(errno));
    }
    _exit(127);
}

void guest_script_end(struct guest *guest)
{
    if (guest->script == 0)
        return;
    kill(-guest->script, SIGKILL);
    kill(guest->script, SIGKILL);
    guest_script_take_end(guest);
}

struct error *guest_script_run(struct guest *guest, char *const *command, bool quiet,
                               uint64_t deadline_ns, bool *ret_done)
{
    *ret_done = false;
    pid_t parent = getpid();
    guest->script = fork();
    if (guest->script < 0) {
        guest->script = 0;
        return error_from_errno(errno, "cannot start a process");
    }
    if (guest->script == 0)
        become(guest, command, quiet, parent);
    setpgid(guest->script, guest->script); // whichever of both is first
    guest->script_ended = pidfd_open(guest->script, 0);
    if (guest->script_ended < 0)
        return error_from_errno(errno, "cannot watch a process");
    while (guest->script != 0 && !guest_is_over(guest) && clock_ns() < deadline_ns)
        TRY(guest_pump(guest, deadline_ns));
    *ret_done = guest->script == 0;
    guest_script_end(guest);
    return NULL;
}
