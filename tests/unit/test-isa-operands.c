// SPDX-License-Identifier: GPL-3.0-or-later
// What instructions read, to the bit; and copies of instructions that work elsewhere.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "isa/operands.h"
#include "isa/relocate.h"

enum { RAX, RDX, RCX, RBX, RSI, RDI, RBP, RSP };
#define ADDRESS 0x1000u

static struct isa_reads reads_of(const unsigned char *bytes, size_t size)
{
    struct isa_decoder decoder;
    struct isa_reads reads = {0};
    isa_decoder_init(&decoder);
    assert_true(isa_reads(&decoder, bytes, size, ADDRESS, &reads));
    return reads;
}
#define READS(...)                                                                                 \
    reads_of((const unsigned char[]){__VA_ARGS__}, sizeof(unsigned char[]){__VA_ARGS__})

static const struct isa_read *find(const struct isa_reads *reads, enum isa_read_kind kind,
                                   unsigned number)
{
    for (size_t i = 0; i < reads->count; i++)
        if (reads->items[i].kind == kind &&
            (kind > ISA_READ_VECTOR || reads->items[i].number == number))
            return &reads->items[i];
    return NULL;
}

static void expect_bits(const struct isa_reads *reads, enum isa_read_kind kind, unsigned number,
                        unsigned first, unsigned bits)
{
    const struct isa_read *read = find(reads, kind, number);
    assert_non_null(read);
    assert_int_equal(read->first_bit, first);
    assert_int_equal(read->bits, bits);
}

static void expect_change(const struct isa_reads *reads, unsigned number, unsigned first,
                          unsigned bits, bool always)
{
    for (size_t i = 0; i < reads->change_count; i++) {
        const struct isa_change *change = &reads->changes[i];
        if (change->number != number)
            continue;
        assert_int_equal(change->first_bit, first);
        assert_int_equal(change->bits, bits);
        assert_int_equal(change->always, always);
        return;
    }
    fail_msg("register %u is not changed", number);
}

static void changes(void **state)
{
    struct isa_reads reads = READS(0x89, 0xc8); // mov eax, ecx: the upper half is cleared
    assert_int_equal(reads.change_count, 1);
    expect_change(&reads, RAX, 0, 64, true);
    reads = READS(0xb4, 0x05); // mov ah, 5
    expect_change(&reads, RAX, 8, 8, true);
    reads = READS(0x66, 0xb8, 0x05, 0x00); // mov ax, 5
    expect_change(&reads, RAX, 0, 16, true);
    reads = READS(0x0f, 0x44, 0xc1); // cmove eax, ecx
    expect_change(&reads, RAX, 0, 64, false);
    reads = READS(0x48, 0x39, 0xd8); // cmp rax, rbx
    assert_int_equal(reads.change_count, 0);
    assert_false(reads.flags_may_stay);
    reads = READS(0xd3, 0xe0); // shl eax, cl
    assert_true(reads.flags_may_stay);
    reads = READS(0xc1, 0xe0, 0x03); // shl eax, 3
    assert_false(reads.flags_may_stay);
    reads = READS(0xf3, 0xaa); // rep stosb
    assert_true(reads.repeats && reads.flags_may_stay);
    expect_change(&reads, RCX, 0, 64, false); // not if it is 0
    reads = READS(0x59);                      // pop rcx
    expect_change(&reads, RCX, 0, 64, true);
    expect_change(&reads, RSP, 0, 64, true);
    reads = READS(0x90); // nop
    assert_int_equal(reads.change_count, 0);
}

static void registers(void **state)
{
    struct isa_reads reads = READS(0x48, 0x39, 0xd8); // cmp rax, rbx
    assert_int_equal(reads.count, 2);
    expect_bits(&reads, ISA_READ_GENERAL, RAX, 0, 64);
    expect_bits(&reads, ISA_READ_GENERAL, RBX, 0, 64);
    assert_int_equal(reads.flags_written & 0x40, 0x40);
    reads = READS(0x3c, 0x05); // cmp al, 5
    assert_int_equal(reads.count, 1);
    expect_bits(&reads, ISA_READ_GENERAL, RAX, 0, 8);
    reads = READS(0x80, 0xfc, 0x05); // cmp ah, 5
    expect_bits(&reads, ISA_READ_GENERAL, RAX, 8, 8);
    reads = READS(0x89, 0xc8); // mov eax, ecx
    assert_int_equal(reads.count, 1);
    expect_bits(&reads, ISA_READ_GENERAL, RCX, 0, 32);
    reads = READS(0x31, 0xc0); // xor eax, eax
    assert_int_equal(reads.count, 0);
    reads = READS(0x0f, 0x1f, 0x40, 0x00); // nop dword [rax]
    assert_int_equal(reads.count, 0);
    reads = READS(0xf2, 0x0f, 0x58, 0xc1); // addsd xmm0, xmm1
    expect_bits(&reads, ISA_READ_VECTOR, 1, 0, 64);
    reads = READS(0x0f, 0x05); // syscall
    assert_true(reads.system_call);
    expect_bits(&reads, ISA_READ_GENERAL, RAX, 0, 32);
}

