// SPDX-License-Identifier: GPL-3.0-or-later
// Ways out of the overlay sandbox: what a trial destroys outside must be there afterwards.
#include "sandbox-help.h"

#include "sandbox/digest.h"

#include <linux/capability.h>
#include <linux/keyctl.h>
#include <mqueue.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>

static char outside[100]; // the mount namespace of this test

static void find_outside(void)
{
    ssize_t size = readlink("/proc/self/ns/mnt", outside, sizeof outside - 1);
    assert_true(size > 0);
    outside[size] = '\0';
}

static bool appeared(void *data, struct sandbox *sandbox)
{
    *(bool *)data = access("canary", F_OK) == 0;
    return !*(bool *)data;
}

// A script that would do harm outside. It runs only if a file that the step before has made is not
// to be seen outside, and looks itself whether it is where it should be.
static struct sandbox_result attack(struct sandbox *sandbox, const char *script,
                                    uint64_t timeout_ms)
{
    _cleanup_(buffer_deinit) struct buffer guarded = {0};
    find_outside();
    must(buffer_printf(&guarded,
                       "test \"$(readlink /proc/self/ns/mnt)\" != '%s' || exit 99\n"
                       "test \"$(stat -f -c %%T .)\" = overlayfs || exit 98\n"
                       "case \"$(stat -f -c %%T /)\" in overlayfs|tmpfs) ;; *) exit 97;; esac\n"
                       "test -e canary || exit 96\n%s\n",
                       outside, script));
    bool leaky = true;
    struct sandbox_step steps[] = {
        {SCRIPT("echo alive > canary")},
        {SCRIPT(guarded.data), .before = appeared, .data = &leaky, .timeout_ns = timeout_ms * MS},
    };
    struct sandbox_result results[2];
    must(sandbox_run(sandbox, steps, 2, NULL, NULL, NULL, results));
    assert_false(leaky);
    sandbox_result_deinit(&results[0]);
    assert_true(results[1].end == SANDBOX_TIMEOUT || results[1].status < 96);
    return results[1];
}

// Of things outside that nobody else changes while the test runs.
static uint64_t fingerprint(void)
{
    char command[300];
    snprintf(command, sizeof command,
             "ls -lAR --time-style=full-iso %s; ls -la --time-style=full-iso /etc/passwd "
             "/etc/hosts /etc/fstab /bin/sh /bin/rm /usr/bin/env; ls / /home /opt /srv /boot; "
             "cat /etc/passwd /bin/rm",
             place);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    struct digest digest;
    digest_start(&digest);
    char piece[65536];
    for (size_t size; (size = fread(piece, 1, sizeof piece, pipe)) > 0;)
        digest_add(&digest, piece, size);
    pclose(pipe);
    return digest_value(&digest);
}

static void sentinels(void)
{
    put("precious", "precious\n");
    assert_int_equal(mkdir("family", 0755), 0);
    put("family/silver", "silver\n");
    assert_int_equal(symlink("/etc", "link"), 0);
}

static void sentinels_stand(void)
{
    holds("precious", "precious\n");
    holds("family/silver", "silver\n");
    assert_int_equal(access("canary", F_OK), -1);
}

static void everything_is_removed(void **state)
{
    struct sandbox *sandbox = make(SANDBOX_OVERLAY, NULL, false);
    sentinels();
    uint64_t before = fingerprint();
    struct sandbox_result result =
        attack(sandbox,
               "rm -rf \"$PWD\"/* link/* 2>/dev/null; ls; rm -rf /etc /home /opt /boot /srv "
               "/run /dev /sys /proc 2>/dev/null; ls /etc 2>/dev/null | wc -l; rm -rf "
               "--no-preserve-root / 2>/dev/null",
               4000);
    if (geteuid() == 0)
        assert_string_equal(text_of(&result.out), "0\n");
    sandbox_result_deinit(&result);
    sentinels_stand();
    assert_true(before == fingerprint());
    result = run_in(sandbox, "cat precious family/silver; test -e /etc/passwd && echo back", 5000);
    assert_string_equal(text_of(&result.out), "precious\nsilver\nback\n");
    sandbox_result_deinit(&result);
    sandbox_free(sandbox);
}

