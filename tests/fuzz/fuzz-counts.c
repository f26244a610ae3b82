// SPDX-License-Identifier: GPL-3.0-or-later
// A program that counts and a file of its counts, as bytes from anywhere: the first two bytes say
// how many pages of the rest are the file of counts.
#include "fidelity/measure.h"
#include "mutate/counts.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct error *measure(struct fidelity_subject *subject, struct counts_file *file)
{
    struct fidelity_workload workload = {0};
    struct fidelity_result result = {0};
    struct fidelity_match match = {0};
    struct counts_run *run = ARRAY_ADD(&workload.runs);
    struct counts_file *only = run != NULL ? ARRAY_ADD(&run->files) : NULL;
    if (only == NULL)
        return error_no_memory();
    *only = *file;
    *file = (struct counts_file){0};
    struct error *error = fidelity_workload_add_up(&workload, subject);
    if (error == NULL)
        error = fidelity_measure(subject, &workload, &result);
    if (error == NULL)
        error = fidelity_match(&result, NULL, &match);
    fidelity_match_deinit(&match);
    fidelity_result_deinit(&result);
    fidelity_workload_deinit(&workload);
    return error;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    size_t counts = (size_t)data[0] % 8 * COUNTS_PAGE + data[1];
    data += 2;
    size -= 2;
    counts = counts < size ? counts : size;
    struct buffer bytes = {0}, program = {0};
    struct counts_file file = {0};
    struct image image = {0};
    struct fidelity_subject subject = {0};
    error_free(buffer_append(&bytes, data, counts));
    error_free(buffer_append(&program, data + counts, size - counts));
    struct error *error = counts_file_parse("fuzzed", &bytes, &file);
    error_free(error);
    error = image_parse("fuzzed", &program, &image);
    if (error == NULL)
        error = fidelity_subject_take(&subject, &image);
    if (error == NULL)
        error = fidelity_subject_finish(&subject);
    if (error == NULL)
        error = measure(&subject, &file);
    error_free(error);
    counts_file_close(&file);
    image_close(&image);
    fidelity_subject_deinit(&subject);
    return 0;
}
