# SPDX-License-Identifier: GPL-3.0-or-later
# Idioms as gcc -O2 compiles them.
	.intel_syntax noprefix
	.text
	.type	fail, @function
fail:
	push	rbx
	mov	ebx, edi
	call	__errno_location@PLT
	mov	DWORD PTR [rax], ebx
	mov	eax, -1
	pop	rbx
	ret
	.size	fail, .-fail
	.globl	with_argument
	.type	with_argument, @function
with_argument:
	test	edi, edi
	js	.L9
	sub	rsp, 8
	call	step@PLT
	test	eax, eax
	jne	.L10
	xor	eax, eax
	add	rsp, 8
	ret
.L9:
	mov	edi, 22
	jmp	fail
.L10:
	mov	edi, 5
	add	rsp, 8
	jmp	fail
	.size	with_argument, .-with_argument
	.globl	table
	.type	table, @function
table:
	mov	eax, -1
	cmp	edi, 6
	ja	.L11
	mov	edi, edi
	lea	rax, CSWTCH.5[rip]
	mov	eax, DWORD PTR [rax+rdi*4]
.L11:
	ret
	.size	table, .-table
	.section	.text.unlikely,"ax",@progbits
.LCOLDB0:
	.text
.LHOTB0:
	.globl	cases
	.type	cases, @function
cases:
	sub	rsp, 8
	cmp	edi, 4
	ja	.L22
	lea	rdx, .L17[rip]
	mov	edi, edi
	movsx	rax, DWORD PTR [rdx+rdi*4]
	add	rax, rdx
	jmp	rax
	.section	.rodata
	.align 4
	.align 4
.L17:
	.long	.L21-.L17
	.long	.L20-.L17
	.long	.L19-.L17
	.long	.L18-.L17
	.long	.L16-.L17
	.text
.L18:
	mov	edi, 1
	call	step@PLT
	mov	edi, 2
	call	step@PLT
	mov	eax, -11
.L14:
	add	rsp, 8
	ret
.L16:
	xor	edi, edi
	call	clean@PLT
	mov	eax, -2
	add	rsp, 8
	ret
.L21:
	mov	edi, 1
	call	clean@PLT
	mov	eax, -3
	add	rsp, 8
	ret
.L20:
	mov	edi, 2
	call	step@PLT
	mov	eax, -90
	add	rsp, 8
	ret
.L19:
	mov	edi, 9
	call	clean@PLT
	mov	edi, 8
	call	clean@PLT
	mov	eax, -14
	add	rsp, 8
	ret
	.section	.text.unlikely
	.type	cases.cold, @function
cases.cold:
.L22:
	xor	eax, eax
	jmp	.L14
	.text
	.size	cases, .-cases
	.section	.text.unlikely
	.size	cases.cold, .-cases.cold
.LCOLDE0:
	.text
.LHOTE0:
	.globl	out
	.type	out, @function
out:
	push	rbx
	mov	rbx, rsi
	call	step@PLT
	test	eax, eax
	jne	.L30
	pop	rbx
	ret
.L30:
	mov	DWORD PTR [rbx], 7
	mov	eax, -1
	pop	rbx
	ret
	.size	out, .-out
	.globl	global
	.type	global, @function
global:
	sub	rsp, 8
	call	step@PLT
	test	eax, eax
	jne	.L37
.L31:
	add	rsp, 8
	ret
.L37:
	mov	rax, QWORD PTR last@GOTPCREL[rip]
	mov	DWORD PTR [rax], 9
	mov	eax, -1
	jmp	.L31
	.size	global, .-global
	.globl	thread
	.type	thread, @function
thread:
	sub	rsp, 8
	call	step@PLT
	test	eax, eax
	jne	.L44
.L38:
	add	rsp, 8
	ret
.L44:
	data16	lea	rdi, own@tlsgd[rip]
	.value	0x6666
	rex64
	call	__tls_get_addr@PLT
	mov	DWORD PTR [rax], 9
	mov	eax, -2
	jmp	.L38
	.size	thread, .-thread
	.globl	choice
	.type	choice, @function