static void everything_is_overwritten(void **state)
{
    struct sandbox *sandbox = make(SANDBOX_OVERLAY, NULL, false);
    sentinels();
    uint64_t before = fingerprint();
    struct sandbox_result result = attack(
        sandbox,
        "for f in \"$PWD\"/precious \"$PWD\"/family/* /etc/* /usr/bin/* /root/* /home/*/*; do "
        "echo junk 2>/dev/null > $f; done 2>/dev/null; cat precious; "
        "chmod -R 0 /etc /home family 2>/dev/null; mv family /moved 2>/dev/null; "
        "touch / /etc /usr/bin 2>/dev/null; exit 0",
        10000);
    assert_string_equal(text_of(&result.out), geteuid() == 0 ? "" : "junk\n");
    sandbox_result_deinit(&result);
    sentinels_stand();
    assert_true(before == fingerprint());
    sandbox_free(sandbox);
}

// Roads that lead out of badly built prisons.
static void roads(void **state)
{
    struct sandbox *sandbox = make(SANDBOX_OVERLAY, NULL, false);
    sentinels();
    char script[2000];
    snprintf(
        script, sizeof script,
        "for r in /proc/self/root /proc/1/root /proc/$PPID/root /proc/self/cwd/../../.. "
        "/proc/1/cwd /proc/2/root; do echo junk > $r%s/precious; rm -rf $r%s/family; done; "
        "for p in 1 2 $PPID; do for f in /proc/$p/fd/*; do echo junk > $f; "
        "echo junk > $f%s/precious; rm -rf $f/%s; done; done; "
        "echo junk > /proc/self/fd/0; for i in 3 4 5 6 7 8 9; do echo junk > /proc/self/fd/$i; "
        "done; cd /; cd ../../../../..; echo junk > .%s/precious; "
        "chmod 600 /proc/1/exe; touch /proc/1/exe; exit 0",
        place, place, place, place, place);
    _cleanup_close_ int directory = open(place, O_RDONLY | O_DIRECTORY),
                        file = open("precious", O_RDWR);
    assert_true(directory >= 0 && file >= 0);
    struct stat self, again;
    assert_int_equal(stat("/proc/self/exe", &self), 0);
    struct sandbox_result result = attack(sandbox, script, 10000);
    sandbox_result_deinit(&result);
    sentinels_stand();
    assert_int_equal(stat("/proc/self/exe", &again), 0);
    assert_int_equal(self.st_mode, again.st_mode);
    assert_int_equal(self.st_mtim.tv_nsec, again.st_mtim.tv_nsec);
    sandbox_free(sandbox);
}

// The open input could be opened again for writing.
static void input_is_no_way_out(void **state)
{
    struct sandbox *sandbox = make(SANDBOX_OVERLAY, NULL, false);
    put("input", "mine\n");
    _cleanup_close_ int file = open("input", O_RDONLY), gone = open("gone", O_RDWR | O_CREAT, 0644);
    assert_int_equal(write(gone, "deleted\n", 8), 8);
    unlink("gone");
    struct sandbox_step step = {
        SCRIPT("cat; echo junk > /proc/self/fd/0; echo junk > /dev/stdin; exit 0")};
    struct sandbox_result result;
    step.input = file;
    must(sandbox_run(sandbox, &step, 1, NULL, NULL, NULL, &result));
    assert_string_equal(text_of(&result.out), "mine\n");
    sandbox_result_deinit(&result);
    holds("input", "mine\n");
    lseek(gone, 0, SEEK_SET);
    step.input = gone;
    must(sandbox_run(sandbox, &step, 1, NULL, NULL, NULL, &result));
    assert_string_equal(text_of(&result.out), "deleted\n");
    sandbox_result_deinit(&result);
    char text[20] = "";
    assert_int_equal(pread(gone, text, sizeof text, 0), 8);
    assert_string_equal(text, "deleted\n");
    sandbox_free(sandbox);
}

