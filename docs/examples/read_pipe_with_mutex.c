// A trigger of your own: true for a read of 1 to 4 KB from a pipe while the thread holds a mutex.
//
//   cc -shared -fPIC -I/usr/local/include -o read_pipe_with_mutex.so read_pipe_with_mutex.c
//   ordeal run --plugin ./read_pipe_with_mutex.so --scenario read_pipe_with_mutex.xml -- ./server
//
// The scenario shows it the locks and unlocks as well, so that it can count them; parameters `low`
// and `high` change the sizes. (Without a plug-in the same condition reads
// `holding_mutex and fd(1).pipe and arg(3) in 1024..4096`.)
#include <ordeal.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static _Thread_local int mutexes_held;

struct bounds {
    size_t low, high;
};

static int init(const struct ordeal_parameter *parameters, size_t count, void **state)
{
    struct bounds *bounds = malloc(sizeof *bounds);
    if (bounds == NULL)
        return -1;
    *bounds = (struct bounds){1024, 4096};
    for (size_t i = 0; i < count; i++) {
        if (strcmp(parameters[i].name, "low") == 0)
            bounds->low = strtoul(parameters[i].value, NULL, 0);
        if (strcmp(parameters[i].name, "high") == 0)
            bounds->high = strtoul(parameters[i].value, NULL, 0);
    }
    *state = bounds;
    return 0;
}

static int eval(void *state, const struct ordeal_call *call)
{
    const struct bounds *bounds = state;
    if (strcmp(call->function, "pthread_mutex_lock") == 0)
        mutexes_held++;
    else if (strcmp(call->function, "pthread_mutex_unlock") == 0)
        mutexes_held--;
    else if (strcmp(call->function, "read") == 0 && mutexes_held > 0) {
        int descriptor = (int)call->arguments[0];
        size_t size = call->arguments[2];
        struct stat file;
        return size >= bounds->low && size <= bounds->high && fstat(descriptor, &file) == 0 &&
               S_ISFIFO(file.st_mode);
    }
    return 0;
}

ORDEAL_TRIGGER(read_pipe_with_mutex, init, eval);
