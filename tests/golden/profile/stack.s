# SPDX-License-Identifier: GPL-3.0-or-later
# Values through stack slots and saved registers, with and without a frame pointer.
	.intel_syntax noprefix
	.text
	.globl	slots
	.type	slots, @function
slots:
	sub	rsp, 24
	mov	dword ptr [rsp+12], -5
	test	edi, edi
	je	1f
	mov	dword ptr [rsp+12], 0
1:	mov	eax, dword ptr [rsp+12]
	add	rsp, 24
	ret
	.size	slots, .-slots
	.globl	framed
	.type	framed, @function
framed:
	push	rbp
	mov	rbp, rsp
	sub	rsp, 16
	mov	qword ptr [rsp+8], -9
	mov	rax, qword ptr [rbp-8]
	leave
	ret
	.size	framed, .-framed
	.globl	saved
	.type	saved, @function
saved:
	push	rbx
	mov	ebx, -7
	cmp	esi, 3
	jl	1f
	xor	ebx, ebx
1:	call	elsewhere@PLT
	mov	eax, ebx
	pop	rbx
	ret
	.size	saved, .-saved
	.globl	pushed
	.type	pushed, @function
pushed:
	push	-11
	pop	rax
	ret
	.size	pushed, .-pushed
