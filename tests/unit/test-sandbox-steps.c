// SPDX-License-Identifier: GPL-3.0-or-later
// Steps of a life in every kind of sandbox: how they end, what they write, what they are given.
#include "sandbox-help.h"

#include <sys/mman.h>
#include <sys/syscall.h>

static void endings(void **state)
{
    EACH_KIND(kind)
    {
        struct sandbox *sandbox = make(kind, NULL, false);
        struct sandbox_result result = run_in(sandbox, "exit 7", 0);
        assert_int_equal(result.end, SANDBOX_EXIT);
        assert_int_equal(result.status, 7);
        sandbox_result_deinit(&result);
        result = run_in(sandbox, "kill -SEGV $$", 0);
        assert_int_equal(result.end, SANDBOX_SIGNAL);
        assert_int_equal(result.status, SIGSEGV);
        sandbox_result_deinit(&result);
        uint64_t start = now();
        result = run_in(sandbox, "trap '' TERM; sleep 51.25", 200);
        assert_int_equal(result.end, SANDBOX_TIMEOUT);
        assert_true(result.ns >= 200 * MS && now() - start < 5000 * MS);
        sandbox_result_deinit(&result);
        sandbox_free(sandbox);
        nothing_left("51.25");
    }
}

// Runs in another process: what it finds wrong is its exit status.
static int inner(int shared)
{
    char word[8] = "", name[2];
    if (pread(shared, word, sizeof word - 1, 0) != 4 || strcmp(word, "work") != 0)
        return 10;
    if (readlink("/proc/self/fd/4", name, sizeof name) >= 0) // nothing else of ours is open
        return 11;
    if (pwrite(shared, "done", 4, 0) != 4 || write(1, "out", 3) != 3 || write(2, "err", 3) != 3)
        return 12;
    return 5;
}

static void functions(void **state)
{
    EACH_KIND(kind)
    {
        struct sandbox *sandbox = make(kind, NULL, false);
        _cleanup_close_ int shared = memfd_create("shared", MFD_CLOEXEC);
        assert_int_equal(write(shared, "work", 4), 4);
        char *const words[] = {(char *)"inner", NULL};
        struct sandbox_step step = {
            .command = words, .environment = plain, .inside = inner, .shared = shared, .input = -1};
        struct sandbox_result result;
        must(sandbox_run(sandbox, &step, 1, NULL, NULL, NULL, &result));
        assert_int_equal(result.end, SANDBOX_EXIT);
        assert_int_equal(result.status, 5);
        assert_string_equal(text_of(&result.out), "out");
        assert_string_equal(text_of(&result.err), "err");
        char word[5] = "";
        assert_int_equal(pread(shared, word, 4, 0), 4);
        assert_string_equal(word, "done");
        sandbox_result_deinit(&result);
        sandbox_free(sandbox);
    }
}

static void streams(void **state)
{
    EACH_KIND(kind)
    {
        struct sandbox *sandbox = make(kind, NULL, false);
        struct sandbox_result one = run_in(sandbox, "echo out; echo err >&2", 0);
        assert_string_equal(text_of(&one.out), "out\n");
        assert_string_equal(text_of(&one.err), "err\n");
        struct sandbox_result big =
            run_in(sandbox, "head -c 30000000 /dev/zero; head -c 100000 /dev/zero >&2", 0);
        assert_int_equal(big.out.size, 30000000);
        assert_int_equal(big.out.kept.size, 65536);
        assert_int_equal(big.err.size, 100000);
        struct sandbox_result bigger = run_in(sandbox, "head -c 30000001 /dev/zero", 0);
        assert_true(bigger.out.hash != big.out.hash);
        struct sandbox_result again =
            run_in(sandbox, "for i in 1 2 3; do head -c 10000000 /dev/zero; done", 0);
        assert_true(again.out.hash == big.out.hash);
        assert_true(again.err.hash == bigger.err.hash); // both empty
        sandbox_result_deinit(&one);
        sandbox_result_deinit(&big);
        sandbox_result_deinit(&bigger);
        sandbox_result_deinit(&again);
        sandbox_free(sandbox);
    }
}

