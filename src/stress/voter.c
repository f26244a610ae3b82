// SPDX-License-Identifier: GPL-3.0-or-later
// The voter. Members do not wait for each other; one loop looks after all of them. A copy is waited
// for until a majority has answered and then as long again and more, so a busy machine is no error.
#include "stress/voter.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/timeouts.h"
#include "stats/stats.h"
#include "stress/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define REPAIR_TRIES 3

enum copy_state { COPY_NONE, COPY_READY, COPY_BUSY, COPY_NEW };

struct copy {
    enum copy_state state;
    int link, file;
    int process_descriptor;
    bool answered;
    uint64_t sum;
};

struct member {
    struct copy copies[LOAD_MOST_COPIES];
    uint64_t function;              // the number of the one that runs, or runs next
    uint64_t since_ns, majority_ns; // when it was ordered; when a majority had answered, or 0
    struct copy *fresh;             // takes the place of a lost one; NULL: none does now
    uint64_t repair_by_ns;
    unsigned repair_tries;
    bool done;
};

struct voter {
    const struct load_options *options;
    struct load_status *status;
    struct stress_work work;
    struct member *members;
    uint64_t unit_ns[STRESS_AREAS];
    unsigned running; // members that are not done
    int stop;
};

// ---- Copies ----

static struct error *make_file(const char *directory, int *ret_file)
{
    int file = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {
        _cleanup_free_ char *path = NULL;
        if (asprintf(&path, "%s/ordeal-load-XXXXXX", directory) < 0)
            return error_no_memory();
        file = mkostemp(path, O_CLOEXEC);
        if (file >= 0)
            unlink(path);
    }
    if (file < 0)
        return error_from_errno(errno, "cannot make a file in %s", directory);
    *ret_file = file;
    return NULL;
}

static _Noreturn void become_copy(struct voter *voter, int link, int file, pid_t parent)
{
    int nothing = open("/dev/null", O_RDWR);
    munmap(voter->status, sizeof *voter->status);
    // Out of the way first: these may be in places that are wanted.
    link = fcntl(link, F_DUPFD, COPY_FILE + 1);
    file = fcntl(file, F_DUPFD, COPY_FILE + 1);
    if (nothing < 0 || link < 0 || file < 0 || getppid() != parent)
        _exit(1);
    for (int i = 0; i < COPY_LINK; i++)
        if (dup2(nothing, i) < 0)
            _exit(1);
    if (dup2(link, COPY_LINK) < 0 || dup2(file, COPY_FILE) < 0 ||
        close_range(COPY_FILE + 1, ~0u, 0) != 0)
        _exit(1);
    voter->work.file = COPY_FILE;
    copy_live(&voter->work);
}

static void tell_process(struct voter *voter, const struct member *member, const struct copy *copy,
                         pid_t process)
{
    size_t m = (size_t)(member - voter->members), c = (size_t)(copy - member->copies);
    voter->status->processes[m][c] = process;
}

static void end_copy(struct voter *voter, struct member *member, struct copy *copy)
{
    if (copy->state == COPY_NONE)
        return;
    tell_process(voter, member, copy, 0);
    if (copy->process_descriptor >= 0) {
        pidfd_send_signal(copy->process_descriptor, SIGKILL, NULL, 0);
        close(copy->process_descriptor);
    }
    close(copy->link);
    copy->state = COPY_NONE;
    copy->answered = false;
}

// links[0] is the voter's end, which is told who sends.
static struct error *make_links(int links[2])
{
    int yes = 1;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, links) != 0)
        return error_from_errno(errno, "cannot make a pair of sockets");
    if (setsockopt(links[0], SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) == 0)
        return NULL;
    struct error *error = error_from_errno(errno, "cannot make a socket tell who sends");
    close(links[0]);
    close(links[1]);
    return error;
}

