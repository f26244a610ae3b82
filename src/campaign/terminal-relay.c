// SPDX-License-Identifier: GPL-3.0-or-later
// Relays between the user's terminal, which is set to raw mode, and a pseudo-terminal for a command
// in a sandbox. A thread copies bytes both ways.
#include "campaign/terminal-relay.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/thread.h"
#include "base/timeouts.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

struct relay {
    int master, terminal, end; // end: an eventfd
    struct termios before;
    bool changed; // the user's terminal was
    bool running;
    pthread_t thread;
};

static bool write_all(int file, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t done = write(file, bytes, size);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        bytes += done;
        size -= (size_t)done;
    }
    return true;
}

static bool pass(int from, int to)
{
    char bytes[4096];
    ssize_t got = read(from, bytes, sizeof bytes);
    if (got < 0 && errno == EINTR)
        return true;
    return got > 0 && write_all(to, bytes, (size_t)got);
}

static void pass_size(const struct relay *relay)
{
    struct winsize wanted, given;
    if (ioctl(STDIN_FILENO, TIOCGWINSZ, &wanted) == 0 &&
        ioctl(relay->master, TIOCGWINSZ, &given) == 0 &&
        (wanted.ws_row != given.ws_row || wanted.ws_col != given.ws_col))
        ioctl(relay->master, TIOCSWINSZ, &wanted);
}

// Output that was printed before the end is still shown.
static void *serve(void *data)
{
    const struct relay *relay = data;
    bool typing = true;
    for (;;) {
        struct pollfd polled[] = {{relay->master, POLLIN, 0},
                                  {relay->end, POLLIN, 0},
                                  {typing ? STDIN_FILENO : -1, POLLIN, 0}};
        pass_size(relay);
        if (poll(polled, 3, clock_poll_ms(TERMINAL_SIZE_PAUSE_NS)) < 0 && errno != EINTR)
            return NULL;
        bool printed = (polled[0].revents & POLLIN) != 0;
        if (printed && !pass(relay->master, STDOUT_FILENO))
            return NULL;
        if (!printed && polled[1].revents != 0)
            return NULL;
        if (polled[2].revents != 0)
            typing = pass(STDIN_FILENO, relay->master);
    }
}

static struct error *open_terminal(struct relay *relay)
{
    relay->master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (relay->master < 0 || grantpt(relay->master) < 0 || unlockpt(relay->master) < 0)
        return error_from_errno(errno, "cannot make a terminal");
    relay->terminal = ioctl(relay->master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (relay->terminal < 0)
        return error_from_errno(errno, "cannot open the terminal made");
    relay->end = eventfd(0, EFD_CLOEXEC);
    if (relay->end < 0)
        return error_from_errno(errno, "cannot make a terminal");
    if (tcgetattr(STDIN_FILENO, &relay->before) < 0)
        return error_from_errno(errno, "cannot ask the terminal");
    tcsetattr(relay->terminal, TCSANOW, &relay->before);
    pass_size(relay);
    return NULL;
}

static struct error *start(struct relay *relay)
{
    struct termios raw = relay->before;
    cfmakeraw(&raw);
    relay->changed = tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) == 0;
    TRY(thread_start(&relay->thread, serve, relay));
    relay->running = true;
    return NULL;
}

struct error *relay_open(struct relay **ret_relay)
{
    struct relay *relay = calloc(1, sizeof *relay);
    if (relay == NULL)
        return error_no_memory();
    relay->master = relay->terminal = relay->end = -1;
    struct error *error = open_terminal(relay);
    if (error == NULL)
        error = start(relay);
    if (error != NULL) {
        relay_close(relay);
        return error;
    }
    *ret_relay = relay;
    return NULL;
}

void relay_close(struct relay *relay)
{
    if (relay == NULL)
        return;
    if (relay->running && eventfd_write(relay->end, 1) == 0)
        pthread_join(relay->thread, NULL);
    if (relay->changed)
        tcsetattr(STDIN_FILENO, TCSADRAIN, &relay->before);
    int files[] = {relay->master, relay->terminal, relay->end};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (files[i] >= 0)
            close(files[i]);
    free(relay);
}

int relay_terminal(const struct relay *relay)
{
    return relay->terminal;
}
