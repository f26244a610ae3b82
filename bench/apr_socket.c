// SPDX-License-Identifier: GPL-3.0-or-later
// Trigger T_A: argument 1 of an APR file function is open on a socket. Asks APR for the descriptor,
// as its layout is private to it, and the kernel for the kind of socket, which nothing else has:
// the answer cannot be kept, as descriptors are used again, and this question is cheaper than
// fstat().
#include <ordeal.h>

#include <dlfcn.h>
#include <sys/socket.h>

static int (*descriptor_of)(int *descriptor, void *file);

static int init(const struct ordeal_parameter *parameters, size_t count, void **state)
{
    (void)parameters, (void)count, (void)state;
    descriptor_of = (int (*)(int *, void *))dlsym(RTLD_DEFAULT, "apr_os_file_get");
    return descriptor_of != NULL ? 0 : -1;
}

static int eval(void *state, const struct ordeal_call *call)
{
    (void)state;
    int descriptor, kind;
    socklen_t size = sizeof kind;
    return descriptor_of(&descriptor, (void *)call->arguments[0]) == 0 &&
           getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &kind, &size) == 0;
}

ORDEAL_TRIGGER(apr_socket, init, eval);
