// SPDX-License-Identifier: GPL-3.0-or-later
// Nothing of a trial survives it, whatever it does; and nothing else dies with it.
#include "sandbox-help.h"

#include "base/processes.h"
#include "base/timeouts.h"
#include "sandbox/process-limit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

static void hangs(enum sandbox_kind kind, const char *script, const char *word)
{
    struct sandbox *sandbox = make(kind, NULL, false);
    struct sandbox_result result = run_in(sandbox, script, 300);
    if (result.end != SANDBOX_TIMEOUT)
        fail_msg("%s: end %d status %d err %s", script, result.end, result.status,
                 text_of(&result.err));
    sandbox_result_deinit(&result);
    sandbox_free(sandbox);
    nothing_left(word);
}

static void daemons(void **state)
{
    EACH_KIND(kind)
    {
        hangs(kind, "setsid sh -c 'trap \"\" TERM HUP INT; (sleep 41.5 & ) & sleep 41.5' &",
              "41.5");
        hangs(kind, "(setsid setsid nohup sleep 42.5 > /dev/null 2>&1 < /dev/null &) ; exit 0",
              "42.5");
        hangs(kind, "sleep 43.5 & kill -STOP $!; kill -STOP $$", "43.5");
        hangs(kind, "exec 0<&- 1>&- 2>&-; sleep 44.5", "44.5");
    }
}

// Descendants that come and go faster than one can look.
static void restless(void **state)
{
    EACH_KIND(kind)
    {
        hangs(kind,
              "perl -e '$0 = \"restless-48151\"; while (1) { my $p = fork; next unless defined $p; "
              "exit if $p }'",
              "restless-48151");
    }
}

// Busy processes, each in a session of its own, that come and go and start others. The scheduler
// may give each session as much time as all of the controller has (sched_autogroup_enabled).
#if defined __SANITIZE_ADDRESS__
enum { STORM = 60 }; // the kernel takes long to fork and end processes with so much memory mapped
#else
enum { STORM = 400 };
#endif
static atomic_int *storming;

static int storm(int shared)
{
    for (int rounds = -1;;) {
        pid_t pid = atomic_fetch_add(storming, 1) < STORM ? fork() : -1;
        if (pid < 0)
            atomic_fetch_sub(storming, 1);
        if (pid == 0) {
            setsid();
            rounds = 20;
        }
        for (volatile int i = 0; i < 1000000; i++)
            ;
        if (rounds > 0 && --rounds == 0) {
            atomic_fetch_sub(storming, 1);
            return 0;
        }
    }
}

