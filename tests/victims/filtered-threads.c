// flags: -pthread -fno-builtin
// Usage: filtered-threads CALLS. Calls abs() CALLS times in each of two threads at once, filters
// its system calls, and goes on calling until a call returns 77. Exits with 0 if that was call 5 *
// CALLS.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct sock_filter program[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};
static const struct sock_fprog code = {sizeof program / sizeof *program, program};
static volatile int minus_one = -1, result; // so that every call is made
static pthread_barrier_t called, ended;
static long calls;

static void call(void)
{
    for (long i = 0; i < calls; i++)
        result = abs(minus_one);
    pthread_barrier_wait(&called);
}

static void *run(void *unused)
{
    call();
    pthread_barrier_wait(&ended); // goes on waiting, with its credits
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t id;
    calls = argc > 1 ? atol(argv[1]) : 1;
    pthread_barrier_init(&called, NULL, 2);
    pthread_barrier_init(&ended, NULL, 2);
    if (pthread_create(&id, NULL, run, NULL) != 0)
        return 2;
    call();
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &code, 0, 0) != 0)
        return 2;
    long made = 2 * calls + 1;
    while (made < 10 * calls && abs(minus_one) != 77)
        made++;
    syscall(SYS_exit_group, made == 5 * calls ? 0 : 1);
}
