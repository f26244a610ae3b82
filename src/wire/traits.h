// SPDX-License-Identifier: GPL-3.0-or-later
// What functions of the C library do when they fail, beyond what they return. With these facts an
// injected failure looks like a real one. The runtime needs them, since only it knows which
// functions a glob stands for; the controller refuses and explains by them. Also: which libraries
// watch over programs.
#ifndef ORDEAL_WIRE_TRAITS_H
#define ORDEAL_WIRE_TRAITS_H

#include <stddef.h>
#include <stdint.h>

enum wire_trait {
    WIRE_TRAIT_RELEASES = 1 << 0,     // releases its argument even when it fails
    WIRE_TRAIT_NOT_CALLABLE = 1 << 1, // returns twice or never, or looks at its caller: cannot be
                                      // called on the caller's behalf
    WIRE_TRAIT_END_IS_0 = 1 << 2,     // returning 0 without an errno is the end of the stream
    WIRE_TRAIT_END_IS_EOF = 1 << 3,   // returning EOF without an errno is
    WIRE_TRAIT_DROPS_BUFFER = 1 << 4, // argument 1 is a FILE; an errno means its buffer is lost
    WIRE_TRAIT_CONNECTION = 1 << 5,   // argument 1 is a descriptor; an errno like ECONNRESET means
                                      // that its connection is gone
    WIRE_TRAIT_COMPLEX_LONG = 1 << 6, // returns complex long double: st(0) and st(1)
    WIRE_TRAIT_IN_MEMORY = 1 << 7,    // returns a structure where its caller says; argument 1 is
                                      // the place
    WIRE_TRAIT_STREAM_WRITE = 1 << 8, // writes what a FILE has buffered
};

// In place of an argument's number: a standard stream, which is no argument.
#define WIRE_TRAITS_STDIN  254
#define WIRE_TRAITS_STDOUT 255

struct wire_traits {
    char name[24];
    uint8_t stream; // which argument is the FILE, from 1, or WIRE_TRAITS_STD*; 0: none
    uint16_t flags; // enum wire_trait
};

