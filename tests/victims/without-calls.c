// Runs a command as a kernel would that does not have, or does not allow, some system calls:
// without-calls ENOSYS|EPERM CALL... -- COMMAND...
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
    const char *name;
    unsigned number;
} calls[] = {
    {"perf_event_open", SYS_perf_event_open},
    {"pidfd_open", SYS_pidfd_open},
    {"pidfd_send_signal", SYS_pidfd_send_signal},
    {"process_vm_writev", SYS_process_vm_writev},
    {"ptrace", SYS_ptrace},
};
#define CALLS (sizeof calls / sizeof *calls)

int main(int count, char **words)
{
    struct sock_filter code[2 * CALLS + 2] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
    unsigned short n = 1;
    unsigned error = count > 1 && strcmp(words[1], "EPERM") == 0 ? EPERM : ENOSYS;
    int i = 2;
    for (; i < count && strcmp(words[i], "--") != 0; i++) {
        size_t c = 0;
        while (c < CALLS && strcmp(calls[c].name, words[i]) != 0)
            c++;
        if (c == CALLS || n + 3 > 2 * (int)CALLS + 2)
            return 2;
        code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[c].number, 0, 1);
        code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error);
    }
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog filter = {n, code};
    if (i + 1 >= count || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) < 0) {
        perror("without-calls");
        return 2;
    }
    execvp(words[i + 1], words + i + 1);
    return 127;
}