static struct error *start_copy(struct voter *voter, struct member *member, struct copy *copy)
{
    int links[2];
    pid_t parent = getpid();
    TRY(make_links(links));
    pid_t process = fork();
    if (process == 0)
        become_copy(voter, links[1], copy->file, parent);
    int error = errno;
    close(links[1]);
    if (process < 0) {
        close(links[0]);
        return error_from_errno(error, "cannot start a process");
    }
    *copy = (struct copy){.state = COPY_READY,
                          .link = links[0],
                          .file = copy->file,
                          .process_descriptor = pidfd_open(process, 0)};
    tell_process(voter, member, copy, process);
    return copy->process_descriptor >= 0 ? NULL : error_from_errno(errno, "cannot watch a process");
}

// A copy that cannot be told anything has died; its link says so when it is looked at.
static void order(struct copy *copy, const struct copy_command *command,
                  const struct copy_descriptors *descriptors)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(struct copy_descriptors))];
    } control = {0};
    struct iovec part = {(void *)command, sizeof *command};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (descriptors != NULL) {
        control.header = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof *descriptors),
                                          .cmsg_level = SOL_SOCKET,
                                          .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(&control.header), descriptors, sizeof *descriptors);
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof control.bytes;
    }
    if (sendmsg(copy->link, &message, MSG_NOSIGNAL) < 0)
        errno = 0;
    copy->state = COPY_BUSY;
    copy->answered = false;
}

// ---- Functions ----

static enum stress_area draw_area(const struct voter *voter, uint64_t member, uint64_t function)
{
    struct stats_random random = stats_random_start(voter->options->seed, member << 40 | function);
    const double *mix = voter->options->mix;
    double at = stats_random_unit(&random) * (mix[0] + mix[1] + mix[2]);
    for (unsigned area = 0; area + 1 < STRESS_AREAS; area++) {
        if (at < mix[area])
            return (enum stress_area)area;
        at -= mix[area];
    }
    return mix[STRESS_IO] > 0 ? STRESS_IO : mix[STRESS_MEM] > 0 ? STRESS_MEM : STRESS_CPU;
}

static unsigned intensity_of(const struct load_options *options, uint64_t function)
{
    double way = options->functions > 1 ? (double)function / (double)(options->functions - 1) : 0;
    return (unsigned)(options->intensity[0] +
                      way * ((double)options->intensity[1] - options->intensity[0]) + 0.5);
}

// Then a copy that has not answered ends by itself, and one that was stopped is given up.
static uint64_t copy_limit_ns(const struct voter *voter)
{
    return STRESS_FUNCTION_WAIT_NS + 100 * voter->options->function_ns;
}

static void begin_function(struct voter *voter, struct member *member)
{
    uint64_t index = (uint64_t)(member - voter->members);
    enum stress_area area = draw_area(voter, index, member->function);
    struct copy_command command = {
        .order = COPY_RUN,
        .area = area,
        .units = voter->options->units[area] != 0 ? voter->options->units[area]
                                                  : voter->status->units[area],
        .turn = member->function,
        .intensity = intensity_of(voter->options, member->function),
        .unit_ns = voter->unit_ns[area],
        .limit_ns = copy_limit_ns(voter),
    };
    voter->status->areas[index] = area;
    member->since_ns = clock_ns();
    member->majority_ns = 0;
    for (unsigned i = 0; i < voter->options->copies; i++)
        if (member->copies[i].state == COPY_READY)
            order(&member->copies[i], &command, NULL);
}

// ---- Voting ----

static bool is_majority(const struct voter *voter, unsigned count)
{
    return count > voter->options->copies / 2;
}

// The sum that a majority of the copies has.
static bool elect(const struct voter *voter, const struct member *member, uint64_t *ret_sum)
{
    for (unsigned i = 0; i < voter->options->copies; i++) {
        unsigned same = 0;
        if (!member->copies[i].answered)
            continue;
        for (unsigned j = 0; j < voter->options->copies; j++)
            same += member->copies[j].answered && member->copies[j].sum == member->copies[i].sum;
        if (is_majority(voter, same)) {
            *ret_sum = member->copies[i].sum;
            return true;
        }
    }
    return false;
}

