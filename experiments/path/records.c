// SPDX-License-Identifier: GPL-3.0-or-later
// records FILE SOCKET: a small database server of addresses, after the WPI benchmark's. A process for
// each client; records of a fixed size; a lock on each record that is written. Requests are lines: last,
// read N, write N TEXT, append TEXT, sum FIRST LAST, find TEXT, quit (the client), stop (the server).
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define TEXT 56

struct record {
    uint32_t number, sum;
    char text[TEXT];
};

static int file;
static volatile sig_atomic_t stopping;

static uint32_t checksum(const char *text)
{
    uint32_t sum = 17;
    for (int i = 0; i < TEXT && text[i] != '\0'; i++)
        sum = sum * 31 + (unsigned char)text[i];
    return sum;
}

static long count(void)
{
    struct stat facts;
    return fstat(file, &facts) == 0 ? (long)(facts.st_size / (off_t)sizeof(struct record)) : -1;
}

static int lock(long number, short kind)
{
    struct flock area = {.l_type = kind,
                         .l_whence = SEEK_SET,
                         .l_start = number * (off_t)sizeof(struct record),
                         .l_len = sizeof(struct record)};
    return fcntl(file, F_SETLKW, &area);
}

static const char *load(long number, struct record *record)
{
    if (number < 0 || number >= count())
        return "no such record";
    if (pread(file, record, sizeof *record, number * (off_t)sizeof *record) != sizeof *record)
        return "cannot read";
    if (record->number != (uint32_t)number || record->sum != checksum(record->text))
        return "damaged record";
    return NULL;
}

static const char *store(long number, const char *text)
{
    struct record record = {.number = (uint32_t)number};
    size_t size = strlen(text);
    if (size == 0 || size >= TEXT)
        return "text too short or too long";
    memcpy(record.text, text, size);
    record.sum = checksum(record.text);
    if (pwrite(file, &record, sizeof record, number * (off_t)sizeof record) != sizeof record)
        return "cannot write";
    return NULL;
}

static const char *change(long number, const char *text, FILE *out)
{
    struct record old;
    if (lock(number, F_WRLCK) != 0)
        return "cannot lock";
    const char *error = load(number, &old);
    if (error == NULL)
        error = store(number, text);
    lock(number, F_UNLCK);
    if (error == NULL)
        fprintf(out, "ok %ld was %s\n", number, old.text);
    return error;
}

static const char *append(const char *text, FILE *out)
{
    if (lock(1L << 20, F_WRLCK) != 0)
        return "cannot lock";
    long number = count();
    const char *error = store(number, text);
    lock(1L << 20, F_UNLCK);
    if (error == NULL)
        fprintf(out, "ok %ld\n", number);
    return error;
}

static const char *sum_up(long first, long last, FILE *out)
{
    uint32_t total = 0;
    if (first > last)
        return "no range";
    for (long i = first; i <= last; i++) {
        struct record record;
        const char *error = load(i, &record);
        if (error != NULL)
            return error;
        total ^= record.sum + (uint32_t)i;
    }
    fprintf(out, "ok %08x\n", total);
    return NULL;
}

static const char *find(const char *text, FILE *out)
{
    int found = 0;
    for (long i = 0; i < count(); i++) {
        struct record record;
        const char *error = load(i, &record);
        if (error != NULL)
            return error;
        if (strstr(record.text, text) != NULL && ++found <= 5)
            fprintf(out, "%ld %s\n", i, record.text);
    }
    fprintf(out, "ok %d\n", found);
    return NULL;
}

static const char *answer(char *line, FILE *out)
{
    long first, last;
    int at = 0;
    struct record record;
    if (strcmp(line, "last") == 0) {
        const char *error = load(count() - 1, &record);
        if (error == NULL)
            fprintf(out, "ok %s\n", record.text);
        return error;
    }
    if (sscanf(line, "read %ld", &first) == 1) {
        const char *error = load(first, &record);
        if (error == NULL)
            fprintf(out, "ok %s\n", record.text);
        return error;
    }
    if (sscanf(line, "write %ld %n", &first, &at) == 1 && at != 0)
        return change(first, line + at, out);
    if (sscanf(line, "sum %ld %ld", &first, &last) == 2)
        return sum_up(first, last, out);
    if (strncmp(line, "append ", 7) == 0)
        return append(line + 7, out);
    if (strncmp(line, "find ", 5) == 0)
        return find(line + 5, out);
    if (strcmp(line, "stop") == 0) {
        kill(getppid(), SIGTERM);
        fprintf(out, "ok\n");
        return NULL;
    }
    return "what?";
}

static int serve(int client)
{
    char line[256];
    FILE *stream = fdopen(client, "r+");
    if (stream == NULL)
        return 1;
    while (fgets(line, sizeof line, stream) != NULL) {
        line[strcspn(line, "\r\n")] = '\0';
        if (strcmp(line, "quit") == 0)
            break;
        const char *error = answer(line, stream);
        if (error != NULL)
            fprintf(stream, "error: %s\n", error);
        if (fflush(stream) != 0)
            return 1;
    }
    return fclose(stream) == 0 ? 0 : 1;
}

static void stop(int number)
{
    (void)number;
    stopping = 1;
}

int main(int argc, char **argv)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct sigaction action = {.sa_handler = stop};
    int bad = 0, status;
    if (argc != 3 || strlen(argv[2]) >= sizeof address.sun_path)
        return 2;
    file = open(argv[1], O_RDWR);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    strcpy(address.sun_path, argv[2]);
    if (file < 0 || listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(listener, 16) != 0) {
        perror("records");
        return 1;
    }
    sigset_t blocked, none;
    sigemptyset(&none);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    sigprocmask(SIG_BLOCK, &blocked, NULL); // it arrives in ppoll() only
    sigaction(SIGTERM, &action, NULL);
    while (!stopping) {
        struct pollfd waiting = {.fd = listener, .events = POLLIN};
        int ready = ppoll(&waiting, 1, NULL, &none);
        while (waitpid(-1, &status, WNOHANG) > 0)
            bad += status != 0;
        if (ready <= 0)
            continue;
        int client = accept(listener, NULL, NULL);
        pid_t pid = client >= 0 ? fork() : -1;
        if (pid == 0)
            _exit(serve(client));
        if (pid < 0)
            return 1;
        close(client);
    }
    while (wait(&status) > 0)
        bad += status != 0;
    if (bad != 0)
        fprintf(stderr, "records: %d clients were not served to the end\n", bad);
    return bad != 0;
}
