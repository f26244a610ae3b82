// SPDX-License-Identifier: GPL-3.0-or-later
// A workload with a fixed port: `port NUMBER` listens, says hello to itself and greets. With a
// second argument, an address, it asks that one first and does not mind if there is no answer; with
// a third it does.
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct sockaddr_in address(const char *host, int port)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
    inet_pton(AF_INET, host, &name.sin_addr);
    return name;
}

static int ask(const char *host)
{
    struct sockaddr_in other = address(host, 9);
    int any = socket(AF_INET, SOCK_DGRAM, 0);
    int asked = connect(any, (struct sockaddr *)&other, sizeof other);
    close(any);
    return asked;
}

int main(int argc, char **argv)
{
    if (argc > 2 && ask(argv[2]) < 0 && argc > 3)
        return 3;
    struct sockaddr_in own = address("127.0.0.1", atoi(argv[1]));
    int server = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(server, (struct sockaddr *)&own, sizeof own) < 0 || listen(server, 1) < 0) {
        perror("bind");
        return 1;
    }
    FILE *greeting = fopen("greeting", "r");
    char line[64];
    if (greeting == NULL || fgets(line, sizeof line, greeting) == NULL) {
        perror("greeting");
        return 2;
    }
    fputs(line, stdout);
    fclose(greeting);
    return 0;
}
