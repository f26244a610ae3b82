// Changes what a descriptor is open on in many ways, and reads from it after each. Files a and b
// are to be in the working directory; reads from b are to fail. Prints where it read what.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *read_from(int fd)
{
    char byte;
    errno = 0;
    ssize_t size = read(fd, &byte, 1);
    return size < 0 && errno == EIO ? "b" : size < 0 ? "error" : "a";
}

static void show(const char *what, int fd)
{
    // Twice: the second time it is known.
    const char *first = read_from(fd), *second = read_from(fd);
    printf("%s: %s%s\n", what, first, second);
}

static int open_as(const char *path, int number)
{
    int fd = open(path, O_RDONLY);
    if (fd != number) {
        printf("%s is %d, not %d\n", path, fd, number);
        exit(1);
    }
    return fd;
}

static void send_descriptor(int through, int fd)
{
    char space[CMSG_SPACE(sizeof fd)] = {0}, byte = 0;
    struct iovec data = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(header), &fd, sizeof fd);
    if (sendmsg(through, &message, 0) < 0)
        abort();
}

static int receive_descriptor(int through)
{
    char space[CMSG_SPACE(sizeof(int))], byte;
    struct iovec data = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
    int fd = -1;
    if (recvmsg(through, &message, 0) < 0)
        abort();
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
    return fd;
}

static void *alone(void *unused)
{
    (void)unused;
    if (unshare(CLONE_FILES) == 0) { // what it closes stays open for the others
        close(3);
        open_as("b", 3);
        show("in a thread with its own", 3);
    }
    return NULL;
}

int main(void)
{
    int pair[2], status;
    setvbuf(stdout, NULL, _IONBF, 0);
    open_as("a", 3);
    show("opened", 3);
    close(3);
    open_as("b", 3);
    show("closed and opened", 3);
    int a = open("a", O_RDONLY);
    dup2(a, 3);
    show("dup2", 3);
    close(3);
    open_as("b", 3);
    dup3(a, 3, O_CLOEXEC);
    show("dup3", 3);
    syscall(SYS_close, 3);
    open_as("b", 3);
    show("closed by syscall()", 3);
    close_range(3, 3, 0);
    open_as("a", 3);
    show("close_range", 3);
    close(3);
    FILE *file = fopen("b", "r");
    show("fopen", fileno(file));
    fclose(file);
    open_as("a", 3);
    show("fclose", 3);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
        return 1;
    int b = open("b", O_RDONLY);
    send_descriptor(pair[0], b);
    close(3);
    printf("received %d\n", receive_descriptor(pair[1]));
    show("received", 3);
    rename("b", "c");
    show("renamed", 3);
    rename("c", "b");
    show("renamed back", 3);
    if (fork() == 0) {
        show("in a child", 3);
        dup2(a, 3);
        show("changed in a child", 3);
        _exit(0);
    }
    wait(&status);
    show("after the child", 3);
    pid_t child = vfork();
    if (child == 0) {
        dup2(a, 3);
        read_from(3);
        _exit(0);
    }
    waitpid(child, &status, 0);
    show("after vfork", 3);
    dup2(a, 3);
    show("before the thread", 3);
    pthread_t id;
    pthread_create(&id, NULL, alone, NULL);
    pthread_join(id, NULL);
    show("after the thread", 3);
    return 0;
}