static void endless_output_ends_in_time(void **state)
{
    EACH_KIND(kind)
    {
        struct sandbox *sandbox = make(kind, NULL, false);
        struct sandbox_result result = run_in(sandbox, "exec yes", 300);
        assert_int_equal(result.end, SANDBOX_TIMEOUT);
        assert_int_equal(result.out.kept.size, 65536);
        sandbox_result_deinit(&result);
        sandbox_free(sandbox);
    }
}

static void usage_is_told(void **state)
{
    EACH_KIND(kind)
    {
        struct sandbox_result result =
            run(kind, "perl -e 'my $a = \"x\" x 60000000; my $i; while ($i < 3000000) { $i++ }'");
        assert_true(result.cpu_ns > 20 * MS && result.cpu_ns < 20000 * MS);
        assert_true(result.peak_memory > 60000000 && result.peak_memory < 300000000);
        sandbox_result_deinit(&result);
    }
}

// The C library keeps two signals to itself, which whoever started us may have ignored all the
// same.
static void set_library_signals(void *handler)
{
    const struct {
        void *handler;
        unsigned long flags;
        void *restorer;
        unsigned long mask;
    } wanted = {.handler = handler};
    for (int signal = 32; signal < 34; signal++)
        syscall(SYS_rt_sigaction, signal, &wanted, NULL, sizeof wanted.mask);
}

// Nothing but the standard descriptors, no blocked or ignored signal, a session of one's own.
static void clean_start(void **state)
{
    _cleanup_close_ int leaked = open("/dev/null", O_RDONLY);
    assert_true(leaked > 2 && dup2(leaked, 77) == 77);
    signal(SIGPIPE, SIG_IGN);
    set_library_signals((void *)SIG_IGN);
    sigset_t blocked, saved;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    sigprocmask(SIG_BLOCK, &blocked, &saved);
    EACH_KIND(kind)
    {
        prints(kind,
               "for i in 0 1 2 3 4 5 6 7 8 9 10 11 12 77; do test -e /proc/$$/fd/$i && echo $i; "
               "done; exit 0",
               "0\n1\n2\n");
        prints(kind, "grep -E '^Sig(Blk|Ign)' /proc/$$/status | cut -f 2 | sort -u",
               "0000000000000000\n");
        prints(kind, "test $(cut -d' ' -f6 /proc/$$/stat) = $$ && echo own", "own\n");
        prints(kind, "umask; ulimit -c", "0022\n0\n");
    }
    sigprocmask(SIG_SETMASK, &saved, NULL);
    signal(SIGPIPE, SIG_DFL);
    set_library_signals((void *)SIG_DFL);
    close(77);
}

static void input_is_given(void **state)
{
    put("input", "first\nsecond\n");
    EACH_KIND(kind)
    {
        struct sandbox *sandbox = make(kind, NULL, false);
        _cleanup_close_ int file = open("input", O_RDONLY);
        struct sandbox_step step = {SCRIPT("cat"), .timeout_ns = 5000 * MS};
        struct sandbox_result result;
        step.input = file;
        must(sandbox_run(sandbox, &step, 1, NULL, NULL, NULL, &result));
        assert_string_equal(text_of(&result.out), "first\nsecond\n");
        sandbox_result_deinit(&result);
        step.input = -1;
        must(sandbox_run(sandbox, &step, 1, NULL, NULL, NULL, &result));
        assert_int_equal(result.out.size, 0);
        sandbox_result_deinit(&result);
        sandbox_free(sandbox);
    }
}

