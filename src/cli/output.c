// Where text goes.
#include "cli/command.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct error *output_write(int descriptor, const char *name, const struct buffer *text)
{
    for (size_t at = 0; at < text->size;) {
        ssize_t part = write(descriptor, text->data + at, text->size - at);
        if (part < 0 && errno == EINTR)
            continue;
        if (part < 0)
            return error_from_errno(errno, "cannot write to %s", name);
        at += (size_t)part;
    }
    return NULL;
}

struct error *output_file(const char *path, int otherwise, const struct buffer *text)
{
    if (path == NULL)
        return output_write(otherwise, otherwise == STDOUT_FILENO ? "the output" : "stderr", text);
    _cleanup_close_ int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0)
        return error_from_errno(errno, "cannot write %s", path);
    return output_write(file, path, text);
}

bool output_colour(int descriptor)
{
    const char *refused = getenv("NO_COLOR"), *terminal = getenv("TERM");
    if (refused != NULL && *refused != '\0')
        return false;
    return isatty(descriptor) && terminal != NULL && strcmp(terminal, "dumb") != 0;
}
