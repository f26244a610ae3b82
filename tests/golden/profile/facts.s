# SPDX-License-Identifier: GPL-3.0-or-later
# Every kind of fact once or more: widths, signs, memory operands, conditions.
	.intel_syntax noprefix
	.text
	.globl	facts
	.type	facts, @function
facts:
	endbr64
	push	rbp
	mov	rbp, rsp
	push	-3
	mov	eax, -1
	mov	rax, -1
	mov	ax, 0x8001
	xor	ecx, ecx
	sub	rdx, rdx
	or	esi, -1
	and	edi, 0
	mov	ebx, eax
	movsx	eax, bl
	movzx	eax, bx
	movsxd	rax, ebx
	cdqe
	mov	eax, dword ptr [rdi+rsi*4-8]
	movzx	eax, byte ptr [rip+1f]
	mov	dword ptr [rsp+24], 5
	mov	word ptr [rbp-2], cx
	mov	qword ptr fs:[0x10], rax
	lea	rdx, [rax+rax*8-1]
	add	eax, 7
	add	eax, ecx
	sub	eax, 7
	sub	eax, dword ptr [rbp-8]
	and	al, 0x7c
	or	eax, 16
	xor	eax, 1
	shl	eax, 3
	shr	eax, 31
	sar	rax, 63
	neg	eax
	not	ecx
	sbb	eax, eax
	sbb	ecx, -1
	adc	ecx, -1
	add	eax, eax
	cmp	rdi, -4095
	setae	al
	cmovb	eax, ecx
	cmp	dword ptr [rbp-4], 22
	test	eax, eax
	test	byte ptr [rdi+1], 4
	cmp	edx, dword ptr [rsi]
	bt	eax, 3
	mul	ecx
	cpuid
	syscall
	inc	eax
	dec	ecx
	movaps	xmm0, xmm1
	movups	xmmword ptr [rdi], xmm0
	nop	dword ptr [rax]
	jrcxz	1f
	call	rax
	call	qword ptr [rip+there@GOTPCREL]
1:	pop	rbx
	leave
	ret
	ud2
	.size	facts, .-facts
