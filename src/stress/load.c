// SPDX-License-Identifier: GPL-3.0-or-later
// A load as whoever starts it sees it: a process, and memory in which that says how it goes.
#include "stress/load.h"

#include "stress/voter.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

const char *const load_error_names[LOAD_ERRORS] = {"differ", "died", "hung"};

static _Noreturn void become_voter(const struct load_options *options, int stop,
                                   struct load_status *status, pid_t parent)
{
    // Copies of copies come to this process, which has no other children.
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) != 0 ||
        getppid() != parent)
        _exit(1);
    signal(SIGINT, SIG_IGN); // whoever has started it tells it when to stop
    struct error *error = voter_run(options, stop, status);
    if (error != NULL)
        snprintf(status->trouble, sizeof status->trouble, "%s", error_message(error));
    error_free(error);
    status->ended = true;
    _exit(0);
}

struct error *load_start(const struct load_options *options, struct load *ret_load)
{
    int pipes[2];
    pid_t parent = getpid();
    struct load_status *status =
        mmap(NULL, sizeof *status, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (status == MAP_FAILED)
        return error_no_memory();
    if (pipe2(pipes, O_CLOEXEC) != 0) {
        munmap(status, sizeof *status);
        return error_from_errno(errno, "cannot make a pipe");
    }
    pid_t process = fork();
    if (process == 0) {
        close(pipes[1]);
        become_voter(options, pipes[0], status, parent);
    }
    int code = errno;
    close(pipes[0]);
    *ret_load = (struct load){.status = status, .process = process, .stop = pipes[1]};
    if (process > 0)
        return NULL;
    load_end(ret_load);
    return error_from_errno(code, "cannot start a process");
}

bool load_has_ended(struct load *load)
{
    if (load->process > 0 && waitpid(load->process, NULL, WNOHANG) == load->process)
        load->process = 0;
    return load->process <= 0;
}

struct error *load_trouble(const struct load *load)
{
    if (load->status->trouble[0] != '\0')
        return error_new("%s", load->status->trouble);
    return load->status->ended ? NULL : error_new("the load was killed");
}

void load_end(struct load *load)
{
    if (load->stop >= 0)
        close(load->stop);
    while (load->process > 0 && waitpid(load->process, NULL, 0) < 0 && errno == EINTR)
        ;
    if (load->status != NULL)
        munmap(load->status, sizeof *load->status);
    *load = (struct load){.stop = -1};
}
