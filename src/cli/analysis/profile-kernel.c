// SPDX-License-Identifier: GPL-3.0-or-later
// Gives profiles the errors of system calls, from the built-in table or from a kernel image, and
// profiles a kernel image itself.
#include "cli/analysis/profile-kernel.h"

#include "base/cleanup.h"
#include "elf/object.h"
#include "profile/kernel/profile.h"
#include "profile/system-calls.h"

#include <string.h>
#include <sys/stat.h>

static const struct error_set *ask_kernel(const void *data, int64_t number)
{
    struct profile_kernel *kernel = (struct profile_kernel *)data;
    pthread_mutex_lock(&kernel->lock);
    if (!kernel->tried)
        kernel->error = kernel_open(kernel->path, &kernel->kernel);
    kernel->tried = true;
    if (kernel->error != NULL)
        __atomic_store_n(&kernel->failed, true, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&kernel->lock);
    return kernel->kernel != NULL ? kernel_errors(kernel->kernel, number) : NULL;
}

static void object_closep(struct elf_object **object)
{
    elf_object_close(*object);
}

// Identifies a kernel image by its build-id or, without one, by its size and time.
static struct error *identify(const char *path, char **ret_identity)
{
    _cleanup_(object_closep) struct elf_object *object = NULL;
    struct stat status = {0};
    TRY(elf_object_open_bare(path, &object));
    const char *build_id = elf_object_facts(object)->build_id;
    if (build_id != NULL) {
        *ret_identity = strdup(build_id);
        return *ret_identity != NULL ? NULL : error_no_memory();
    }
    stat(path, &status);
    if (asprintf(ret_identity, "%s %lld %lld.%09ld", path, (long long)status.st_size,
                 (long long)status.st_mtim.tv_sec, status.st_mtim.tv_nsec) < 0)
        return error_no_memory();
    return NULL;
}

struct error *profile_kernel_open(const char *path, struct profile_kernel *kernel,
                                  struct profile_options *options)
{
    char *identity = NULL;
    if (path == NULL)
        identity = strdup("built-in");
    else
        TRY(identify(path, &identity));
    if (identity == NULL)
        return error_no_memory();
    *kernel = (struct profile_kernel){
        .path = path, .identity = identity, .lock = PTHREAD_MUTEX_INITIALIZER};
    options->system_call = path != NULL ? ask_kernel : system_call_errors;
    options->system_call_data = path != NULL ? kernel : NULL;
    return NULL;
}

void profile_kernel_close(struct profile_kernel *kernel)
{
    free(kernel->identity);
    kernel_close(kernel->kernel);
    error_free(kernel->error);
}

static void kernel_closep(struct kernel **kernel)
{
    kernel_close(*kernel);
}

struct error *profile_kernel_image(const char *path, struct profile *ret_profile, bool *ret_is)
{
    _cleanup_(object_closep) struct elf_object *object = NULL;
    _cleanup_(kernel_closep) struct kernel *kernel = NULL;
    *ret_is = false;
    // Ignore the error: whoever reads the file as a library reports it.
    _cleanup_error_ struct error *unreadable = elf_object_open_bare(path, &object);
    if (unreadable != NULL || elf_object_facts(object)->dynamic)
        return NULL;
    _cleanup_error_ struct error *none = kernel_open(path, &kernel);
    if (none != NULL)
        return NULL;
    TRY(kernel_profile(kernel, path, ret_profile));
    *ret_is = true;
    return NULL;
}
