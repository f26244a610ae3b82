// SPDX-License-Identifier: GPL-3.0-or-later
// An editor at a terminal: types into busybox's vi, changes the window, and looks at the file.
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

static long shown;

// Reads what the screen shows, until nothing comes for so many milliseconds.
static void look(int terminal, int patience)
{
    char text[4096];
    struct pollfd state = {terminal, POLLIN, 0};
    while (poll(&state, 1, patience) > 0) {
        ssize_t size = read(terminal, text, sizeof text);
        if (size <= 0)
            break;
        shown += size;
        patience = 150;
    }
}
static void type(int terminal, const char *keys)
{
    if (write(terminal, keys, strlen(keys)) < 0)
        exit(2);
    look(terminal, 150);
}
static pid_t start(const char *name, const char *argument, struct winsize *size, int *ret_terminal)
{
    pid_t process = forkpty(ret_terminal, NULL, NULL, size);
    if (process == 0) {
        setenv("TERM", "vt100", 1);
        execl("/bin/busybox", name, argument, (char *)NULL);
        _exit(9);
    }
    return process;
}
static int end_of(pid_t process)
{
    int status = -1;
    waitpid(process, &status, 0);
    return status;
}

static void edit(void)
{
    int terminal;
    char text[200];
    struct winsize size = {.ws_row = 24, .ws_col = 80};
    pid_t editor = start("vi", "text", &size, &terminal);
    look(terminal, 3000);
    type(terminal, "iThe first line\rThe second\x1b");
    type(terminal, "yyp");
    type(terminal, ":s/second/third/\r");
    size.ws_row = 50;
    ioctl(terminal, TIOCSWINSZ, &size);
    look(terminal, 150);
    type(terminal, "ggAed\x1b");
    type(terminal, ":wq\r");
    printf("editor %d, something shown: %d\n", end_of(editor), shown > 300);
    close(terminal);
    int file = open("text", O_RDONLY);
    ssize_t got = read(file, text, sizeof text);
    printf("%.*s", got > 0 ? (int)got : 0, text);
    close(file);
    unlink("text");
}

// Lines, a line that is taken back, and the end of the file.
static void type_lines(void)
{
    int terminal;
    struct termios settings;
    struct winsize size = {.ws_row = 24, .ws_col = 80};
    pid_t reader = start("cat", NULL, &size, &terminal);
    tcgetattr(terminal, &settings);
    printf("echo %d\n", (settings.c_lflag & ECHO) != 0);
    shown = 0;
    type(terminal, "wrong\x15right\r");
    type(terminal, "\x04");
    printf("cat %d, something shown: %d\n", end_of(reader), shown > 0);
}

int main(void)
{
    edit();
    type_lines();
    return 0;
}