static void commands_are_found(void **state)
{
    assert_int_equal(mkdir("bin", 0755), 0);
    put("bin/ordeal-test-script", "echo script $1\n");
    chmod("bin/ordeal-test-script", 0755);
    char path[100];
    snprintf(path, sizeof path, "PATH=/nowhere:%s/bin:/bin", place);
    EACH_KIND(kind)
    {
        struct sandbox *sandbox = make(kind, NULL, false);
        struct sandbox_step step = {
            .command = (char *[]){(char *)"ordeal-test-script", (char *)"word", NULL},
            .environment = (char *[]){path, NULL},
            .input = -1};
        struct sandbox_result result;
        must(sandbox_run(sandbox, &step, 1, NULL, NULL, NULL, &result));
        assert_string_equal(text_of(&result.out), "script word\n");
        sandbox_result_deinit(&result);
        step.command = (char *[]){(char *)"ordeal-no-such", NULL};
        struct error *error = sandbox_run(sandbox, &step, 1, NULL, NULL, NULL, &result);
        assert_non_null(error);
        assert_string_equal(error_message(error),
                            "cannot run ordeal-no-such: No such file or directory");
        error_free(error);
        sandbox_result_deinit(&result);
        step.environment = plain; // it is as good as before
        step.command = (char *[]){(char *)"true", NULL};
        must(sandbox_run(sandbox, &step, 1, NULL, NULL, NULL, &result));
        assert_int_equal(result.end, SANDBOX_EXIT);
        sandbox_result_deinit(&result);
        sandbox_free(sandbox);
    }
}

static char trace[200];
static bool no(void *data, struct sandbox *sandbox)
{
    strcat(trace, "no ");
    return false;
}
static bool yes(void *data, struct sandbox *sandbox)
{
    strcat(trace, "before ");
    return true;
}
static uint64_t started(void *data, pid_t pid)
{
    strcat(trace, kill(pid, 0) == 0 ? "started " : "wrong-pid ");
    return 50 * MS;
}
static uint64_t tick(void *data, pid_t pid, uint64_t ns)
{
    strcat(trace, ns >= 50 * MS ? "tick " : "early ");
    kill(pid, SIGUSR1);
    return UINT64_MAX;
}
static void overdue(void *data, pid_t pid)
{
    strcat(trace, kill(pid, 0) == 0 ? "overdue " : "gone ");
}
static void after(void *data, struct sandbox *sandbox, const struct sandbox_result *result)
{
    strcat(trace, "after ");
}
static struct error *look(void *data, struct sandbox *sandbox)
{
    strcat(trace, "look ");
    return data == NULL ? NULL : error_new("seen enough");
}

static void callbacks(void **state)
{
    EACH_KIND(kind)
    {
        struct sandbox *sandbox = make(kind, NULL, false);
        struct sandbox_step steps[] = {
            {SCRIPT("echo never"), .before = no, .after = after},
            {SCRIPT("trap 'echo hit; exit' USR1; while :; do sleep 0.01; done"), .before = yes,
             .started = started, .tick = tick, .after = after, .timeout_ns = 5000 * MS},
            {SCRIPT("sleep 1000"), .overdue = overdue, .after = after, .timeout_ns = 100 * MS},
        };
        struct sandbox_result results[3];
        trace[0] = '\0';
        must(sandbox_run(sandbox, steps, 3, NULL, look, NULL, results));
        assert_string_equal(trace, "no before started tick after overdue after look ");
        assert_int_equal(results[0].end, SANDBOX_SKIPPED);
        assert_string_equal(text_of(&results[1].out), "hit\n");
        assert_int_equal(results[2].end, SANDBOX_TIMEOUT);
        for (int i = 0; i < 3; i++)
            sandbox_result_deinit(&results[i]);
        struct error *error = sandbox_run(sandbox, steps, 1, NULL, look, trace, results);
        assert_non_null(error);
        assert_string_equal(error_message(error), "seen enough");
        error_free(error);
        sandbox_free(sandbox);
    }
}

static int own_oom_score(void)
{
    struct buffer text = {0};
    must(buffer_read_file("/proc/self/oom_score_adj", 16, &text));
    int score = atoi(text.data);
    buffer_deinit(&text);
    return score;
}

