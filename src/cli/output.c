// SPDX-License-Identifier: GPL-3.0-or-later
// Where text goes: standard output, or a file that is opened early and truncated late.
#include "cli/command.h"

#include "base/cleanup.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// A report written over the store would destroy all campaigns in it.
static struct error *refuse_store(const char *path)
{
    static const char mark[] = "SQLite format 3"; // including its zero byte
    char start[sizeof mark];
    struct stat facts;
    if (stat(path, &facts) < 0 || !S_ISREG(facts.st_mode))
        return NULL;
    _cleanup_close_ int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || read(file, start, sizeof start) != (ssize_t)sizeof start ||
        memcmp(start, mark, sizeof start) != 0)
        return NULL;
    return error_new("cannot write %s: it is a store of campaigns, or another database", path);
}

struct error *output_open(const char *path, int otherwise, struct output *ret_output)
{
    *ret_output = (struct output){.descriptor = otherwise,
                                  .opened = -1,
                                  .name = otherwise == STDOUT_FILENO ? "the output" : "stderr"};
    if (path == NULL)
        return NULL;
    TRY(refuse_store(path));
    // Without O_NONBLOCK, opening a FIFO that nobody reads would block.
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
    if (file < 0 && errno == ENXIO)
        return error_new("cannot write %s: it is a FIFO or a socket, and nobody reads it", path);
    if (file < 0 || fcntl(file, F_SETFL, 0) < 0) {
        int code = errno;
        if (file >= 0)
            close(file);
        return error_from_errno(code, "cannot write %s", path);
    }
    *ret_output = (struct output){.descriptor = file, .opened = file, .name = path};
    return NULL;
}

struct error *output_put(struct output *output, const struct buffer *text)
{
    struct stat facts;
    if (output->opened >= 0) // the file may have become a store since it was opened
        TRY(refuse_store(output->name));
    if (output->opened >= 0 && fstat(output->opened, &facts) == 0 && S_ISREG(facts.st_mode) &&
        ftruncate(output->opened, 0) < 0)
        return error_from_errno(errno, "cannot write %s", output->name);
    TRY(file_write(output->descriptor, output->name, text));
    // Some file systems report only now that the disk is full.
    int file = output->opened;
    output->opened = -1;
    if (file >= 0 && close(file) < 0)
        return error_from_errno(errno, "cannot write %s", output->name);
    return NULL;
}

bool output_is_same(const struct output *a, const struct output *b)
{
    struct stat one, other;
    return a->opened >= 0 && b->opened >= 0 && fstat(a->opened, &one) == 0 &&
           fstat(b->opened, &other) == 0 && S_ISREG(one.st_mode) && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

void output_close(struct output *output)
{
    if (output->opened >= 0)
        close(output->opened);
    output->opened = -1;
}

struct error *output_print(const struct buffer *text)
{
    return file_write(STDOUT_FILENO, "the output", text);
}

bool output_colour(int descriptor)
{
    const char *refused = getenv("NO_COLOR"), *terminal = getenv("TERM");
    if (refused != NULL && *refused != '\0')
        return false;
    return isatty(descriptor) && terminal != NULL && strcmp(terminal, "dumb") != 0;
}
