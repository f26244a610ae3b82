// Error handling that is easy to count: every line that only runs after a failure says so. Blocks
// are met by a thread that blocks all signals, in a handler with a full mask, and by a child.
// flags: -g -O0 -pthread
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t traps;

static void on_trap(int number)
{
    traps++;
}

static void on_signal(int number)
{
    if (access("nonesuch", F_OK) < 0)
        traps += 10; // recovery, always
}

static void *work(void *data)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    char *memory = malloc(1000);
    if (memory == NULL)
        return "no memory"; // recovery
    memset(memory, 1, 1000);
    free(memory);
    return NULL;
}

static int child(void)
{
    int file = open("input", O_RDONLY);
    if (file < 0)
        return 3; // recovery
    char text[20];
    ssize_t size = read(file, text, sizeof text);
    if (size < 0) {
        close(file); // recovery
        return 4;    // recovery
    }
    close(file);
    return 0;
}

static int save(void)
{
    int file = open("output", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (file < 0)
        goto failed; // recovery
    if (write(file, "text\n", 5) != 5)
        goto failed; // recovery
    if (close(file) < 0) {
        perror("close"); // recovery
        return 1;        // recovery
    }
    return 0;
failed:
    perror("output"); // recovery
    return 1;         // recovery
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigfillset(&action.sa_mask);
    sigaction(SIGUSR1, &action, NULL);
    signal(SIGTRAP, on_trap);
    raise(SIGTRAP);
    raise(SIGUSR1);
    if (traps != 11)
        return 9;
    pthread_t thread;
    void *complaint = NULL;
    if (pthread_create(&thread, NULL, work, NULL) != 0)
        return 5; // recovery
    pthread_join(thread, &complaint);
    if (complaint != NULL) {
        fprintf(stderr, "%s\n", (char *)complaint);
        return 6;
    }
    int status;
    pid_t pid = fork();
    if (pid == 0)
        exit(child());
    if (pid < 0)
        return 7; // recovery
    if (waitpid(pid, &status, 0) < 0)
        return 10; // recovery
    if (status != 0) {
        fprintf(stderr, "child\n");
        return WEXITSTATUS(status);
    }
    if (argc > 1 && atoi(argv[1]) == 1 && system("exit 1") < 0)
        return 8; // recovery, never reached
    return save();
}