// When memory is short, a process of the trial is ended, not one of ours.
static void trials_are_ended_first(void **state)
{
    int before = own_oom_score();
    EACH_KIND(kind)
    {
        prints(kind, "read -r score </proc/self/oom_score_adj; [ $score -lt 500 ] || echo first",
               "first\n");
    }
    assert_int_equal(own_oom_score(), before);
}

static uint64_t soon(void *data, pid_t pid)
{
    return 150 * MS;
}

// The number of a process that has ended may be another's.
static void no_tick_for_the_dead(void **state)
{
    EACH_KIND(kind)
    {
        struct sandbox *sandbox = make(kind, NULL, false);
        struct sandbox_step step = {SCRIPT("sleep 0.4 & exit 0"), .started = soon, .tick = tick,
                                    .timeout_ns = 5000 * MS};
        struct sandbox_result result;
        trace[0] = '\0';
        must(sandbox_run(sandbox, &step, 1, NULL, NULL, NULL, &result));
        assert_string_equal(trace, "");
        assert_int_equal(result.end, SANDBOX_EXIT);
        assert_true(result.ns > 350 * MS);
        sandbox_result_deinit(&result);
        sandbox_free(sandbox);
    }
}

// The first one's processes end, the second one's stay, the third one is late.
static void several_servers(void **state)
{
    EACH_KIND(kind)
    {
        struct sandbox *sandbox = make(kind, NULL, false);
        struct sandbox_step steps[] = {
            {SCRIPT("sleep 0.1 & exit 0"), .linger = true, .timeout_ns = 5000 * MS},
            {SCRIPT("sleep 48.25 & echo $! > pid"), .linger = true, .timeout_ns = 5000 * MS},
            {SCRIPT("exec sleep 48.26"), .linger = true, .timeout_ns = 400 * MS},
            {SCRIPT("kill -0 $(cat pid) && echo kept; pgrep -f '^sleep 48.26'; rm pid"),
             .timeout_ns = 5000 * MS},
        };
        struct sandbox_result results[4];
        must(sandbox_run(sandbox, steps, 4, NULL, NULL, NULL, results));
        assert_int_equal(results[2].end, SANDBOX_TIMEOUT);
        assert_string_equal(text_of(&results[3].out), "kept\n");
        for (int i = 0; i < 4; i++)
            sandbox_result_deinit(&results[i]);
        sandbox_free(sandbox);
    }
}

// A server of the setup serves the workload and is gone afterwards; the workload's end is not held
// up by what the server starts.
static void lingering_server(void **state)
{
    EACH_KIND(kind)
    {
        struct sandbox *sandbox = make(kind, NULL, false);
        struct sandbox_step steps[] = {
            {SCRIPT("mkfifo ask answer; (while read word < ask; do echo \"got $word\"; "
                    "(sleep 47.5 & ) ; echo $word$word > answer; done) & echo ready"),
             .linger = true, .timeout_ns = 5000 * MS},
            {SCRIPT("echo ab > ask; cat answer"), .timeout_ns = 5000 * MS},
            {SCRIPT("echo cd > ask; cat answer; (sleep 0.1; echo late) &"),
             .timeout_ns = 5000 * MS},
        };
        struct sandbox_result results[3];
        must(sandbox_run(sandbox, steps, 3, NULL, NULL, NULL, results));
        assert_string_equal(text_of(&results[0].out), "ready\ngot ab\ngot cd\n");
        assert_int_equal(results[1].end, SANDBOX_EXIT);
        assert_string_equal(text_of(&results[1].out), "abab\n");
        assert_int_equal(results[2].end, SANDBOX_EXIT);
        assert_string_equal(text_of(&results[2].out), "cdcd\nlate\n");
        assert_true(results[2].ns >= 100 * MS);
        for (int i = 0; i < 3; i++)
            sandbox_result_deinit(&results[i]);
        sandbox_free(sandbox);
        nothing_left("47.5");
        unlink("ask");
        unlink("answer");
    }
}