static void note_error(struct voter *voter, struct member *member, struct copy *copy,
                       enum load_error error)
{
    struct load_status *status = voter->status;
    status->errors[error]++;
    if (status->noticed_count < LOAD_MOST_NOTICED)
        status->noticed[status->noticed_count++] =
            (struct load_noticed){.at_ns = clock_ns() - status->started_ns,
                                  .member = (unsigned)(member - voter->members),
                                  .copy = (unsigned)(copy - member->copies),
                                  .error = error};
    end_copy(voter, member, copy);
}

static void fail(struct voter *voter)
{
    voter->status->failed = true;
    voter->running = 0;
}

// ---- Repair ----

static struct copy *find_copy(struct voter *voter, struct member *member, enum copy_state state)
{
    for (unsigned i = 0; i < voter->options->copies; i++)
        if (member->copies[i].state == state)
            return &member->copies[i];
    return NULL;
}

// Lets a good copy become two. The new one uses the file of the old one, which has nothing that is
// read before it is written.
static struct error *repair_one(struct voter *voter, struct member *member, struct copy *missing,
                                struct copy *good)
{
    int links[2];
    TRY(make_links(links));
    struct copy_command command = {.order = COPY_CLONE, .limit_ns = STRESS_FUNCTION_WAIT_NS};
    order(good, &command, &(struct copy_descriptors){links[1], missing->file});
    close(links[1]);
    *missing = (struct copy){
        .state = COPY_NEW, .link = links[0], .file = missing->file, .process_descriptor = -1};
    member->fresh = missing;
    member->repair_by_ns = clock_ns() + STRESS_REPAIR_WAIT_NS;
    return NULL;
}

// Begins what is to be done next: a repair, if a copy is missing, or the next function.
static struct error *go_on(struct voter *voter, struct member *member)
{
    size_t index = (size_t)(member - voter->members);
    struct copy *missing = find_copy(voter, member, COPY_NONE);
    struct copy *good = find_copy(voter, member, COPY_READY);
    if (good == NULL) {
        fail(voter);
        return NULL;
    }
    if (missing != NULL) {
        voter->status->areas[index] = -1;
        return repair_one(voter, member, missing, good);
    }
    if (member->function == voter->options->functions) {
        voter->status->areas[index] = -1;
        voter->status->sum += good->sum;
        member->done = true;
        voter->running--;
        return NULL;
    }
    begin_function(voter, member);
    return NULL;
}

// All answers are there, or those that are not will not come.
static struct error *vote(struct voter *voter, struct member *member)
{
    uint64_t sum;
    if (!elect(voter, member, &sum)) {
        fail(voter);
        return NULL;
    }
    for (unsigned i = 0; i < voter->options->copies; i++) {
        struct copy *copy = &member->copies[i];
        if (copy->state == COPY_BUSY)
            note_error(voter, member, copy, LOAD_HUNG);
        else if (copy->state == COPY_READY && copy->sum != sum)
            note_error(voter, member, copy, LOAD_DIFFERS);
        voter->status->repairing += copy->state == COPY_NONE;
    }
    voter->status->functions++;
    member->function++;
    member->repair_tries = 0;
    return go_on(voter, member);
}

static struct error *end_repair(struct voter *voter, struct member *member)
{
    bool repaired = member->fresh->state == COPY_READY;
    for (unsigned i = 0; i < voter->options->copies; i++)
        if (member->copies[i].state == COPY_BUSY) {
            voter->status->repairing++;
            note_error(voter, member, &member->copies[i], LOAD_HUNG);
        }
    if (!repaired)
        end_copy(voter, member, member->fresh);
    member->fresh = NULL;
    if (repaired) {
        voter->status->repairing--;
        voter->status->repaired++;
    } else if (++member->repair_tries == REPAIR_TRIES) {
        fail(voter);
        return NULL;
    }
    return go_on(voter, member);
}

// ---- Answers ----

