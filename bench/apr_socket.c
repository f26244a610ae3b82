// SPDX-License-Identifier: GPL-3.0-or-later
// Trigger T_A: argument 1 of an APR file function is open on a socket. Asks APR for the descriptor,
// as its layout is private to it.
#include <ordeal.h>

#include <dlfcn.h>
#include <sys/stat.h>

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
    int descriptor;
    struct stat file;
    return descriptor_of(&descriptor, (void *)call->arguments[0]) == 0 &&
           fstat(descriptor, &file) == 0 && S_ISSOCK(file.st_mode);
}

ORDEAL_TRIGGER(apr_socket, init, eval);
