# SPDX-License-Identifier: GPL-3.0-or-later
# What cannot be understood is said not to be: jumps into instructions, bytes that are none, jumps
# nobody knows the target of, a stack pointer from nowhere, no end.
	.intel_syntax noprefix
	.text
	.globl	inside
	.type	inside, @function
inside:
	test	edi, edi
	je	1f+1
1:	mov	eax, 0x90c3c031
	ret
	.size	inside, .-inside
	.globl	nothing
	.type	nothing, @function
nothing:
	mov	eax, -2
	.byte	0x06, 0x0e, 0x16
	ret
	.size	nothing, .-nothing
	.globl	anywhere
	.type	anywhere, @function
anywhere:
	mov	eax, -3
	jmp	rdx
	.size	anywhere, .-anywhere
	.globl	lost
	.type	lost, @function
lost:
	mov	rsp, rdi
	mov	dword ptr [rsp], -4
	mov	eax, dword ptr [rsp]
	ret
	.size	lost, .-lost
	.globl	circle
	.type	circle, @function
circle:
	mov	eax, -5
1:	jmp	1b
	.size	circle, .-circle
	.globl	endless
	.type	endless, @function
endless:
	mov	eax, -6
	.size	endless, .-endless