// The kernel says who has sent it: a copy may be faulty, and what it says must not decide whom we
// kill.
static ssize_t receive(int link, struct copy_answer *ret_answer, pid_t *ret_sender)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(struct ucred))];
    } control;
    struct iovec part = {ret_answer, sizeof *ret_answer};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    struct ucred sender = {0};
    ssize_t size = recvmsg(link, &message, MSG_DONTWAIT);
    struct cmsghdr *header = size > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (header != NULL && header->cmsg_type == SCM_CREDENTIALS)
        memcpy(&sender, CMSG_DATA(header), sizeof sender);
    *ret_sender = sender.pid;
    return size;
}

static struct error *take_answer(struct voter *voter, struct member *member, struct copy *copy)
{
    struct copy_answer answer;
    pid_t sender;
    ssize_t size = receive(copy->link, &answer, &sender);
    if (size < 0 && (errno == EINTR || errno == EAGAIN))
        return NULL;
    if (size != sizeof answer ||
        copy->state == COPY_READY) { // it has died, or says what nobody asked
        voter->status->repairing += member->fresh != NULL && member->fresh != copy;
        if (member->fresh == copy)
            end_copy(voter, member, copy);
        else
            note_error(voter, member, copy, LOAD_DIED);
        return NULL;
    }
    if (copy->state == COPY_NEW) {
        copy->process_descriptor = sender > 0 ? pidfd_open(sender, 0) : -1;
        if (copy->process_descriptor < 0)
            return NULL; // it has died by now; its link tells
        tell_process(voter, member, copy, sender);
    } else if (answer.order == COPY_RUN) {
        copy->answered = true;
    }
    copy->sum = answer.sum;
    copy->state = COPY_READY;
    return NULL;
}

static unsigned count_answers(const struct voter *voter, const struct member *member)
{
    unsigned count = 0;
    for (unsigned i = 0; i < voter->options->copies; i++)
        count += member->copies[i].answered;
    return count;
}

// When a member is to be looked at again, whatever comes.
static uint64_t due_ns(const struct voter *voter, const struct member *member)
{
    if (member->fresh != NULL)
        return member->repair_by_ns;
    if (member->majority_ns == 0)
        return member->since_ns + copy_limit_ns(voter) + STRESS_COPY_WAIT_NS;
    uint64_t took = member->majority_ns - member->since_ns;
    return member->majority_ns + STRESS_COPY_WAIT_NS + 2 * took;
}

static struct error *look_at(struct voter *voter, struct member *member)
{
    bool busy = find_copy(voter, member, COPY_BUSY) != NULL;
    bool due = clock_ns() >= due_ns(voter, member);
    if (member->done)
        return NULL;
    if (member->fresh != NULL)
        return (busy || member->fresh->state == COPY_NEW) && !due ? NULL
                                                                  : end_repair(voter, member);
    if (member->majority_ns == 0 && is_majority(voter, count_answers(voter, member)))
        member->majority_ns = clock_ns();
    return busy && !due ? NULL : vote(voter, member);
}

// ---- All members ----

static struct error *wait_for_answers(struct voter *voter, bool *ret_stop)
{
    struct pollfd fds[LOAD_MOST_MEMBERS * LOAD_MOST_COPIES + 1];
    struct copy *copies[LOAD_MOST_MEMBERS * LOAD_MOST_COPIES];
    struct member *members[LOAD_MOST_MEMBERS * LOAD_MOST_COPIES];
    uint64_t due = UINT64_MAX, now = clock_ns();
    nfds_t n = 0;
    for (unsigned m = 0; m < voter->options->members; m++) {
        struct member *member = &voter->members[m];
        uint64_t at = member->done ? UINT64_MAX : due_ns(voter, member);
        due = at < due ? at : due;
        for (unsigned c = 0; c < voter->options->copies && !member->done; c++) {
            if (member->copies[c].state == COPY_NONE)
                continue;
            copies[n] = &member->copies[c];
            members[n] = member;
            fds[n++] = (struct pollfd){member->copies[c].link, POLLIN, 0};
        }
    }
    fds[n] = (struct pollfd){voter->stop, POLLIN, 0};
    int wait_ms = due == UINT64_MAX ? -1 : now < due ? clock_poll_ms(due - now) : 0;
    if (poll(fds, n + 1, wait_ms) < 0)
        return errno == EINTR ? NULL : error_from_errno(errno, "cannot wait for the load");
    *ret_stop = fds[n].revents != 0;
    for (nfds_t i = 0; i < n; i++)
        if (fds[i].revents != 0)
            TRY(take_answer(voter, members[i], copies[i]));
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
    return NULL;
}

