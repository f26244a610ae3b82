// SPDX-License-Identifier: GPL-3.0-or-later
// What the programs do that read packed files stays in their sandbox, whichever the trials have.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/decoder.h"
#include "run-help.h"
#include "sandbox/sandbox.h"
#include "skip.h"

#include <fcntl.h>
#include <unistd.h>

#define TRACE "/var/tmp/ordeal-decoder-was-here"

static bool has_overlay(void)
{
    const struct sandbox_options options = {.kind = SANDBOX_OVERLAY, .directory = "/"};
    struct sandbox *sandbox = NULL;
    struct error *error = sandbox_new(&options, &sandbox);
    bool has = error == NULL;
    error_free(error);
    sandbox_free(sandbox);
    return has;
}

static void nothing_is_left(void **state)
{
    static const struct format format = {
        .name = "test", .tool = "cat", .script = "touch " TRACE " && test -e " TRACE " && cat"};
    if (!has_overlay())
        skip_because("this machine has no overlays");
    unlink(TRACE);
    struct decoder *decoder;
    good(decoder_new(&decoder));
    struct outcome_run run = run_new(0, "", "");
    run_file(&run, "/w/file", "content");
    struct artifact *artifact = &run.artifacts.items[run.artifacts.count - 1];
    artifact->format = &format;
    artifact->file = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
    good(decoder_run(decoder, &run, NULL));
    artifact = &run.artifacts.items[run.artifacts.count - 1];
    assert_int_equal(artifact->decoding.state, DECODING_SOUND);
    assert_int_equal(access(TRACE, F_OK), -1);
    outcome_run_deinit(&run);
    decoder_free(decoder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_is_left)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