// Sorted by byte value.
static const struct wire_traits wire_traits_table[] = {
    {"_IO_fclose", 0, WIRE_TRAIT_RELEASES | WIRE_TRAIT_DROPS_BUFFER},
    {"_IO_file_write", 1, WIRE_TRAIT_STREAM_WRITE},
    {"_IO_getc", 1, WIRE_TRAIT_END_IS_EOF},
    {"_IO_printf", WIRE_TRAITS_STDOUT, 0},
    {"_IO_putc", 2, 0},
    {"_IO_puts", WIRE_TRAITS_STDOUT, 0},
    {"__close", 0, WIRE_TRAIT_RELEASES},
    {"__fgets_chk", 4, WIRE_TRAIT_END_IS_0},
    {"__fgets_unlocked_chk", 4, WIRE_TRAIT_END_IS_0},
    {"__fgetws_chk", 4, WIRE_TRAIT_END_IS_0},
    {"__fprintf_chk", 1, 0},
    {"__fread_chk", 5, WIRE_TRAIT_END_IS_0},
    {"__fread_unlocked_chk", 5, WIRE_TRAIT_END_IS_0},
    {"__fwprintf_chk", 1, 0},
    {"__getdelim", 4, WIRE_TRAIT_END_IS_EOF},
    {"__isoc23_fscanf", 1, WIRE_TRAIT_END_IS_EOF},
    {"__isoc23_scanf", WIRE_TRAITS_STDIN, WIRE_TRAIT_END_IS_EOF},
    {"__isoc23_vscanf", WIRE_TRAITS_STDIN, WIRE_TRAIT_END_IS_EOF},
    {"__isoc99_fscanf", 1, WIRE_TRAIT_END_IS_EOF},
    {"__isoc99_scanf", WIRE_TRAITS_STDIN, WIRE_TRAIT_END_IS_EOF},
    {"__isoc99_vscanf", WIRE_TRAITS_STDIN, WIRE_TRAIT_END_IS_EOF},
    {"__overflow", 1, 0},
    {"__printf_chk", WIRE_TRAITS_STDOUT, 0},
    {"__read_chk", 0, WIRE_TRAIT_CONNECTION},
    {"__recv_chk", 0, WIRE_TRAIT_CONNECTION},
    {"__recvfrom_chk", 0, WIRE_TRAIT_CONNECTION},
    {"__sigsetjmp", 0, WIRE_TRAIT_NOT_CALLABLE},
    {"__uflow", 1, WIRE_TRAIT_END_IS_EOF},
    {"__underflow", 1, WIRE_TRAIT_END_IS_EOF},
    {"__vfprintf_chk", 1, 0},
    {"__vprintf_chk", WIRE_TRAITS_STDOUT, 0},
    {"__vwprintf_chk", WIRE_TRAITS_STDOUT, 0},
    {"__wprintf_chk", WIRE_TRAITS_STDOUT, 0},
    {"_exit", 0, WIRE_TRAIT_NOT_CALLABLE},
    {"_setjmp", 0, WIRE_TRAIT_NOT_CALLABLE},
    {"abort", 0, WIRE_TRAIT_NOT_CALLABLE},
    {"cacoshl", 0, WIRE_TRAIT_COMPLEX_LONG},
    {"cacosl", 0, WIRE_TRAIT_COMPLEX_LONG},
    {"casinhl", 0, WIRE_TRAIT_COMPLEX_LONG},
    {"casinl", 0, WIRE_TRAIT_COMPLEX_LONG},
    {"catanhl", 0, WIRE_TRAIT_COMPLEX_LONG},
    {"catanl", 0, WIRE_TRAIT_COMPLEX_LONG},
    {"ccoshl", 0, WIRE_TRAIT_COMPLEX_LONG},
    {"ccosl", 0, WIRE_TRAIT_COMPLEX_LONG},
    {"cexpl", 0, WIRE_TRAIT_COMPLEX_LONG},
    {"clog10l", 0, WIRE_TRAIT_COMPLEX_LONG},
    {"clogl", 0, WIRE_TRAIT_COMPLEX_LONG},
    {"clone", 0, WIRE_TRAIT_NOT_CALLABLE},
    {"close", 0, WIRE_TRAIT_RELEASES},
    {"closedir", 0, WIRE_TRAIT_RELEASES},
    {"conjl", 0, WIRE_TRAIT_COMPLEX_LONG},
    {"cpowl", 0, WIRE_TRAIT_COMPLEX_LONG},
    {"cprojl", 0, WIRE_TRAIT_COMPLEX_LONG},
    {"csinhl", 0, WIRE_TRAIT_COMPLEX_LONG},
    {"csinl", 0, WIRE_TRAIT_COMPLEX_LONG},
    {"csqrtl", 0, WIRE_TRAIT_COMPLEX_LONG},
    {"ctanhl", 0, WIRE_TRAIT_COMPLEX_LONG},
    {"ctanl", 0, WIRE_TRAIT_COMPLEX_LONG},
    {"dlmopen", 0, WIRE_TRAIT_NOT_CALLABLE},
    {"dlopen", 0, WIRE_TRAIT_NOT_CALLABLE},
    {"dlsym", 0, WIRE_TRAIT_NOT_CALLABLE},
    {"dlvsym", 0, WIRE_TRAIT_NOT_CALLABLE},
    {"exit", 0, WIRE_TRAIT_NOT_CALLABLE},
    {"fclose", 0, WIRE_TRAIT_RELEASES | WIRE_TRAIT_DROPS_BUFFER},
    {"fcloseall", 0, WIRE_TRAIT_RELEASES},
    {"fflush", 1, 0},
    {"fflush_unlocked", 1, 0},
    {"fgetc", 1, WIRE_TRAIT_END_IS_EOF},
    {"fgetc_unlocked", 1, WIRE_TRAIT_END_IS_EOF},
    {"fgets", 3, WIRE_TRAIT_END_IS_0},
    {"fgets_unlocked", 3, WIRE_TRAIT_END_IS_0},
    {"fgetwc", 1, WIRE_TRAIT_END_IS_EOF},
    {"fgetwc_unlocked", 1, WIRE_TRAIT_END_IS_EOF},
    {"fgetws", 3, WIRE_TRAIT_END_IS_0},
    {"fgetws_unlocked", 3, WIRE_TRAIT_END_IS_0},
    {"fork", 0, WIRE_TRAIT_NOT_CALLABLE},
    {"fprintf", 1, 0},
    {"fputc", 2, 0},
    {"fputc_unlocked", 2, 0},
    {"fputs", 2, 0},
    {"fputs_unlocked", 2, 0},
    {"fputwc", 2, 0},
    {"fputwc_unlocked", 2, 0},
    {"fputws", 2, 0},
    {"fputws_unlocked", 2, 0},
    {"fread", 4, WIRE_TRAIT_END_IS_0},
    {"fread_unlocked", 4, WIRE_TRAIT_END_IS_0},
    {"fscanf", 1, WIRE_TRAIT_END_IS_EOF},
    {"fwprintf", 1, 0},
    {"fwrite", 4, 0},
    {"fwrite_unlocked", 4, 0},
    {"getc", 1, WIRE_TRAIT_END_IS_EOF},
    {"getc_unlocked", 1, WIRE_TRAIT_END_IS_EOF},
    {"getchar", WIRE_TRAITS_STDIN, WIRE_TRAIT_END_IS_EOF},
    {"getchar_unlocked", WIRE_TRAITS_STDIN, WIRE_TRAIT_END_IS_EOF},
    {"getcontext", 0, WIRE_TRAIT_NOT_CALLABLE},
    {"getdelim", 4, WIRE_TRAIT_END_IS_EOF},
    {"getline", 3, WIRE_TRAIT_END_IS_EOF},
    {"gets", WIRE_TRAITS_STDIN, WIRE_TRAIT_END_IS_0},
    {"getw", 1, WIRE_TRAIT_END_IS_EOF},
    {"getwc", 1, WIRE_TRAIT_END_IS_EOF},
    {"getwc_unlocked", 1, WIRE_TRAIT_END_IS_EOF},
    {"getwchar", WIRE_TRAITS_STDIN, WIRE_TRAIT_END_IS_EOF},
    {"getwchar_unlocked", WIRE_TRAITS_STDIN, WIRE_TRAIT_END_IS_EOF},
    {"gzclose", 0, WIRE_TRAIT_RELEASES},
    {"gzclose_r", 0, WIRE_TRAIT_RELEASES},
    {"gzclose_w", 0, WIRE_TRAIT_RELEASES},
    {"longjmp", 0, WIRE_TRAIT_NOT_CALLABLE},
    {"mallinfo", 0, WIRE_TRAIT_IN_MEMORY},
    {"mallinfo2", 0, WIRE_TRAIT_IN_MEMORY},
    {"pclose", 0, WIRE_TRAIT_RELEASES},
    {"printf", WIRE_TRAITS_STDOUT, 0},
    {"pthread_exit", 0, WIRE_TRAIT_NOT_CALLABLE},
    {"putc", 2, 0},
    {"putc_unlocked", 2, 0},
    {"putchar", WIRE_TRAITS_STDOUT, 0},
    {"putchar_unlocked", WIRE_TRAITS_STDOUT, 0},
    {"puts", WIRE_TRAITS_STDOUT, 0},
    {"putw", 2, 0},
    {"putwc", 2, 0},
    {"putwc_unlocked", 2, 0},
    {"putwchar", WIRE_TRAITS_STDOUT, 0},
    {"putwchar_unlocked", WIRE_TRAITS_STDOUT, 0},
    {"read", 0, WIRE_TRAIT_CONNECTION},
    {"readv", 0, WIRE_TRAIT_CONNECTION},
    {"recv", 0, WIRE_TRAIT_CONNECTION},
    {"recvfrom", 0, WIRE_TRAIT_CONNECTION},
    {"recvmsg", 0, WIRE_TRAIT_CONNECTION},
    {"scanf", WIRE_TRAITS_STDIN, WIRE_TRAIT_END_IS_EOF},
    {"send", 0, WIRE_TRAIT_CONNECTION},
    {"sendfile", 0, WIRE_TRAIT_CONNECTION},
    {"sendfile64", 0, WIRE_TRAIT_CONNECTION},
    {"sendmsg", 0, WIRE_TRAIT_CONNECTION},
    {"sendto", 0, WIRE_TRAIT_CONNECTION},
    {"setjmp", 0, WIRE_TRAIT_NOT_CALLABLE},
    {"siglongjmp", 0, WIRE_TRAIT_NOT_CALLABLE},
    {"sigsetjmp", 0, WIRE_TRAIT_NOT_CALLABLE},
    {"swapcontext", 0, WIRE_TRAIT_NOT_CALLABLE},
    {"vfork", 0, WIRE_TRAIT_NOT_CALLABLE},
    {"vfprintf", 1, 0},
    {"vfscanf", 1, WIRE_TRAIT_END_IS_EOF},
    {"vfwprintf", 1, 0},
    {"vprintf", WIRE_TRAITS_STDOUT, 0},
    {"vscanf", WIRE_TRAITS_STDIN, WIRE_TRAIT_END_IS_EOF},
    {"vwprintf", WIRE_TRAITS_STDOUT, 0},
    {"wprintf", WIRE_TRAITS_STDOUT, 0},
    {"write", 0, WIRE_TRAIT_CONNECTION},
    {"writev", 0, WIRE_TRAIT_CONNECTION},
};
#define WIRE_TRAITS (sizeof wire_traits_table / sizeof *wire_traits_table)