static void lingering_hang(void **state)
{
    EACH_KIND(kind)
    {
        struct sandbox *sandbox = make(kind, NULL, false);
        struct sandbox_step steps[] = {
            {SCRIPT("sleep 48.5 & sleep 48.5"), .linger = true, .timeout_ns = 100 * MS},
            {SCRIPT("echo go on")},
        };
        struct sandbox_result results[2];
        must(sandbox_run(sandbox, steps, 2, NULL, NULL, NULL, results));
        assert_int_equal(results[0].end, SANDBOX_TIMEOUT);
        assert_string_equal(text_of(&results[1].out), "go on\n");
        for (int i = 0; i < 2; i++)
            sandbox_result_deinit(&results[i]);
        sandbox_free(sandbox);
        nothing_left("48.5");
    }
}

static void wait_shortly(void *data, uint64_t ns)
{
    usleep(ns < 5 * MS ? (useconds_t)(ns / 1000) : 5000);
}

static enum sandbox_branch want_once(void *data, struct sandbox_result *result, uint64_t *ret_ran)
{
    int *asked = data;
    *ret_ran = 0;
    return (*asked)++ == 0 ? SANDBOX_BRANCH_WANTED : SANDBOX_BRANCH_NONE;
}

static void begin_nothing(void *data) {}

static bool end_nothing(void *data, struct sandbox *sandbox, struct sandbox_result *result)
{
    sandbox_result_deinit(result);
    return true;
}

// Of a copy that was killed nobody tells: the command does not wait for ever.
static void a_branch_without_end(void **state)
{
    static const struct sandbox_branching branching = {
        .wait = wait_shortly, .news = want_once, .begin = begin_nothing, .end = end_nothing};
    EACH_KIND(kind)
    {
        struct sandbox *sandbox = make(kind, NULL, false);
        int asked = 0;
        struct sandbox_step step = {SCRIPT("exec sleep 52.75"), .timeout_ns = 100 * MS,
                                    .branching = &branching, .data = &asked};
        struct sandbox_result result;
        must(sandbox_run(sandbox, &step, 1, NULL, NULL, NULL, &result));
        assert_int_equal(result.end, SANDBOX_TIMEOUT);
        sandbox_result_deinit(&result);
        sandbox_free(sandbox);
        nothing_left("52.75");
    }
}

struct asking {
    int looks, begun, denied;
    volatile int answered; // the step ends then
};

// Late enough for the command to be what it is going to be, also on a busy machine.
static enum sandbox_branch want_late(void *data, struct sandbox_result *result, uint64_t *ret_ran)
{
    struct asking *asking = data;
    *ret_ran = 0;
    return asking->looks++ == 80 ? SANDBOX_BRANCH_WANTED : SANDBOX_BRANCH_NONE;
}

static void wait_long(void *data, uint64_t ns)
{
    usleep(5000);
}

static void count_begun(void *data)
{
    struct asking *asking = data;
    asking->begun++;
    asking->answered = 1;
}

static void count_denied(void *data)
{
    struct asking *asking = data;
    asking->denied++;
    asking->answered = 1;
}

// Who asks for a copy may be anybody: there is one only of a command that is the only process.
static void only_the_lonely_branch(void **state)
{
    static const struct sandbox_branching branching = {wait_long, want_late, count_begun,
                                                       count_denied, end_nothing};
    static const struct {
        char *script;
        int begun;
    } cases[] = {
        {"exec sleep 30", 1},
        {"/bin/true; exec sleep 30", 1},
        {"sleep 30; /bin/true", 0},
        {"sleep 30 & exec sleep 30", 0},
        {"(sleep 30 &); exec sleep 30", 0},
    };
    EACH_KIND(kind)
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sandbox *sandbox = make(kind, NULL, false);
        struct asking asking = {0};
        struct sandbox_step step = {SCRIPT(cases[i].script), .branching = &branching,
                                    .data = &asking, .stop = &asking.answered};
        struct sandbox_result result;
        must(sandbox_run(sandbox, &step, 1, NULL, NULL, NULL, &result));
        if (asking.begun != cases[i].begun || asking.begun + asking.denied != 1)
            fail_msg("%s: begun %d, denied %d", cases[i].script, asking.begun, asking.denied);
        sandbox_result_deinit(&result);
        sandbox_free(sandbox);
    }
}