// Nor what an earlier step has put in its place.
static void replaced_input_is_no_way_out(void **state)
{
    struct sandbox *sandbox = make(SANDBOX_OVERLAY, NULL, false);
    assert_int_equal(mkdir("place", 0755), 0);
    assert_int_equal(mkdir("other", 0755), 0);
    put("place/input", "mine\n");
    put("other/input", "not mine\n");
    _cleanup_close_ int file = open("place/input", O_RDONLY);
    struct sandbox_step steps[] = {
        {SCRIPT("mv place old && ln -s \"$PWD/other\" place")},
        {SCRIPT("cat; echo junk > /proc/self/fd/0; exit 0"), .timeout_ns = 5000 * MS},
        {SCRIPT("rm other/input && mkfifo other/input")},
        {SCRIPT("cat"), .timeout_ns = 5000 * MS},
    };
    struct sandbox_result results[4];
    steps[1].input = steps[3].input = file;
    must(sandbox_run(sandbox, steps, 4, NULL, NULL, NULL, results));
    assert_string_equal(text_of(&results[1].out), "not mine\n");
    assert_string_equal(text_of(&results[3].out), "mine\n");
    for (int i = 0; i < 4; i++)
        sandbox_result_deinit(&results[i]);
    holds("other/input", "not mine\n");
    holds("place/input", "mine\n");
    sandbox_free(sandbox);
}

// Root in there is not root over the machine.
static void no_power(void **state)
{
    struct sandbox *sandbox = make(SANDBOX_OVERLAY, NULL, false);
    struct sandbox_result result = attack(
        sandbox,
        "mount -t tmpfs none /mnt && echo mounts; umount /proc && echo unmounts; "
        "mknod node b 8 0 && cat node && echo devices; ls /dev | grep -E '^(sd|vd|nvme|mem|kmsg)'; "
        "v=$(cat /proc/sys/vm/swappiness); echo $v > /proc/sys/vm/swappiness && echo switches; "
        "mount -o remount,rw /sys && echo remounts; mkdir /sys/fs/cgroup/pids/ordeal-x && echo "
        "groups; "
        "unshare -Urmpf sh -c \"mount -t proc proc /proc && echo $v > /proc/sys/vm/swappiness\" && "
        "echo nested; "
        "date -s @0 > /dev/null && echo clock; hostname x && echo host; "
        "chroot / sh -c 'cd ../../..; test -e old/etc' && echo chroot; "
        "rm /dev/null && echo null; exit 0",
        10000);
    assert_string_equal(text_of(&result.out), "");
    sandbox_result_deinit(&result);
    result =
        run_in(sandbox,
               "echo x > /dev/null && head -c 3 /dev/zero | wc -c; head -c 3 /dev/urandom | wc "
               "-c; echo full > /dev/full || echo full; echo shm > /dev/shm/x; cat /dev/shm/x; "
               "cd /tmp; ls | wc -l; echo t > t; cat t; test -t 0 || echo no tty; "
               "perl -e 'open(my $f, \"+<\", \"/dev/ptmx\") and print \"pty\\n\"'",
               5000);
    assert_string_equal(text_of(&result.out), "3\n3\nfull\nshm\n0\nt\nno tty\npty\n");
    sandbox_result_deinit(&result);
    sandbox_free(sandbox);
}

// What a run does to keys of the outside: a bit for each that it could.
static struct {
    int key, keyring;
} * keys; // shared with the sandbox
enum {
    KEY_IS_READ = 1,
    KEY_IS_REVOKED = 2,
    KEYRING_IS_CLEARED = 4,
    KEYS_ARE_MADE = 8,
    OLD_ABI = 16
};

static volatile int found;
static void no_such_call(int signal)
{
    _exit(found);
}