choice:
	cmp	edi, 7
	mov	edx, -16
	mov	eax, -4
	cmove	eax, edx
	ret
	.size	choice, .-choice
	.globl	sign
	.type	sign, @function
sign:
	sub	rsp, 8
	call	step@PLT
	add	rsp, 8
	shr	eax, 31
	sal	eax, 3
	ret
	.size	sign, .-sign
	.globl	chain
	.type	chain, @function
chain:
	push	rbp
	push	rbx
	mov	ebx, edi
	sub	rsp, 8
	call	step@PLT
	test	eax, eax
	jne	.L52
	lea	edi, 1[rbx]
	call	step@PLT
	mov	ebp, eax
	test	eax, eax
	jne	.L55
.L51:
	mov	edi, ebx
	call	clean@PLT
	add	rsp, 8
	mov	eax, ebp
	pop	rbx
	pop	rbp
	ret
.L52:
	mov	ebp, -12
	jmp	.L51
.L55:
	mov	ebp, -5
	jmp	.L51
	.size	chain, .-chain
	.globl	again
	.type	again, @function
again:
	push	rbx
	test	edi, edi
	je	.L66
	mov	ebx, edi
	call	clean@PLT
	mov	edi, ebx
	sub	edi, 1
	je	.L67
	call	clean@PLT
	mov	edi, ebx
	sub	edi, 2
	je	.L68
	call	clean@PLT
	mov	edi, ebx
	sub	edi, 3
	je	.L69
	call	clean@PLT
	mov	edi, ebx
	sub	edi, 4
	je	.L70
	call	clean@PLT
	mov	edi, ebx
	sub	edi, 5
	je	.L71
	call	clean@PLT
	mov	edi, ebx
	sub	edi, 6
	je	.L72
	call	clean@PLT
	mov	edi, ebx
	sub	edi, 7
	je	.L73
	call	clean@PLT
	mov	edi, ebx
	sub	edi, 8
	je	.L74
	call	clean@PLT
	lea	edi, -9[rbx]
	call	again.localalias
	mov	edi, eax
	mov	ebx, eax
	call	clean@PLT
.L65:
	mov	edi, ebx
	call	clean@PLT
.L64:
	mov	edi, ebx
	call	clean@PLT
.L63:
	mov	edi, ebx
	call	clean@PLT
.L62:
	mov	edi, ebx
	call	clean@PLT
.L61:
	mov	edi, ebx
	call	clean@PLT
.L60:
	mov	edi, ebx
	call	clean@PLT
.L59:
	mov	edi, ebx
	call	clean@PLT
.L58:
	mov	edi, ebx
	call	clean@PLT
.L56:
	mov	eax, ebx
	pop	rbx
	ret
.L66:
	mov	ebx, -40
	jmp	.L56
.L67:
	mov	ebx, -40
	jmp	.L58
.L68:
	mov	ebx, -40
	jmp	.L59
.L69:
	mov	ebx, -40
	jmp	.L60
.L70:
	mov	ebx, -40
	jmp	.L61
.L71:
	mov	ebx, -40
	jmp	.L62
.L72:
	mov	ebx, -40
	jmp	.L63
.L73:
	mov	ebx, -40
	jmp	.L64
.L74:
	mov	ebx, -40
	jmp	.L65
	.size	again, .-again
	.set	again.localalias,again
	.section	.rodata
	.align 16
	.type	CSWTCH.5, @object
	.size	CSWTCH.5, 28
CSWTCH.5:
	.long	-3
	.long	-90
	.long	-14
	.long	-11
	.long	-2
	.long	-77
	.long	-8
	.globl	last
	.bss
	.align 4
	.type	last, @object
	.size	last, 4
last:
	.zero	4
	.globl	own
	.section	.tbss,"awT",@nobits
	.align 4
	.type	own, @object
	.size	own, 4
own:
	.zero	4
