// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes as a program: the software faults of their code, the bytes that make them, and enabling
// them in the file.
#include "base/cleanup.h"
#include "elf/object.h"
#include "flow/image.h"
#include "mutate/binary/binary.h"
#include "mutate/binary/plain.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// A patch lies in its function, and changes something.
static void check(const struct flow_image *image, const struct binary_fault *fault)
{
    const struct flow_function *function = &image->functions.items[fault->function];
    const struct binary_patch *patch = &fault->patch;
    if (patch->size != 0 && (patch->size > BINARY_PATCH || patch->address < function->start ||
                             patch->address + patch->size > function->end ||
                             memcmp(patch->before, patch->after, patch->size) == 0))
        abort();
}

static struct error *look(const char *path)
{
    struct elf_object *object = NULL;
    struct flow_image *image = NULL;
    struct binary_faults faults = {0};
    struct error *error = elf_object_open(path, &object);
    if (error == NULL)
        error = flow_image_open(object, &image);
    if (error == NULL)
        error = binary_find(image, &faults);
    for (size_t i = 0; error == NULL && i < faults.items.count; i++)
        check(image, &faults.items.items[i]);
    binary_faults_deinit(&faults);
    flow_image_close(image);
    elf_object_close(object);
    return error;
}

// What is enabled is put into a note, also if the bytes had one.
static struct error *enable_some(struct image *image, bool *enabled)
{
    for (size_t i = 0; i < image->candidates.count && i < 8; i++) {
        struct image_patches patches = {0};
        enabled[i] = !enabled[i];
        struct error *error = image_enable(image, enabled, &patches);
        enabled[i] ^= error != NULL; // two may not go together
        error_free(error);
        image_patches_deinit(&patches);
    }
    _cleanup_(buffer_deinit) struct buffer note = {0};
    return image_put_note(image, enabled, &note);
}

static struct error *enable_in(const char *path)
{
    _cleanup_(image_close) struct image image = {0};
    _cleanup_free_ bool *enabled = NULL;
    struct plain_counts counts;
    TRY(plain_open(path, &image, &counts));
    TRY(image_enabled(&image, &enabled));
    return image.plain ? enable_some(&image, enabled) : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    _cleanup_close_ int file = memfd_create("fuzz-mutate-binary", MFD_CLOEXEC);
    char path[64];
    if (file < 0 || write(file, data, size) != (ssize_t)size)
        return 0;
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    error_free(look(path));
    error_free(enable_in(path));
    return 0;
}