// The traits of a function, or NULL.
static inline const struct wire_traits *wire_traits_find(const char *name)
{
    size_t low = 0, high = WIRE_TRAITS;
    while (low < high) {
        const struct wire_traits *row = &wire_traits_table[(low + high) / 2];
        const unsigned char *a = (const unsigned char *)row->name;
        const unsigned char *b = (const unsigned char *)name;
        while (*a != '\0' && *a == *b)
            a++, b++;
        if (*a == *b)
            return row;
        if (*a < *b)
            low = (size_t)(row - wire_traits_table) + 1;
        else
            high = (size_t)(row - wire_traits_table);
    }
    return NULL;
}

// Which argument is the FILE, also of functions that release it; as in struct wire_traits.
static inline unsigned wire_traits_stream(const struct wire_traits *traits)
{
    if (traits == NULL)
        return 0;
    return (traits->flags & WIRE_TRAIT_DROPS_BUFFER) != 0 ? 1 : traits->stream;
}

// Libraries that watch over the program, by the beginnings of their file names. No rule applies to
// their calls unless it names them.
static const char wire_sanitizers[][16] = {"libasan",  "libhwasan",   "liblsan",   "libtsan",
                                           "libubsan", "libclang_rt", "vgpreload_"};
#define WIRE_SANITIZERS (sizeof wire_sanitizers / sizeof *wire_sanitizers)
// Likewise all modules of a program of this name, or of this name with ".bin": it runs another
// program under its control.
#define WIRE_LAUNCHER "valgrind"

#endif