static int use_keys(int shared)
{
    char text[16];
    signal(SIGSEGV, no_such_call); // int $0x80 in a kernel without it
    long size = syscall(SYS_keyctl, KEYCTL_READ, keys->key, text, sizeof text);
    found = size >= 0 ? KEY_IS_READ : 0;
    if (syscall(SYS_keyctl, KEYCTL_CLEAR, keys->keyring) == 0 ||
        syscall(SYS_keyctl, KEYCTL_CLEAR, KEY_SPEC_SESSION_KEYRING) == 0)
        found |= KEYRING_IS_CLEARED;
    if (syscall(SYS_keyctl, KEYCTL_REVOKE, keys->key) == 0)
        found |= KEY_IS_REVOKED;
    if (syscall(SYS_add_key, "user", "ordeal-test", "x", 1, KEY_SPEC_USER_KEYRING) >= 0)
        found |= KEYS_ARE_MADE;
    long result = 288; // keyctl of i386
    __asm__ volatile("int $0x80"
                     : "+a"(result)
                     : "b"(KEYCTL_GET_KEYRING_ID), "c"(KEY_SPEC_USER_KEYRING), "d"(1)
                     : "memory", "r8", "r9", "r10", "r11");
    return found | (result > 0 ? OLD_ABI : 0);
}

static void keyrings(void **state)
{
    // The test's own session keyring: whatever goes wrong, no keys but the test's are lost.
    long keyring = syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL);
    long key = syscall(SYS_add_key, "user", "ordeal-test", "secret", 6, KEY_SPEC_SESSION_KEYRING);
    if (keyring < 0 || key < 0) {
        print_message("no keyrings here: %s\n", strerror(errno));
        skip();
    }
    // Readable for all that have this user id, as keys in the user's own keyring are.
    assert_int_equal(syscall(SYS_keyctl, KEYCTL_SETPERM, key, 0x3f3f0000), 0);
    keys = mmap(NULL, sizeof *keys, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(keys != MAP_FAILED);
    keys->key = (int)key;
    keys->keyring = (int)keyring;
    struct sandbox *sandbox = make(SANDBOX_OVERLAY, NULL, false);
    struct sandbox_step step = {.command = (char *[]){(char *)"use_keys", NULL},
                                .environment = plain,
                                .inside = use_keys,
                                .shared = STDIN_FILENO,
                                .input = -1};
    struct sandbox_result result;
    must(sandbox_run(sandbox, &step, 1, NULL, NULL, NULL, &result));
    assert_int_equal(result.end, SANDBOX_EXIT);
    assert_int_equal(result.status, 0);
    sandbox_result_deinit(&result);
    char text[16] = "";
    assert_int_equal(syscall(SYS_keyctl, KEYCTL_READ, key, text, sizeof text), 6);
    assert_string_equal(text, "secret");
    result = run_in(sandbox, "grep -c ^Seccomp:.*2 /proc/self/status", 5000);
    assert_string_equal(text_of(&result.out), "1\n");
    sandbox_result_deinit(&result);
    sandbox_free(sandbox);
    munmap(keys, sizeof *keys);
    syscall(SYS_keyctl, KEYCTL_CLEAR, keyring);
}

// Root listens to others and forges packets on a network of its own only.
static void raw_sockets(void **state)
{
    static const char *const attempt =
        "perl -MSocket -e 'socket(my $a, 17, SOCK_RAW, 0x300) and print \"packet\\n\"; "
        "socket(my $b, AF_INET, SOCK_RAW, 1) and print \"raw\\n\"'";
    for (int network = 0; network < 2; network++) {
        struct sandbox *sandbox = make(SANDBOX_OVERLAY, NULL, network != 0);
        struct sandbox_result result = run_in(sandbox, attempt, 5000);
        assert_string_equal(text_of(&result.out),
                            network != 0 && geteuid() == 0 ? "packet\nraw\n" : "");
        sandbox_result_deinit(&result);
        sandbox_free(sandbox);
    }
}