// Processor time of this process and of all that have ended below it.
static uint64_t used_ns(void)
{
    uint64_t sum = 0;
    for (int who = RUSAGE_CHILDREN; who <= RUSAGE_SELF; who++) {
        struct rusage usage;
        assert_int_equal(getrusage(who, &usage), 0);
        sum += (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * NS_PER_S +
               (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * NS_PER_US;
    }
    return sum;
}

// A storm is over 8 s after its time, which is 2 s. Others may be busy on this machine, so that is
// measured in processor time: a storm uses all that it can get. Who ends it must wait for its turn
// among more than a thousand sessions, each of which the scheduler gives the same share; that took
// 4.1 s once where other tests ran beside it.
static void storms(void **state)
{
    uint64_t processors = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
    storming =
        mmap(NULL, sizeof *storming, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(storming != MAP_FAILED);
    EACH_KIND(kind)
    {
        atomic_store(storming, 0);
        struct sandbox *sandbox = make(kind, NULL, false);
        struct sandbox_step step = {.command = (char *[]){(char *)"storm", NULL},
                                    .environment = plain,
                                    .inside = storm,
                                    .shared = STDIN_FILENO,
                                    .input = -1,
                                    .timeout_ns = 2000 * MS};
        struct sandbox_result result;
        uint64_t start = now(), used = used_ns();
        must(sandbox_run(sandbox, &step, 1, NULL, NULL, NULL, &result));
        uint64_t taken = now() - start;
        assert_int_equal(result.end, SANDBOX_TIMEOUT);
        used = used_ns() - used;
        if (used > processors * 10 * NS_PER_S)
            fail_msg("kind %d: %llu ms, of processor time %llu ms", (int)kind,
                     (unsigned long long)(taken / MS), (unsigned long long)(used / MS));
        sandbox_result_deinit(&result);
        sandbox_free(sandbox);
        assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    }
    munmap(storming, sizeof *storming);
}

static void what_ends_by_itself_is_awaited(void **state)
{
    EACH_KIND(kind)
    {
        prints(kind, "(sleep 0.3; echo late) & (setsid sleep 0.1) & echo early", "early\nlate\n");
    }
}

static void assassins(void **state)
{
    prints(SANDBOX_OVERLAY, "kill -9 $PPID; kill -9 1; kill -STOP 1; kill -TERM 1; echo alive",
           "alive\n");
    struct sandbox *sandbox = make(SANDBOX_OVERLAY, NULL, false);
    struct sandbox_result result =
        run_in(sandbox, "sleep 45.5 & trap '' HUP; kill -9 -1; sleep 0.1; echo rest", 5000);
    assert_int_equal(result.end, SANDBOX_EXIT); // kill(-1) spares the caller
    sandbox_result_deinit(&result);
    result = run_in(sandbox, "echo next", 5000);
    assert_string_equal(text_of(&result.out), "next\n");
    sandbox_result_deinit(&result);
    sandbox_free(sandbox);
    nothing_left("45.5");
}

// Our own children are none of its business.
static void others_are_spared(void **state)
{
    pid_t other = fork();
    if (other == 0) {
        pause();
        _exit(0);
    }
    pid_t zombie = fork();
    if (zombie == 0)
        _exit(3);
    EACH_KIND(kind)
    {
        struct sandbox *sandbox = make(kind, NULL, false);
        struct sandbox_result result = run_in(sandbox, "sleep 46.5 & exit 4", 300);
        assert_int_equal(result.end, SANDBOX_TIMEOUT);
        sandbox_result_deinit(&result);
        result = run_in(sandbox, "(sleep 0.1) & exit 4", 5000);
        assert_int_equal(result.end, SANDBOX_EXIT);
        sandbox_result_deinit(&result);
        sandbox_free(sandbox);
        assert_int_equal(waitpid(other, NULL, WNOHANG), 0);
        assert_int_equal(processes_with("46.5"), 0);
    }
    int status;
    assert_int_equal(waitpid(zombie, &status, 0), zombie);
    assert_int_equal(WEXITSTATUS(status), 3);
    kill(other, SIGKILL);
    assert_int_equal(waitpid(other, NULL, 0), other);
    int reaper;
    prctl(PR_GET_CHILD_SUBREAPER, &reaper);
    assert_int_equal(reaper, 0);
}

// SIGKILL of whoever leads the life.
static void killed_slot(void **state)
{
    int reaper = 1;
    needs_overlay();
    prctl(PR_SET_CHILD_SUBREAPER, reaper);
    for (int i = 0; i < 8; i++) {
        pid_t slot = fork();
        if (slot == 0) {
            struct sandbox *sandbox = make(SANDBOX_OVERLAY, NULL, false);
            for (;;) {
                struct sandbox_result result =
                    run_in(sandbox, "setsid sleep 49.5 & sleep 49.5", 30);
                sandbox_result_deinit(&result);
            }
        }
        nanosleep(&(struct timespec){.tv_nsec = 1000000 * (20 + 17 * i)}, NULL);
        kill(slot, SIGKILL);
        while (waitpid(-1, NULL, 0) > 0)
            ;
        assert_int_equal(errno, ECHILD);
        assert_int_equal(processes_with("49.5"), 0);
    }
    prctl(PR_SET_CHILD_SUBREAPER, 0);
}

// The process that forks the lives may be killed, say for want of memory.
static void killed_zygote(void **state)
{
    struct sandbox *sandbox = make(SANDBOX_OVERLAY, NULL, false);
    for (int i = 0; i < 2; i++) {
        struct sandbox_result result = run_in(sandbox, "echo alive", 5000);
        assert_string_equal(text_of(&result.out), "alive\n");
        sandbox_result_deinit(&result);
        pid_list children = {0};
        must(processes_children(&children));
        assert_int_equal(children.count, 1);
        kill(children.items[0], SIGKILL);
        siginfo_t info;
        assert_int_equal(waitid(P_PID, (id_t)children.items[0], &info, WEXITED | WNOWAIT), 0);
        ARRAY_DEINIT(&children);
    }
    sandbox_free(sandbox);
}

// Whoever forks has no sandbox; it stays its parent's.
static void forked_copies(void **state)
{
    struct sandbox_limits some = {.processes = 100};
    EACH_KIND(kind)
    {
        struct sandbox *sandbox = make(kind, &some, false);
        pid_t child = fork();
        if (child == 0) {
            sandbox_free(sandbox);
            _exit(0);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        struct sandbox_result result = run_in(sandbox, "echo mine", 5000);
        assert_string_equal(text_of(&result.out), "mine\n");
        sandbox_result_deinit(&result);
        sandbox_free(sandbox);
    }
}

static void limits(void **state)
{
    static const char bomb[] =
        "perl -e 'my $n = 0; while ($n < 300) { my $p = fork; last unless defined $p; "
        "if (!$p) { sleep 52; exit } $n++ } print $n < 25 && $n > 10 ? \"bound\" : \"free $n\"'";
    struct sandbox_limits some = {.processes = 20, .file_bytes = 5000, .cpu_s = 1};
    EACH_KIND(kind)
    {
        struct sandbox *sandbox = make(kind, &some, false);
        bool bound = true;
        for (size_t i = 0; i < sandbox_warning_count(sandbox); i++)
            bound &= strstr(sandbox_warning(sandbox, i), "number of processes") == NULL;
        struct sandbox_result result =
            run_in(sandbox, bound ? bomb : "sleep 2; printf bound", 1000);
        assert_string_equal(text_of(&result.out), bound ? "bound" : "");
        sandbox_result_deinit(&result);
        result =
            run_in(sandbox, "head -c 9000 /dev/zero > big; echo $?; wc -c < big; rm -f big", 5000);
        assert_string_equal(text_of(&result.out), "153\n5000\n");
        sandbox_result_deinit(&result);
        result = run_in(sandbox, "exec perl -e 'while (1) {}'", 10000);
        assert_int_equal(result.end, SANDBOX_SIGNAL);
        assert_int_equal(result.status, SIGXCPU);
        sandbox_result_deinit(&result);
        sandbox_free(sandbox);
    }
}

// Whoever starts processes without end is ended early. Only those of the step count.
static void too_many_processes(void **state)
{
    pid_t children[12];
    for (size_t i = 0; i < 12; i++) {
        children[i] = fork();
        if (children[i] == 0)
            for (;;)
                pause();
    }
    pid_list spared = {0};
    *ARRAY_ADD(&spared) = children[0];
    *ARRAY_ADD(&spared) = children[7];
    struct process_limit limit = {.limit = 9, .next_ns = 5};
    size_t count;
    must(process_limit_check(&limit, 4, NULL, &spared, &count));
    assert_int_equal(count, 0);
    must(process_limit_check(&limit, 5, NULL, &spared, &count));
    assert_int_equal(count, 10);
    assert_int_equal(limit.next_ns, 5 + PROCESS_LIMIT_PAUSE_NS);
    limit = (struct process_limit){.limit = 10};
    must(process_limit_check(&limit, 0, NULL, &spared, &count));
    assert_int_equal(count, 0);
    must(process_limit_check(&(struct process_limit){.limit = 0}, 0, NULL, &spared, &count));
    assert_int_equal(count, 0);
    // Whoever is just below the limit is counted again when a few more are there, not only when the
    // system has half the limit more.
    limit = (struct process_limit){.limit = 11};
    must(process_limit_check(&limit, 0, NULL, &spared, &count));
    assert_int_equal(count, 0);
    assert_int_equal(limit.room, 1);
    limit = (struct process_limit){.limit = 20};
    must(process_limit_check(&limit, 0, "/proc/self/task", &spared, &count));
    assert_int_equal(count, 0);
    assert_int_equal(limit.room, 19);
    ARRAY_DEINIT(&spared);
    for (size_t i = 0; i < 12; i++) {
        kill(children[i], SIGKILL);
        assert_int_equal(waitpid(children[i], NULL, 0), children[i]);
    }
}

// Whoever is late is looked at, however busy others are, unless it floods the machine itself.
static void busy_others(void **state)
{
    pid_list others = {0};
    for (long i = 40 * sysconf(_SC_NPROCESSORS_ONLN); i > 0; i--) {
        pid_t child = fork();
        if (child == 0) {
            for (uint64_t end = now() + 60000 * MS; now() < end;)
                ;
            _exit(0);
        }
        *ARRAY_ADD(&others) = child;
    }
    assert_false(process_limit_is_flooded(NULL, &others));
    assert_true(process_limit_is_flooded(NULL, NULL));
    for (size_t i = 0; i < others.count; i++) {
        kill(others.items[i], SIGKILL);
        assert_int_equal(waitpid(others.items[i], NULL, 0), others.items[i]);
    }
    ARRAY_DEINIT(&others);
}

// A chain of processes, each the parent of the next; the first is spared, and what is below it.
static void chains(void **state)
{
    int link[2];
    assert_int_equal(pipe(link), 0);
    pid_t first = fork();
    if (first == 0) {
        for (int i = 0; i < 40; i++)
            if (fork() != 0)
                for (;;)
                    pause();
        assert_int_equal(write(link[1], "x", 1), 1);
        for (;;)
            pause();
    }
    char byte;
    assert_int_equal(read(link[0], &byte, 1), 1);
    close(link[0]);
    close(link[1]);
    pid_list spared = {0};
    size_t count, refused;
    must(processes_count(&spared, UINT64_MAX / 2, &count));
    assert_int_equal(count, 41);
    *ARRAY_ADD(&spared) = first;
    must(processes_count(&spared, UINT64_MAX / 2, &count));
    assert_int_equal(count, 0);
    ARRAY_DEINIT(&spared);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    must(processes_signal(SIGKILL, NULL, &count, &refused));
    assert_int_equal(count, 41);
    while (waitpid(-1, NULL, 0) > 0)
        ;
    prctl(PR_SET_CHILD_SUBREAPER, 0);
}

static void *wait_for_ever(void *data)
{
    while (pause() < 0)
        ;
    return data;
}

// A process whose first thread has ended looks like a zombie, and goes on.
static void first_thread_ended(void **state)
{
    pid_t child = fork();
    if (child == 0) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, wait_for_ever, NULL), 0);
        syscall(SYS_exit, 0);
    }
    size_t count = 0, refused;
    int status;
    char path[32], text[64];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)child);
    do {
        _cleanup_fclose_ FILE *file = fopen(path, "re");
        assert_non_null(file);
        assert_non_null(fgets(text, sizeof text, file));
    } while (strstr(text, ") Z ") == NULL);
    must(processes_signal(SIGKILL, NULL, &count, &refused));
    kill(child, SIGKILL); // else a mistake would not end
    assert_int_equal(count, 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGKILL);
}

