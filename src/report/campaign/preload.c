// SPDX-License-Identifier: GPL-3.0-or-later
// Writes the source of a library to preload. It defines the function under its name in the
// assembler, so that no declaration in a header file is in the way, and hands every other call on
// with all its arguments.
#include "report/campaign/preload.h"

#include "base/cleanup.h"
#include "base/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAME "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

static bool is_name(const char *text)
{
    return text != NULL && *text != '\0' && text[strspn(text, NAME)] == '\0' &&
           (*text < '0' || *text > '9');
}

// Whether the rule is about the first call from one place: "F=V when caller(MODULE+0xOFFSET) and
// once".
static bool is_of_site(const char *spec)
{
    const char *caller = strstr(spec, " when caller(");
    const char *end = caller != NULL ? strstr(caller, ") and once") : NULL;
    if (end == NULL || end[strlen(") and once")] != '\0')
        return false;
    caller += strlen(" when caller(");
    return memchr(caller, ',', (size_t)(end - caller)) == NULL;
}

bool preload_find(const struct store_injection *injection, const char *spec, int64_t value,
                  char error_name[32], struct preload *ret_preload)
{
    // "NULL/ENOMEM": an action with more than a result and an errno cannot be written so.
    const char *action = injection->fault != NULL ? strchr(injection->fault, '=') : NULL;
    if (action == NULL || !is_name(injection->function) || spec == NULL ||
        strstr(spec, " then ") != NULL || injection->module == NULL)
        return false;
    const char *slash = strchr(action, '/');
    if (strpbrk(action + 1, " ,:") != NULL || (slash != NULL && !is_name(slash + 1)))
        return false;
    snprintf(error_name, 32, "%s", slash != NULL ? slash + 1 : "");
    bool of_site = is_of_site(spec);
    *ret_preload = (struct preload){
        .function = injection->function,
        .value = value,
        .error = error_name,
        .module = injection->module,
        .site = of_site ? injection->offset : 0,
        .occurrence = of_site ? 1 : injection->occurrence,
    };
    return true;
}

// A C string. Whatever could end it, or begin a trigraph, is written in octal.
static struct error *put_string(const char *text, struct buffer *out)
{
    TRY(buffer_append(out, "\"", 1));
    for (; *text != '\0'; text++)
        if (strchr(NAME "-+.", *text) != NULL)
            TRY(buffer_append(out, text, 1));
        else
            TRY(buffer_printf(out, "\\%03o", (unsigned char)*text));
    return buffer_append(out, "\"", 1);
}

static struct error *put_condition(const struct preload *preload, struct buffer *text)
{
    if (preload->site == 0)
        return buffer_printf(text, "    if (++calls == %" PRIu64 ") {\n", preload->occurrence);
    TRY(buffer_printf(text, "    char *from = __builtin_return_address(0);\n"
                            "    Dl_info at;\n"
                            "    if (dladdr(from, &at) && strcmp(basename(at.dli_fname), "));
    TRY(put_string(file_base_name(preload->module), text));
    return buffer_printf(text,
                         ") == 0 &&\n"
                         "        (from - (char *)at.dli_fbase == 0x%" PRIx64
                         " || (long)from == 0x%" PRIx64 ") && ++calls == %" PRIu64 ") {\n",
                         preload->site, preload->site, preload->occurrence);
}

struct error *preload_put(const struct preload *preload, struct buffer *text)
{
    const char *function = preload->function;
    TRY(buffer_printf(text,
                      "#define _GNU_SOURCE\n"
                      "#include <dlfcn.h>\n"
                      "#include <errno.h>\n"
                      "#include <string.h>\n"
                      "\n"
                      "long failing(void) __asm__(\"%s\");\n"
                      "long failing(void)\n"
                      "{\n"
                      "    static unsigned long calls;\n"
                      "    static void *original;\n"
                      "    void *arguments = __builtin_apply_args();\n",
                      function));
    TRY(put_condition(preload, text));
    if (*preload->error != '\0')
        TRY(buffer_printf(text, "        errno = %s;\n", preload->error));
    return buffer_printf(text,
                         "        return %" PRId64 ";\n"
                         "    }\n"
                         "    if (original == NULL)\n"
                         "        original = dlsym(RTLD_NEXT, \"%s\");\n"
                         "    __builtin_return(__builtin_apply((void (*)())original, arguments, "
                         "128));\n"
                         "}\n",
                         preload->value, function);
}
