	.file	"kernel.cpp"
	.text
.Ltext0:
	.file 0 "/tmp/asm/s1" "kernel.cpp"
	.p2align 4
	.type	pragma_kernel._omp_fn.0, @function
pragma_kernel._omp_fn.0:
.LFB1:
	.file 1 "kernel.cpp"
	.loc 1 3 9
	.cfi_startproc
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset 6, -16
	movq	%rdi, %rbp
	pushq	%rbx
	.cfi_def_cfa_offset 24
	.cfi_offset 3, -24
	subq	$8, %rsp
	.cfi_def_cfa_offset 32
	call	omp_get_num_threads@PLT
	movl	%eax, %ebx
	call	omp_get_thread_num@PLT
	xorl	%edx, %edx
	movl	%eax, %ecx
	movl	$100, %eax
	idivl	%ebx
	cmpl	%edx, %ecx
	jl	.L2
.L5:
	imull	%eax, %ecx
	addl	%ecx, %edx
	addl	%edx, %eax
	cmpl	%eax, %edx
	jge	.L7
	.loc 1 3 9
	movq	8(%rbp), %rsi
	movq	0(%rbp), %rcx
	movslq	%edx, %rdx
	.p2align 4,,10
	.p2align 3
.L4:
.LBB2:
.LBB3:
	.loc 1 4 47 discriminator 1
	vmovss	(%rcx,%rdx,4), %xmm0
	vaddss	%xmm0, %xmm0, %xmm0
	.loc 1 4 51 discriminator 1
	vaddss	400(%rcx,%rdx,4), %xmm0, %xmm0
	.loc 1 4 40 discriminator 1
	vmovss	%xmm0, (%rsi,%rdx,4)
	addq	$1, %rdx
	cmpl	%edx, %eax
	jg	.L4
.L7:
.LBE3:
.LBE2:
	.loc 1 3 9
	addq	$8, %rsp
	.cfi_remember_state
	.cfi_def_cfa_offset 24
	popq	%rbx
	.cfi_def_cfa_offset 16
	popq	%rbp
	.cfi_def_cfa_offset 8
	ret
	.p2align 4,,10
	.p2align 3
.L2:
	.cfi_restore_state
	addl	$1, %eax
	xorl	%edx, %edx
	jmp	.L5
	.cfi_endproc
.LFE1:
	.size	pragma_kernel._omp_fn.0, .-pragma_kernel._omp_fn.0
	.section	.text.unlikely,"ax",@progbits
.LCOLDB5:
	.text
.LHOTB5:
	.p2align 4
	.section	.text.unlikely
.Ltext_cold0:
	.text
	.globl	pragma_kernel
	.type	pragma_kernel, @function
pragma_kernel:
.LFB0:
	.loc 1 2 66
	.cfi_startproc
	.cfi_personality 0x9b,DW.ref.__gxx_personality_v0
	.cfi_lsda 0x1b,.LLSDA0
	pushq	%r12
	.cfi_def_cfa_offset 16
	.cfi_offset 12, -16
	xorl	%ecx, %ecx
	movq	%rdi, %r12
	xorl	%edx, %edx
	pushq	%rbp
	.cfi_def_cfa_offset 24
	.cfi_offset 6, -24
	movq	%rsi, %rbp
	pushq	%rbx
	.cfi_def_cfa_offset 32
	.cfi_offset 3, -32
.LBB4:
	xorl	%ebx, %ebx
.LBE4:
	subq	$16, %rsp
	.cfi_def_cfa_offset 48
.LBB5:
	.loc 1 3 9
	movq	%rsi, 8(%rsp)
	movq	%rsp, %rsi
	movq	%rdi, (%rsp)
	leaq	pragma_kernel._omp_fn.0(%rip), %rdi
	call	GOMP_parallel@PLT
	.p2align 4,,10
	.p2align 3
.L11:
.LBE5:
.LBB6:
.LBB7:
	.loc 1 5 60 discriminator 6
	movl	%ebx, %edi
.LEHB0:
	call	expfi@PLT
