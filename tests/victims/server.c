// SPDX-License-Identifier: GPL-3.0-or-later
// A server on a port of loopback that answers every line "GET" with what is in its file, and breaks
// in another way for each call that fails. Usage: server PORT FILE [daemon|once|stubborn]
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t stopped;

static void stop(int number)
{
    stopped = 1;
}

// Leaves without a word, and slowly: the kernel closes the connection before all that memory.
static void leave(void)
{
    int memory = memfd_create("much", 0);
    if (posix_fallocate(memory, 0, 128 << 20) != 0)
        exit(5);
    exit(0);
}

static void answer(int connection, const char *path)
{
    char line[64] = "";
    char *text = malloc(4096);
    memset(text, 0, 4096); // no memory: crash
    FILE *file = fopen(path, "r");
    if (file == NULL)
        leave();
    if (fgets(text, 4000, file) == NULL)
        strcpy(text, "nothing\n"); // wrong, and nobody is told
    fclose(file);
    struct stat facts;
    while (stat(path, &facts) < 0) // no answer, for ever
        ;
    if (access(path, R_OK) != 0)
        strcpy(text, "error: no access\n");
    if (recv(connection, line, sizeof line - 1, 0) > 0 && strncmp(line, "GET", 3) == 0)
        send(connection, text, strlen(text), MSG_NOSIGNAL);
    free(text);
}

static int listen_on(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
    int yes = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) < 0) {
        perror("server: cannot bind"); // does not come up, and says so
        exit(3);
    }
    if (listen(listener, 5) < 0) // never comes up
        for (;;)
            pause();
    return listener;
}

static void settle(const char *mode)
{
    struct sigaction action = {.sa_handler = stop};
    sigaction(SIGTERM, &action, NULL);
    if (strcmp(mode, "stubborn") == 0)
        signal(SIGTERM, SIG_IGN);
    if (strcmp(mode, "daemon") == 0 && daemon(1, 1) < 0)
        exit(4);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 3 ? argv[3] : "";
    if (argc < 3)
        return 2;
    settle(mode);
    int listener = listen_on(atoi(argv[1]));
    printf("serving %s\n", argv[2]);
    fflush(stdout);
    close(open("server.ready", O_CREAT | O_WRONLY, 0600));
    do {
        int connection = accept(listener, NULL, NULL);
        if (connection < 0)
            continue;
        answer(connection, argv[2]);
        close(connection);
    } while (!stopped && strcmp(mode, "once") != 0);
    while (unlink("server.state") < 0 && errno == EIO) // hangs while it stops
        stopped = 0;
    puts("bye");
    return 0;
}