static void bad_directories(void **state)
{
    struct sandbox_options options = {.kind = SANDBOX_NONE, .directory = "/no/such"};
    struct sandbox *sandbox = NULL;
    struct error *error = sandbox_new(&options, &sandbox);
    assert_non_null(error);
    assert_string_equal(error_message(error),
                        "cannot use the working directory /no/such: No such file or directory");
    error_free(error);
    put("file", "");
    options.directory = "file";
    error = sandbox_new(&options, &sandbox);
    assert_non_null(error);
    assert_string_equal(error_message(error), "file is not a directory");
    error_free(error);
}

// What a step leaves behind is seen: files, changed files, System V IPC.
struct usage_test {
    struct sandbox_usage before;
    bool same[6];
    size_t count;
};

static bool usage_before(void *data, struct sandbox *sandbox)
{
    struct usage_test *test = data;
    must(sandbox_usage(sandbox, &test->before));
    return true;
}

static void usage_after(void *data, struct sandbox *sandbox, const struct sandbox_result *result)
{
    struct usage_test *test = data;
    struct sandbox_usage usage;
    must(sandbox_usage(sandbox, &usage));
    test->same[test->count++] = usage.files == test->before.files &&
                                usage.blocks == test->before.blocks &&
                                usage.shared == test->before.shared;
}

static void leavings(void **state)
{
    static const struct {
        const char *script;
        bool clean;
    } steps[] = {
        {"true", true},
        {": >/tmp/x; rm /tmp/x; cat known", true}, // (the first change of a directory copies it)
        {": >made", false},
        {"echo more >>known", false},
        {"ipcmk -S 1", false},
        {"mkdir /dev/shm/x", false},
    };
    struct usage_test test = {0};
    struct sandbox_step wanted[6];
    struct sandbox_result results[6];
    char *commands[6][4];
    needs_overlay();
    put("known", "content");
    struct sandbox *sandbox = make(SANDBOX_OVERLAY, NULL, false);
    for (size_t i = 0; i < 6; i++) {
        memcpy(commands[i], (char *[]){(char *)"sh", (char *)"-c", (char *)steps[i].script, NULL},
               sizeof commands[i]);
        wanted[i] = (struct sandbox_step){.command = commands[i],
                                          .environment = plain,
                                          .input = -1,
                                          .before = usage_before,
                                          .after = usage_after,
                                          .data = &test};
    }
    must(sandbox_run(sandbox, wanted, 6, NULL, NULL, NULL, results));
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(results[i].status, 0);
        assert_int_equal(test.same[i], steps[i].clean);
        sandbox_result_deinit(&results[i]);
    }
    struct sandbox_usage usage; // outside of a run
    struct error *error = sandbox_usage(sandbox, &usage);
    assert_non_null(error);
    error_free(error);
    sandbox_free(sandbox);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(endings),
        TEST(functions),
        TEST(streams),
        TEST(endless_output_ends_in_time),
        TEST(usage_is_told),
        TEST(clean_start),
        TEST(input_is_given),
        TEST(commands_are_found),
        TEST(callbacks),
        TEST(leavings),
        TEST(trials_are_ended_first),
        TEST(no_tick_for_the_dead),
        TEST(several_servers),
        TEST(lingering_server),
        TEST(lingering_hang),
        TEST(a_branch_without_end),
        TEST(only_the_lonely_branch),
        TEST(bad_directories),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