.LEHE0:
	.loc 1 5 48 discriminator 6
	vxorps	%xmm1, %xmm1, %xmm1
	vcvtsi2ssl	%eax, %xmm1, %xmm0
	.loc 1 5 45 discriminator 6
	vaddss	0(%rbp,%rbx,4), %xmm0, %xmm0
	vmovss	%xmm0, 0(%rbp,%rbx,4)
.L22:
.LBE7:
	.loc 1 5 21 discriminator 8
	addq	$1, %rbx
	cmpq	$10, %rbx
	jne	.L11
.LBE6:
	.loc 1 6 11
	vcvttss2sil	(%r12), %eax
	.loc 1 6 3
	cmpl	$5, %eax
	ja	.L25
	leaq	.L14(%rip), %rdx
	movl	%eax, %eax
	movslq	(%rdx,%rax,4), %rax
	addq	%rdx, %rax
	jmp	*%rax
	.section	.rodata
	.align 4
	.align 4
.L14:
	.long	.L19-.L14
	.long	.L18-.L14
	.long	.L17-.L14
	.long	.L16-.L14
	.long	.L15-.L14
	.long	.L13-.L14
	.text
	.p2align 4,,10
	.p2align 3
.L13:
	.loc 1 6 181 discriminator 6
	vmovss	32(%rbp), %xmm0
	vxorps	.LC3(%rip), %xmm0, %xmm0
	.loc 1 6 179 discriminator 6
	vmovss	%xmm0, 32(%rbp)
.L25:
	.loc 1 7 1
	addq	$16, %rsp
	.cfi_remember_state
	.cfi_def_cfa_offset 32
	popq	%rbx
	.cfi_def_cfa_offset 24
	popq	%rbp
	.cfi_def_cfa_offset 16
	popq	%r12
	.cfi_def_cfa_offset 8
	ret
	.p2align 4,,10
	.p2align 3
.L15:
	.cfi_restore_state
	.loc 1 6 151 discriminator 5
	vmovss	.LC1(%rip), %xmm0
	vmulss	36(%rbp), %xmm0, %xmm0
	vmovss	%xmm0, 36(%rbp)
	.loc 1 7 1 discriminator 5
	addq	$16, %rsp
	.cfi_remember_state
	.cfi_def_cfa_offset 32
	popq	%rbx
	.cfi_def_cfa_offset 24
	popq	%rbp
	.cfi_def_cfa_offset 16
	popq	%r12
	.cfi_def_cfa_offset 8
	ret
	.p2align 4,,10
	.p2align 3
.L19:
	.cfi_restore_state
	.loc 1 6 39 discriminator 1
	movl	$0x3f800000, 0(%rbp)
	.loc 1 7 1 discriminator 1
	addq	$16, %rsp
	.cfi_remember_state
	.cfi_def_cfa_offset 32
	popq	%rbx
	.cfi_def_cfa_offset 24
	popq	%rbp
	.cfi_def_cfa_offset 16
	popq	%r12
	.cfi_def_cfa_offset 8
	ret
	.p2align 4,,10
	.p2align 3
.L18:
	.cfi_restore_state
	.loc 1 6 71 discriminator 2
	vmovss	12(%r12), %xmm0
	.loc 1 6 66 discriminator 2
	vmovss	%xmm0, 4(%rbp)
	.loc 1 7 1 discriminator 2
	addq	$16, %rsp
	.cfi_remember_state
	.cfi_def_cfa_offset 32
	popq	%rbx
	.cfi_def_cfa_offset 24
	popq	%rbp
	.cfi_def_cfa_offset 16
	popq	%r12
	.cfi_def_cfa_offset 8
	ret
	.p2align 4,,10
	.p2align 3
.L17:
	.cfi_restore_state
	.loc 1 6 96 discriminator 3
	movl	$0x40400000, 20(%rbp)
	.loc 1 7 1 discriminator 3
	addq	$16, %rsp
	.cfi_remember_state
	.cfi_def_cfa_offset 32
	popq	%rbx
	.cfi_def_cfa_offset 24
	popq	%rbp
	.cfi_def_cfa_offset 16
	popq	%r12
	.cfi_def_cfa_offset 8
	ret
	.p2align 4,,10
	.p2align 3