static void memory_limit(void **state)
{
    struct sandbox_limits some = {.memory_bytes = 60000000};
    EACH_KIND(kind)
    {
        struct sandbox *sandbox = make(kind, &some, false);
        struct sandbox_result result = run_in(sandbox,
                                              "exec perl -e '$SIG{ALRM} = sub { exit 3 }; my @a; "
                                              "for (1..200) { push @a, \"x\" x 1000000 }'",
                                              20000);
        assert_true(result.end == SANDBOX_SIGNAL || result.status != 0);
        sandbox_result_deinit(&result);
        result = run_in(sandbox, "perl -e 'my $a = \"x\" x 10000000; print length $a'", 20000);
        assert_string_equal(text_of(&result.out), "10000000");
        sandbox_result_deinit(&result);
        sandbox_free(sandbox);
    }
}

int main(void)
{
    // The last one: with a sanitizer, this process grows by it, and the kernel ends those that are
    // large when memory is short.
    const struct CMUnitTest tests[] = {
        TEST(daemons),       TEST(restless),           TEST(what_ends_by_itself_is_awaited),
        TEST(assassins),     TEST(others_are_spared),  TEST(killed_slot),
        TEST(forked_copies), TEST(killed_zygote),      TEST(limits),
        TEST(memory_limit),  TEST(too_many_processes), TEST(chains),
        TEST(busy_others),   TEST(first_thread_ended), TEST(storms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
