// SPDX-License-Identifier: GPL-3.0-or-later
// The first instructions of the tiny guest. QEMU starts it by the PVH protocol: 32 bits, no paging.
// Builds page tables that map the first GiB to itself, and goes on in 64 bits.
    .section .note.pvh, "a", @note
    .align 4
    .long 4, 4, 18 // XEN_ELFNOTE_PHYS32_ENTRY
    .asciz "Xen"
    .long start

    .section .text.start, "ax"
    .code32
    .globl start
start:
    cli
    mov $stack_end, %esp
    mov $table3 + 3, %eax
    mov %eax, table4
    mov $table2 + 3, %eax
    mov %eax, table3
    xor %ecx, %ecx
    mov $0x83, %eax // a page of 2 MiB, present and writable
fill:
    mov %eax, table2(, %ecx, 8)
    add $0x200000, %eax
    inc %ecx
    cmp $512, %ecx
    jne fill
    mov $table4, %eax
    mov %eax, %cr3
    mov %cr4, %eax
    or $0x20, %eax // PAE
    mov %eax, %cr4
    mov $0xc0000080, %ecx // EFER
    rdmsr
    or $0x100, %eax // long mode
    wrmsr
    mov %cr0, %eax
    or $0x80000001, %eax // paging, protected mode
    mov %eax, %cr0
    lgdt descriptors
    ljmp $8, $in64
    .code64
in64:
    xor %eax, %eax
    mov %eax, %ds
    mov %eax, %es
    mov %eax, %ss
    call kernel_main
halt:
    cli
    hlt
    jmp halt

// One entry for each exception that the processor knows: its number and the address are all that
// is told.
    .macro exception number, has_code
    .align 16
    .if \has_code == 0
    push $0
    .endif
    mov 8(%rsp), %rsi
    mov $\number, %edi
    jmp kernel_exception
    .endm
    .align 16
    .globl exceptions
exceptions:
    .irp number, 0, 1, 2, 3, 4, 5, 6, 7
    exception \number, 0
    .endr
    exception 8, 1
    exception 9, 0
    .irp number, 10, 11, 12, 13, 14
    exception \number, 1
    .endr
    exception 15, 0
    exception 16, 0
    exception 17, 1

    .section .data
    .align 8
table_of_segments:
    .quad 0
    .quad 0x00af9a000000ffff // code, 64 bits
descriptors:
    .word descriptors - table_of_segments - 1
    .long table_of_segments

    .section .bss
    .align 4096
table4: .skip 4096
table3: .skip 4096
table2: .skip 4096
    .skip 16384
stack_end:
    .section .note.GNU-stack, "", @progbits