.L16:
	.cfi_restore_state
	.loc 1 6 123 discriminator 4
	vmovss	0(%rbp), %xmm0
	vdivss	.LC2(%rip), %xmm0, %xmm0
	vmovss	%xmm0, 0(%rbp)
	.loc 1 7 1 discriminator 4
	addq	$16, %rsp
	.cfi_remember_state
	.cfi_def_cfa_offset 32
	popq	%rbx
	.cfi_def_cfa_offset 24
	popq	%rbp
	.cfi_def_cfa_offset 16
	popq	%r12
	.cfi_def_cfa_offset 8
	ret
.L23:
	.cfi_restore_state
	.loc 1 5 67
	movq	%rax, %rdi
	movq	%rdx, %rax
	jmp	.L20
	.globl	__gxx_personality_v0
	.section	.gcc_except_table,"a",@progbits
	.align 4
.LLSDA0:
	.byte	0xff
	.byte	0x9b
	.uleb128 .LLSDATT0-.LLSDATTD0
.LLSDATTD0:
	.byte	0x1
	.uleb128 .LLSDACSE0-.LLSDACSB0
.LLSDACSB0:
	.uleb128 .LEHB0-.LFB0
	.uleb128 .LEHE0-.LEHB0
	.uleb128 .L23-.LFB0
	.uleb128 0x1
.LLSDACSE0:
	.byte	0x1
	.byte	0
	.align 4
	.long	DW.ref._ZTIi-.
.LLSDATT0:
	.text
	.cfi_endproc
	.section	.text.unlikely
	.cfi_startproc
	.cfi_personality 0x9b,DW.ref.__gxx_personality_v0
	.cfi_lsda 0x1b,.LLSDAC0
	.type	pragma_kernel.cold, @function
pragma_kernel.cold:
.LFSB0:
.L20:
	.cfi_def_cfa_offset 48
	.cfi_offset 3, -32
	.cfi_offset 6, -24
	.cfi_offset 12, -16
	.loc 1 5 67 is_stmt 0 discriminator 2
	subq	$1, %rax
	jne	.L27
.LBB10:
.LBB9:
.LBB8:
	.loc 1 5 78 is_stmt 1 discriminator 7
	vzeroupper
	call	__cxa_begin_catch@PLT
	.loc 1 5 90 discriminator 7
	movl	$0x00000000, 0(%rbp,%rbx,4)
	.loc 1 5 95 discriminator 7
	call	__cxa_end_catch@PLT
	jmp	.L22
.L27:
	vzeroupper
.LEHB1:
	call	_Unwind_Resume@PLT
.LEHE1:
.LBE8:
.LBE9:
.LBE10:
	.cfi_endproc
.LFE0:
	.section	.gcc_except_table
	.align 4
.LLSDAC0:
	.byte	0xff
	.byte	0x9b
	.uleb128 .LLSDATTC0-.LLSDATTDC0
.LLSDATTDC0:
	.byte	0x1
	.uleb128 .LLSDACSEC0-.LLSDACSBC0
.LLSDACSBC0:
	.uleb128 .LEHB1-.LCOLDB5
	.uleb128 .LEHE1-.LEHB1
	.uleb128 0
	.uleb128 0
.LLSDACSEC0:
	.byte	0x1
	.byte	0
	.align 4
	.long	DW.ref._ZTIi-.
.LLSDATTC0:
	.section	.text.unlikely
	.text
	.size	pragma_kernel, .-pragma_kernel
	.section	.text.unlikely
	.size	pragma_kernel.cold, .-pragma_kernel.cold
.LCOLDE5:
	.text
.LHOTE5:
	.section	.rodata.cst4,"aM",@progbits,4
	.align 4
.LC1:
	.long	1077936128
	.align 4
.LC2:
	.long	1088421888
	.section	.rodata.cst16,"aM",@progbits,16
	.align 16
.LC3:
	.long	-2147483648
	.long	0
	.long	0
	.long	0
	.text
.Letext0:
	.section	.text.unlikely
.Letext_cold0:
