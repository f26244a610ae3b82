# SPDX-License-Identifier: GPL-3.0-or-later
# System calls: the errors of call 3 are 4 and 9. The number may come from the caller.
	.intel_syntax noprefix
	.text
	.globl	wrapper
	.type	wrapper, @function
wrapper:
	mov	eax, 3
	syscall
	cmp	rax, -4095
	jae	1f
	ret
1:	push	rbx
	neg	eax
	mov	ebx, eax
	call	__errno_location@PLT
	mov	dword ptr [rax], ebx
	mov	rax, -1
	pop	rbx
	ret
	.size	wrapper, .-wrapper
	.globl	any
	.type	any, @function
any:
	mov	rax, rdi
	mov	rdi, rsi
	syscall
	cmp	rax, -4095
	jae	1f
	ret
1:	neg	eax
	ret
	.size	any, .-any
	.globl	named
	.type	named, @function
named:
	sub	rsp, 8
	mov	edi, 3
	call	any
	add	rsp, 8
	ret
	.size	named, .-named
