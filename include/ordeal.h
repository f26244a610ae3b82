/* SPDX-License-Identifier: MIT */
/* The public header of Ordeal: triggers of your own, as a shared object.
 *
 *   cc -shared -fPIC -o odd_size.so odd_size.c
 *   ordeal run --plugin ./odd_size.so --inject 'read=-1/EIO when plugin(odd_size, above: 4096)' --
 * ...
 *
 * A plug-in runs inside the target, on the thread that makes the intercepted call. It may call any
 * library function: its own calls are never intercepted. It must be thread safe, and should be
 * quick.
 */
#ifndef ORDEAL_H
#define ORDEAL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ORDEAL_TRIGGER_VERSION 1

/* One parameter of the scenario, as text. */
struct ordeal_parameter {
    const char *name, *value;
};

/* The intercepted call. Valid during eval only. */
struct ordeal_call {
    const char *function;       /* its name, without version */
    uint64_t occurrence;        /* this is the n-th call of the function in this process */
    const uint64_t *arguments;  /* the six integer argument registers */
    const uint64_t *stack;      /* the further arguments, as 8-byte words */
    const void *return_address; /* where the call returns to */
};

struct ordeal_trigger {
    unsigned version; /* ORDEAL_TRIGGER_VERSION */
    /* Called once per instance and process, before its first eval. Stores what eval needs in
     * *state. Not 0: the instance is unusable; its rules never fire and the report says so. May be
     * NULL. */
    int (*init)(const struct ordeal_parameter *parameters, size_t count, void **state);
    /* Not 0: the condition holds. */
    int (*eval)(void *state, const struct ordeal_call *call);
};

/* Defines trigger NAME: ORDEAL_TRIGGER(odd_size, init, eval); */
#define ORDEAL_TRIGGER(name, init_function, eval_function)                                         \
    __attribute__((                                                                                \
        visibility("default"))) extern const struct ordeal_trigger ordeal_trigger_##name;          \
    const struct ordeal_trigger ordeal_trigger_##name = {ORDEAL_TRIGGER_VERSION, init_function,    \
                                                         eval_function}

#ifdef __cplusplus
}
#endif

#endif
