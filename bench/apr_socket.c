// SPDX-License-Identifier: GPL-3.0-or-later
// Trigger T_A: argument 1 of an APR file function is open on a socket. What was opened by its name
// is none, as open() opens no sockets, nor is what APR knows for a pipe. Of the rest APR is asked
// for the descriptor, as its layout is private to it, and the kernel for the kind of socket, which
// nothing else has: that answer cannot be kept, as descriptors are used again, and this question is
// cheaper than fstat().
#include <ordeal.h>

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

static int (*name_of)(const char **name, void *file);
static int (*pipe_timeout_of)(void *file, int64_t *timeout); // fails for what is no pipe
static int (*descriptor_of)(int *descriptor, void *file);

static int init(const struct ordeal_parameter *parameters, size_t count, void **state)
{
    (void)parameters, (void)count, (void)state;
    name_of = (int (*)(const char **, void *))dlsym(RTLD_DEFAULT, "apr_file_name_get");
    pipe_timeout_of = (int (*)(void *, int64_t *))dlsym(RTLD_DEFAULT, "apr_file_pipe_timeout_get");
    descriptor_of = (int (*)(int *, void *))dlsym(RTLD_DEFAULT, "apr_os_file_get");
    return name_of != NULL && pipe_timeout_of != NULL && descriptor_of != NULL ? 0 : -1;
}

static int eval(void *state, const struct ordeal_call *call)
{
    (void)state;
    void *file = (void *)call->arguments[0];
    const char *name;
    int64_t timeout;
    if ((name_of(&name, file) == 0 && name != NULL) || pipe_timeout_of(file, &timeout) == 0)
        return 0;
    int descriptor, kind;
    socklen_t size = sizeof kind;
    return descriptor_of(&descriptor, file) == 0 &&
           getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &kind, &size) == 0;
}

ORDEAL_TRIGGER(apr_socket, init, eval);