static void flags(void **state)
{
    struct isa_reads reads = READS(0x74, 0x02); // je
    assert_int_equal(find(&reads, ISA_READ_FLAGS, 0)->flags, 0x40);
    reads = READS(0x7e, 0x02); // jle: ZF, SF, OF
    assert_int_equal(find(&reads, ISA_READ_FLAGS, 0)->flags, 0x8c0);
    reads = READS(0xeb, 0x02); // jmp
    assert_null(find(&reads, ISA_READ_FLAGS, 0));
}

static void memory(void **state)
{
    struct isa_reads reads = READS(0x8b, 0x44, 0x8b, 0x10); // mov eax, [rbx + rcx * 4 + 16]
    const struct isa_read *read = find(&reads, ISA_READ_MEMORY, 0);
    assert_non_null(read);
    assert_int_equal(read->base, RBX);
    assert_int_equal(read->index, RCX);
    assert_int_equal(read->scale, 4);
    assert_int_equal(read->displacement, 16);
    assert_int_equal(read->bits, 32);
    assert_false(read->written);
    assert_true(find(&reads, ISA_READ_GENERAL, RBX)->address);
    reads = READS(0x83, 0x05, 0x10, 0, 0, 0, 1); // add dword [rip + 16], 1
    read = find(&reads, ISA_READ_MEMORY, 0);
    assert_int_equal(read->base, ISA_PC);
    assert_int_equal(read->displacement, ADDRESS + 7 + 16);
    assert_true(read->written);
    reads = READS(0x89, 0x03); // mov [rbx], eax
    assert_null(find(&reads, ISA_READ_MEMORY, 0));
    reads = READS(0x48, 0x8d, 0x03); // lea rax, [rbx]
    assert_null(find(&reads, ISA_READ_MEMORY, 0));
    assert_non_null(find(&reads, ISA_READ_GENERAL, RBX));
    reads = READS(0x64, 0x8b, 0x03); // mov eax, fs:[rbx]
    assert_null(find(&reads, ISA_READ_MEMORY, 0));
}

static struct isa_relocated copy_of(const unsigned char *bytes, size_t size, bool possible)
{
    struct isa_decoder decoder;
    struct isa_relocated copy = {0};
    isa_decoder_init(&decoder);
    assert_int_equal(isa_relocate(&decoder, bytes, size, ADDRESS, &copy), possible);
    return copy;
}
#define COPY(possible, ...)                                                                        \
    copy_of((const unsigned char[]){__VA_ARGS__}, sizeof(unsigned char[]){__VA_ARGS__}, possible)

static void copies(void **state)
{
    struct isa_relocated copy = COPY(true, 0x48, 0x39, 0xd8);
    assert_int_equal(copy.size, 3);
    assert_int_equal(copy.displacement, 0);
    copy = COPY(true, 0x75, 0x10); // jne, short
    assert_int_equal(copy.size, 6);
    assert_int_equal(copy.bytes[1], 0x85);
    assert_int_equal(copy.target, ADDRESS + 2 + 16);
    copy = COPY(true, 0x0f, 0x84, 0, 1, 0, 0); // je
    assert_int_equal(copy.bytes[1], 0x84);
    assert_int_equal(copy.target, ADDRESS + 6 + 256);
    copy = COPY(true, 0xeb, 0xfe); // jmp to itself
    assert_int_equal(copy.bytes[0], 0xe9);
    assert_int_equal(copy.target, ADDRESS);
    copy = COPY(true, 0x83, 0x3d, 0x10, 0, 0, 0, 5); // cmp dword [rip + 16], 5
    assert_int_equal(copy.displacement, 2);
    assert_int_equal(copy.size, 7);
    assert_int_equal(copy.target, ADDRESS + 7 + 16);
    COPY(false, 0xe8, 1, 2, 3, 4); // call
    COPY(false, 0xff, 0xd0);       // call rax
    COPY(false, 0xe2, 0x10);       // loop
    COPY(false, 0xe3, 0x10);       // jrcxz
    COPY(false, 0x06);             // nothing
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes), cmocka_unit_test(registers), cmocka_unit_test(flags),
        cmocka_unit_test(memory),  cmocka_unit_test(copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