static struct error *drive(struct voter *voter)
{
    bool stop = false;
    voter->running = voter->options->members;
    voter->status->started_ns = clock_ns();
    voter->status->started = true;
    for (unsigned m = 0; m < voter->options->members; m++)
        begin_function(voter, &voter->members[m]);
    while (voter->running != 0 && !stop) {
        TRY(wait_for_answers(voter, &stop));
        for (unsigned m = 0; m < voter->options->members && voter->running != 0; m++)
            TRY(look_at(voter, &voter->members[m]));
    }
    voter->status->elapsed_ns = clock_ns() - voter->status->started_ns;
    return stop ? error_new("interrupted") : NULL;
}

// ---- Calibration ----

// How many units fill the time of a function, and how long one takes.
static struct error *calibrate(struct voter *voter)
{
    int file;
    TRY(make_file(voter->options->directory, &file));
    voter->work.file = file;
    for (unsigned area = 0; area < STRESS_AREAS; area++) {
        uint64_t start = clock_ns(), units = 0, took;
        do
            stress_work_unit(&voter->work, (enum stress_area)area, units++);
        while ((took = clock_ns() - start) < STRESS_TRY_NS);
        voter->unit_ns[area] = took / units;
        voter->status->units[area] = voter->options->units[area];
        if (voter->options->units[area] == 0)
            voter->status->units[area] = voter->options->function_ns / voter->unit_ns[area] + 1;
    }
    close(file);
    return NULL;
}

static struct error *begin(struct voter *voter)
{
    const struct load_options *options = voter->options;
    TRY(stress_work_init(&voter->work, options->megabytes, options->kept));
    TRY(calibrate(voter));
    stress_work_deinit(&voter->work); // what calibration did depends on the machine
    TRY(stress_work_init(&voter->work, options->megabytes, options->kept));
    voter->status->array = (uint64_t)(uintptr_t)voter->work.array;
    voter->status->memory = (uint64_t)(uintptr_t)voter->work.memory;
    voter->status->memory_size = voter->work.memory_words * sizeof(uint64_t);
    for (unsigned m = 0; m < options->members; m++)
        for (unsigned c = 0; c < options->copies; c++) {
            struct copy *copy = &voter->members[m].copies[c];
            TRY(make_file(options->directory, &copy->file));
            TRY(start_copy(voter, &voter->members[m], copy));
        }
    return NULL;
}

static void finish(struct voter *voter)
{
    for (unsigned m = 0; m < voter->options->members; m++)
        for (unsigned c = 0; c < voter->options->copies; c++) {
            struct copy *copy = &voter->members[m].copies[c];
            end_copy(voter, &voter->members[m], copy);
            if (copy->file > 0)
                close(copy->file);
        }
    while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
        ;
    stress_work_deinit(&voter->work);
}

struct error *voter_run(const struct load_options *options, int stop, struct load_status *status)
{
    _cleanup_free_ struct member *members = calloc(options->members, sizeof *members);
    if (members == NULL)
        return error_no_memory();
    struct voter voter = {.options = options, .status = status, .members = members, .stop = stop};
    for (unsigned m = 0; m < LOAD_MOST_MEMBERS; m++)
        status->areas[m] = -1;
    struct error *error = begin(&voter);
    if (error == NULL)
        error = drive(&voter);
    finish(&voter);
    return error;
}