static struct {
    key_t key;
    char queue[32];
    pid_t process;
} * others; // of the outside, shared with the sandbox

static int reach_others(int shared)
{
    return (shmget(others->key, 0, 0) >= 0 ? 1 : 0) |
           (mq_open(others->queue, O_RDONLY) != (mqd_t)-1 ? 2 : 0) |
           (getpgid(others->process) >= 0 || errno != ESRCH ? 4 : 0);
}

// IPC, processes and capabilities.
static void others_are_out_of_reach(void **state)
{
    others = mmap(NULL, sizeof *others, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(others != MAP_FAILED);
    others->process = getpid();
    others->key = 0x0de10000 + others->process;
    snprintf(others->queue, sizeof others->queue, "/ordeal-test-%d", (int)others->process);
    int memory = shmget(others->key, 4096, IPC_CREAT | 0666);
    mqd_t queue = mq_open(others->queue, O_CREAT | O_RDWR, 0666, NULL);
    assert_true(memory >= 0);
    struct sandbox *sandbox = make(SANDBOX_OVERLAY, NULL, false);
    struct sandbox_step step = {.command = (char *[]){(char *)"reach_others", NULL},
                                .environment = plain,
                                .inside = reach_others,
                                .shared = STDIN_FILENO,
                                .input = -1};
    struct sandbox_result result;
    struct error *error = sandbox_run(sandbox, &step, 1, NULL, NULL, NULL, &result);
    shmctl(memory, IPC_RMID, NULL);
    mq_unlink(others->queue);
    mq_close(queue);
    must(error);
    assert_int_equal(result.status, 0);
    sandbox_result_deinit(&result);
    result = run_in(sandbox, "sed -n 's/^CapBnd:[^0-9a-f]*//p' /proc/self/status", 5000);
    const unsigned kept[] = {CAP_CHOWN,   CAP_DAC_OVERRIDE, CAP_FOWNER,           CAP_FSETID,
                             CAP_KILL,    CAP_SETGID,       CAP_SETUID,           CAP_SETPCAP,
                             CAP_SETFCAP, CAP_SYS_CHROOT,   CAP_NET_BIND_SERVICE, CAP_AUDIT_WRITE};
    uint64_t bits = strtoull(text_of(&result.out), NULL, 16);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        bits &= ~(1ull << kept[i]);
    assert_int_equal(bits, 0);
    sandbox_result_deinit(&result);
    sandbox_free(sandbox);
    munmap(others, sizeof *others);
}

static void nothing_is_left_mounted(void **state)
{
    struct buffer before = {0}, after = {0};
    must(buffer_read_file("/proc/self/mountinfo", 1 << 24, &before));
    prints(SANDBOX_OVERLAY, "echo x", "x\n");
    must(buffer_read_file("/proc/self/mountinfo", 1 << 24, &after));
    assert_string_equal(before.data, after.data);
    buffer_deinit(&before);
    buffer_deinit(&after);
}

static struct error *peek(void *data, struct sandbox *sandbox)
{
    char path[200];
    snprintf(path, sizeof path, "%s%s/inner", sandbox_root(sandbox), sandbox_directory(sandbox));
    holds(path, "inner\n");
    assert_int_equal(access("inner", F_OK), -1);
    return NULL;
}

static void the_view_can_be_looked_at(void **state)
{
    struct sandbox *sandbox = make(SANDBOX_OVERLAY, NULL, false);
    struct sandbox_step step = {SCRIPT("echo inner > inner")};
    struct sandbox_result result;
    must(sandbox_run(sandbox, &step, 1, NULL, peek, NULL, &result));
    sandbox_result_deinit(&result);
    assert_string_equal(sandbox_root(sandbox), "");
    sandbox_free(sandbox);
}

// Files of ours are reachable, even in places that are private, and cannot be removed.
static void visible_files(void **state)
{
    struct sandbox *sandbox = make(SANDBOX_OVERLAY, NULL, false);
    char shared[3][100] = {"/dev/shm/ordeal-test-XXXXXX", "/tmp/ordeal-test-XXXXXX"};
    assert_non_null(mkdtemp(shared[0]));
    assert_non_null(mkdtemp(shared[1]));
    strcat(shared[0], "/region");
    strcat(shared[1], "/region");
    snprintf(shared[2], sizeof shared[2], "%s/region", place);
    for (int i = 0; i < 3; i++) {
        put(shared[i], "old\n");
        // No word of the command may name it, else /tmp is not private.
        char script[300], name[400];
        snprintf(name, sizeof name, "F=%s", shared[i]);
        snprintf(script, sizeof script,
                 "cat \"$F\"; echo new > \"$F\"; rm -f \"$F\"; "
                 "rm -rf /dev/shm/ordeal-* /tm?/ordeal-*; cat \"$F\"");
        const char *visible[] = {shared[i], NULL};
        struct sandbox_step step = {SCRIPT(script)};
        step.environment = (char *[]){plain[0], name, NULL};
        struct sandbox_result result;
        must(sandbox_run(sandbox, &step, 1, visible, NULL, NULL, &result));
        assert_string_equal(text_of(&result.out), "old\nnew\n");
        sandbox_result_deinit(&result);
        holds(shared[i], "new\n");
        unlink(shared[i]);
        struct error *error = sandbox_run(sandbox, &step, 1, visible, NULL, NULL, &result);
        assert_non_null(error);
        assert_non_null(strstr(error_message(error), shared[i]));
        error_free(error);
        *strrchr(shared[i], '/') = '\0';
        if (i < 2)
            assert_int_equal(rmdir(shared[i]), 0);
    }
    sandbox_free(sandbox);
}

static void directories_in_private_places(void **state)
{
    char at[2][60] = {"/tmp/ordeal-test-XXXXXX", "/dev/shm/ordeal-test-XXXXXX"};
    for (int i = 0; i < 2; i++) {
        assert_non_null(mkdtemp(at[i]));
        assert_int_equal(chdir(at[i]), 0);
        put("file", "text\n");
        struct sandbox_options options = {
            .kind = SANDBOX_OVERLAY, .directory = at[i], .capture_limit = 1000};
        struct sandbox *sandbox = NULL;
        must(sandbox_new(&options, &sandbox));
        struct sandbox_result result = run_in(sandbox, "cat file; rm file; echo x > y; ls", 5000);
        assert_string_equal(text_of(&result.out), "text\ny\n");
        sandbox_result_deinit(&result);
        sandbox_free(sandbox);
        holds("file", "text\n");
        assert_int_equal(unlink("file"), 0);
        assert_int_equal(chdir("/"), 0);
        assert_int_equal(rmdir(at[i]), 0);
    }
}

static void private_network(void **state)
{
    struct sandbox *sandbox = make(SANDBOX_OVERLAY, NULL, true);
    struct sandbox_step steps[] = {
        {SCRIPT("perl -MIO::Socket::INET -e 'my $s = IO::Socket::INET->new(LocalAddr => "
                "\"127.0.0.1:1025\", Listen => 5, ReuseAddr => 1) or die; exit if fork; while (my "
                "$c = "
                "$s->accept) { print $c \"hello\\n\"; close $c }'"),
         .linger = true, .timeout_ns = 5000 * MS},
        {SCRIPT("perl -MIO::Socket::INET -e 'my $s = IO::Socket::INET->new(\"127.0.0.1:1025\") or "
                "die; print <$s>'; tail -n +3 /proc/net/dev | cut -d: -f1 | grep -cv '^ *lo$'"),
         .timeout_ns = 5000 * MS},
    };
    struct sandbox_result results[2];
    must(sandbox_run(sandbox, steps, 2, NULL, NULL, NULL, results));
    assert_int_equal(results[0].status, 0);
    assert_string_equal(text_of(&results[1].out), "hello\n0\n");
    sandbox_result_deinit(&results[0]);
    sandbox_result_deinit(&results[1]);
    sandbox_free(sandbox);
}

static struct error *note_traffic(void *data, struct sandbox *sandbox)
{
    *(struct sandbox_traffic *)data = sandbox_traffic(sandbox);
    return NULL;
}

static struct sandbox_traffic traffic_of(struct sandbox *sandbox, char *script, const char *says)
{
    struct sandbox_step step = {SCRIPT(script), .timeout_ns = 5000 * MS};
    struct sandbox_traffic traffic = {0};
    struct sandbox_result result;
    must(sandbox_run(sandbox, &step, 1, NULL, note_traffic, &traffic, &result));
    assert_string_equal(text_of(&result.out), says);
    sandbox_result_deinit(&result);
    return traffic;
}

static void what_a_network_is_used_for(void **state)
{
    struct sandbox *sandbox = make(SANDBOX_OVERLAY, NULL, true);
    struct sandbox_traffic idle = traffic_of(sandbox, "echo idle", "idle\n");
    struct sandbox_traffic self = traffic_of(
        sandbox, "perl -MIO::Socket::INET -e 'IO::Socket::INET->new(\"127.0.0.1:1025\"); print $!'",
        "Connection refused");
    struct sandbox_traffic other = traffic_of(
        sandbox, "perl -MIO::Socket::INET -e 'IO::Socket::INET->new(\"192.0.2.1:80\"); print $!'",
        "Network is unreachable");
    struct sandbox_traffic served = traffic_of(
        sandbox,
        "perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(LocalAddr => \"127.0.0.1:1025\", "
        "Listen => 1); print IO::Socket::INET->new(\"127.0.0.1:1025\") ? \"met\" : $!'",
        "met");
    assert_true(!idle.inward && !idle.outward && !idle.refused && !idle.served);
    assert_true(self.inward && !self.outward && self.refused && !self.served);
    assert_true(served.inward && served.served && !served.refused);
    assert_true(other.outward);
    char network[64] = "", script[160];
    assert_true(readlink("/proc/self/ns/net", network, sizeof network - 1) > 0);
    snprintf(script, sizeof script, "test \"$(readlink /proc/self/ns/net)\" = '%s'; echo $?",
             network);
    traffic_of(sandbox, script, "1\n");
    sandbox_set_network(sandbox, false);
    traffic_of(sandbox, script, "0\n");
    sandbox_set_network(sandbox, true);
    traffic_of(sandbox, script, "1\n");
    sandbox_free(sandbox);
}

static struct error *second_run(void *data, struct sandbox *sandbox)
{
    struct sandbox_result result = run_in(data, "cat file; echo two > file; cat file", 5000);
    assert_string_equal(text_of(&result.out), "outside\ntwo\n");
    sandbox_result_deinit(&result);
    char path[200];
    snprintf(path, sizeof path, "%s%s/file", sandbox_root(sandbox), place);
    holds(path, "one\n");
    return NULL;
}

static void two_at_once(void **state)
{
    put("file", "outside\n");
    struct sandbox *first = make(SANDBOX_OVERLAY, NULL, false);
    struct sandbox *second = make(SANDBOX_OVERLAY, NULL, false);
    struct sandbox_step step = {SCRIPT("echo one > file")};
    struct sandbox_result result;
    must(sandbox_run(first, &step, 1, NULL, second_run, second, &result));
    sandbox_result_deinit(&result);
    sandbox_free(first);
    sandbox_free(second);
    holds("file", "outside\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(two_at_once),
        TEST(keyrings),
        TEST(raw_sockets),
        TEST(others_are_out_of_reach),
        TEST(nothing_is_left_mounted),
        TEST(the_view_can_be_looked_at),
        TEST(visible_files),
        TEST(directories_in_private_places),
        TEST(private_network),
        TEST(what_a_network_is_used_for),
        TEST(input_is_no_way_out),
        TEST(replaced_input_is_no_way_out),
        TEST(roads),
        TEST(no_power),
        TEST(everything_is_overwritten),
        TEST(everything_is_removed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
