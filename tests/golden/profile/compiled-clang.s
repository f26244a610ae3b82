# SPDX-License-Identifier: GPL-3.0-or-later
# Idioms as clang -O2 compiles them.
	.text
	.intel_syntax noprefix
	.globl	with_argument
	.type	with_argument,@function
with_argument:
	push	rax
	test	edi, edi
	js	.LBB0_1
	call	step@PLT
	mov	edi, 5
	test	eax, eax
	jne	.LBB0_2
	xor	eax, eax
	pop	rcx
	ret
.LBB0_1:
	mov	edi, 22
.LBB0_2:
	call	fail
	mov	eax, -1
	pop	rcx
	ret
.Lfunc_end0:
	.size	with_argument, .Lfunc_end0-with_argument
	.type	fail,@function
fail:
	push	rbx
	mov	ebx, edi
	call	__errno_location@PLT
	mov	dword ptr [rax], ebx
	pop	rbx
	ret
.Lfunc_end1:
	.size	fail, .Lfunc_end1-fail
	.globl	table
	.type	table,@function
table:
	mov	eax, -1
	cmp	edi, 6
	ja	.LBB2_2
	movsxd	rax, edi
	lea	rcx, [rip + .Lswitch.table.table]
	mov	eax, dword ptr [rcx + 4*rax]
.LBB2_2:
	ret
.Lfunc_end2:
	.size	table, .Lfunc_end2-table
	.globl	cases
	.type	cases,@function
cases:
	push	rax
	cmp	edi, 4
	ja	.LBB3_1
	mov	eax, edi
	lea	rcx, [rip + .LJTI3_0]
	movsxd	rax, dword ptr [rcx + 4*rax]
	add	rax, rcx
	jmp	rax
.LBB3_3:
	mov	edi, 1
	call	clean@PLT
	mov	eax, -3
	pop	rcx
	ret
.LBB3_1:
	xor	eax, eax
	pop	rcx
	ret
.LBB3_4:
	mov	edi, 2
	call	step@PLT
	mov	eax, -90
	pop	rcx
	ret
.LBB3_5:
	mov	edi, 9
	call	clean@PLT
	mov	edi, 8
	call	clean@PLT
	mov	eax, -14
	pop	rcx
	ret
.LBB3_6:
	mov	edi, 1
	call	step@PLT
	mov	edi, 2
	call	step@PLT
	mov	eax, -11
	pop	rcx
	ret
.LBB3_7:
	xor	edi, edi
	call	clean@PLT
	mov	eax, -2
	pop	rcx
	ret
.Lfunc_end3:
	.size	cases, .Lfunc_end3-cases
	.section	.rodata,"a",@progbits
.LJTI3_0:
	.long	.LBB3_3-.LJTI3_0
	.long	.LBB3_4-.LJTI3_0
	.long	.LBB3_5-.LJTI3_0
	.long	.LBB3_6-.LJTI3_0
	.long	.LBB3_7-.LJTI3_0
	.text
	.globl	out
	.type	out,@function
out:
	push	rbx
	mov	rbx, rsi
	call	step@PLT
	test	eax, eax
	je	.LBB4_1
	mov	dword ptr [rbx], 7
	mov	eax, -1
	pop	rbx
	ret
.LBB4_1:
	xor	eax, eax
	pop	rbx
	ret
.Lfunc_end4:
	.size	out, .Lfunc_end4-out
	.globl	global
	.type	global,@function
global:
	push	rax
	call	step@PLT
	test	eax, eax
	je	.LBB5_1
	mov	rax, qword ptr [rip + last@GOTPCREL]
	mov	dword ptr [rax], 9
	mov	eax, -1
	pop	rcx
	ret
.LBB5_1:
	xor	eax, eax
	pop	rcx
	ret
.Lfunc_end5:
	.size	global, .Lfunc_end5-global
	.globl	thread
	.type	thread,@function
thread:
	push	rax
	call	step@PLT
	test	eax, eax
	je	.LBB6_1
	data16
	lea	rdi, [rip + own@TLSGD]
	data16
	data16
	rex64
	call	__tls_get_addr@PLT
	mov	dword ptr [rax], 9
	mov	eax, -2
	pop	rcx
	ret
.LBB6_1:
	xor	eax, eax
	pop	rcx
	ret
.Lfunc_end6:
	.size	thread, .Lfunc_end6-thread
	.globl	choice
	.type	choice,@function
choice:
	cmp	edi, 7
	mov	ecx, -16
	mov	eax, -4
	cmove	eax, ecx
	ret
.Lfunc_end7:
	.size	choice, .Lfunc_end7-choice
	.globl	sign
	.type	sign,@function
sign:
	push	rax
	call	step@PLT
	shr	eax, 28
	and	eax, -8
	pop	rcx
	ret
.Lfunc_end8:
	.size	sign, .Lfunc_end8-sign
	.globl	chain
	.type	chain,@function
chain:
	push	rbp
	push	rbx
	push	rax
	mov	ebx, edi
	call	step@PLT
	mov	ebp, -12
	test	eax, eax
	jne	.LBB9_2
	lea	edi, [rbx + 1]
	call	step@PLT
	xor	ecx, ecx
	test	eax, eax
	sete	cl
	lea	ebp, [rcx + 4*rcx]
	add	ebp, -5
.LBB9_2:
	mov	edi, ebx
	call	clean@PLT
	mov	eax, ebp
	add	rsp, 8
	pop	rbx
	pop	rbp
	ret
.Lfunc_end9:
	.size	chain, .Lfunc_end9-chain
	.globl	again
	.type	again,@function
again:
	test	edi, edi
	je	.LBB10_2
	push	rbx
	mov	ebx, edi
	call	clean@PLT
	add	ebx, -1
	mov	edi, ebx
	call	again@PLT
	mov	edi, -40
	call	clean@PLT
	pop	rbx
.LBB10_2:
	mov	eax, -40
	ret
.Lfunc_end10:
	.size	again, .Lfunc_end10-again
	.type	last,@object
	.bss
	.globl	last
last:
	.long	0
	.size	last, 4
	.type	own,@object
	.section	.tbss,"awT",@nobits
	.globl	own
own:
	.long	0
	.size	own, 4
	.type	.Lswitch.table.table,@object
	.section	.rodata,"a",@progbits
.Lswitch.table.table:
	.long	4294967293
	.long	4294967206
	.long	4294967282
	.long	4294967285
	.long	4294967294
	.long	4294967219
	.long	4294967288
	.size	.Lswitch.table.table, 28
