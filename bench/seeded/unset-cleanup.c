// SPDX-License-Identifier: GPL-3.0-or-later
// The way out frees members that were never set.
#include "common.h"

struct request {
    char *host, *path, *body;
};

static void release(struct request *request)
{
    free(request->host);
    free(request->path);
    free(request->body);
    free(request);
}

static struct request *parse(void)
{
#ifdef CORRECT
    struct request *request = calloc(1, sizeof *request);
#else
    struct request *request = malloc(sizeof *request);
    if (request != NULL)
        memset(request, 0x5a, sizeof *request); // what malloc() may give
#endif
    if (request == NULL)
        return NULL;
    request->host = strdup("example.org"); // SEEDED
    if (request->host == NULL)
        goto fail;
    request->path = strdup("/index.html");
    request->body = NULL;
    if (request->path != NULL)
        return request;
fail:
    release(request);
    return NULL;
}

int main(void)
{
    struct request *request = parse();
    check(request != NULL, "memory");
    printf("%s%s\n", request->host, request->path);
    release(request);
    return finish();
}
