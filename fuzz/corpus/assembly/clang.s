	.text
	.file	"kernel.cpp"
	.section	.rodata.cst4,"aM",@progbits,4
	.p2align	2, 0x0                          # -- Begin function pragma_kernel
.LCPI0_0:
	.long	0x80000000                      # float -0
.LCPI0_1:
	.long	0x40400000                      # float 3
.LCPI0_2:
	.long	0x40e00000                      # float 7
	.text
	.globl	pragma_kernel
	.p2align	4, 0x90
	.type	pragma_kernel,@function
pragma_kernel:                          # @pragma_kernel
.Lfunc_begin0:
	.file	0 "/tmp/asm/s1" "kernel.cpp" md5 0xb67d772b2823d3dcbf490887e2b0d17b
	.loc	0 2 0                           # kernel.cpp:2:0
	.cfi_startproc
	.cfi_personality 155, DW.ref.__gxx_personality_v0
	.cfi_lsda 27, .Lexception0
# %bb.0:
	pushq	%rbx
	.cfi_def_cfa_offset 16
	subq	$16, %rsp
	.cfi_def_cfa_offset 32
	.cfi_offset %rbx, -16
	movq	%rdi, 8(%rsp)
	movq	%rsi, (%rsp)
.Ltmp3:
	.loc	0 3 1 prologue_end              # kernel.cpp:3:1
	leaq	.L__unnamed_1(%rip), %rdi
	leaq	pragma_kernel.omp_outlined(%rip), %rdx
	xorl	%ebx, %ebx
	movq	%rsp, %rcx
	leaq	8(%rsp), %r8
	movl	$2, %esi
	xorl	%eax, %eax
	callq	__kmpc_fork_call@PLT
.Ltmp4:
	.p2align	4, 0x90
.LBB0_1:                                # =>This Inner Loop Header: Depth=1
.Ltmp0:
	.loc	0 5 55                          # kernel.cpp:5:55
	movl	%ebx, %edi
	callq	expfi@PLT
.Ltmp5:
.Ltmp1:
# %bb.2:                                #   in Loop: Header=BB0_1 Depth=1
	vcvtsi2ss	%eax, %xmm1, %xmm0
	.loc	0 5 38 is_stmt 0                # kernel.cpp:5:38
	movq	(%rsp), %rax
	.loc	0 5 45                          # kernel.cpp:5:45
	vaddss	(%rax,%rbx,4), %xmm0, %xmm0
	vmovss	%xmm0, (%rax,%rbx,4)
.LBB0_7:                                #   in Loop: Header=BB0_1 Depth=1
	.loc	0 5 27                          # kernel.cpp:5:27
	incq	%rbx
	.loc	0 5 21                          # kernel.cpp:5:21
	cmpq	$10, %rbx
	jne	.LBB0_1
	jmp	.LBB0_3
.LBB0_5:                                #   in Loop: Header=BB0_1 Depth=1
.Ltmp2:
	.loc	0 0 21                          # kernel.cpp:0:21
	movq	%rax, %rdi
	.loc	0 5 65                          # kernel.cpp:5:65
	cmpl	$1, %edx
	jne	.LBB0_8
# %bb.6:                                #   in Loop: Header=BB0_1 Depth=1
	callq	__cxa_begin_catch@PLT
.Ltmp6:
	.loc	0 5 83                          # kernel.cpp:5:83
	movq	(%rsp), %rax
	.loc	0 5 90                          # kernel.cpp:5:90
	movl	$0, (%rax,%rbx,4)
	.loc	0 5 95                          # kernel.cpp:5:95
	callq	__cxa_end_catch@PLT
.Ltmp7:
	.loc	0 0 95                          # kernel.cpp:0:95
	jmp	.LBB0_7
.LBB0_3:
	.loc	0 6 16 is_stmt 1                # kernel.cpp:6:16
	movq	8(%rsp), %rax
	vcvttss2si	(%rax), %ecx
	.loc	0 6 3 is_stmt 0                 # kernel.cpp:6:3
	cmpl	$5, %ecx
	ja	.LBB0_15
# %bb.4:
	.loc	0 0 3                           # kernel.cpp:0:3
	leaq	.LJTI0_0(%rip), %rdx
	.loc	0 6 3                           # kernel.cpp:6:3
	movslq	(%rdx,%rcx,4), %rcx
	addq	%rdx, %rcx
	jmpq	*%rcx
.LBB0_9:
	.loc	0 6 32                          # kernel.cpp:6:32
	movq	(%rsp), %rax
	.loc	0 6 39                          # kernel.cpp:6:39
	movl	$1065353216, (%rax)             # imm = 0x3F800000
	.loc	0 6 44                          # kernel.cpp:6:44
	jmp	.LBB0_15
.LBB0_13:
	.loc	0 6 144                         # kernel.cpp:6:144
	movq	(%rsp), %rax
	.loc	0 6 151                         # kernel.cpp:6:151
	vmovss	36(%rax), %xmm0                 # xmm0 = mem[0],zero,zero,zero
	vmulss	.LCPI0_1(%rip), %xmm0, %xmm0
	vmovss	%xmm0, 36(%rax)
	.loc	0 6 157                         # kernel.cpp:6:157
	jmp	.LBB0_15
.LBB0_11:
	.loc	0 6 89                          # kernel.cpp:6:89
	movq	(%rsp), %rax
	.loc	0 6 96                          # kernel.cpp:6:96
	movl	$1077936128, 20(%rax)           # imm = 0x40400000
	.loc	0 6 101                         # kernel.cpp:6:101
	jmp	.LBB0_15
.LBB0_12:
	.loc	0 6 116                         # kernel.cpp:6:116
	movq	(%rsp), %rax
	.loc	0 6 123                         # kernel.cpp:6:123
	vmovss	(%rax), %xmm0                   # xmm0 = mem[0],zero,zero,zero
	vdivss	.LCPI0_2(%rip), %xmm0, %xmm0
	vmovss	%xmm0, (%rax)
	.loc	0 6 129                         # kernel.cpp:6:129
	jmp	.LBB0_15
.LBB0_10:
	.loc	0 6 68                          # kernel.cpp:6:68
	vmovss	12(%rax), %xmm0                 # xmm0 = mem[0],zero,zero,zero
	.loc	0 6 59                          # kernel.cpp:6:59
	movq	(%rsp), %rax
	.loc	0 6 66                          # kernel.cpp:6:66
	vmovss	%xmm0, 4(%rax)
	.loc	0 6 74                          # kernel.cpp:6:74
	jmp	.LBB0_15
.LBB0_14:
	.loc	0 6 182                         # kernel.cpp:6:182
	movq	(%rsp), %rax
	.loc	0 6 181                         # kernel.cpp:6:181
	vmovss	32(%rax), %xmm0                 # xmm0 = mem[0],zero,zero,zero
	vbroadcastss	.LCPI0_0(%rip), %xmm1   # xmm1 = [-0.0E+0,-0.0E+0,-0.0E+0,-0.0E+0]
	vxorps	%xmm1, %xmm0, %xmm0
	.loc	0 6 179                         # kernel.cpp:6:179
	vmovss	%xmm0, 32(%rax)
.LBB0_15:
	.loc	0 7 1 epilogue_begin is_stmt 1  # kernel.cpp:7:1
	addq	$16, %rsp
	.cfi_def_cfa_offset 16
	popq	%rbx
	.cfi_def_cfa_offset 8
	retq
.Ltmp8:
.LBB0_8:
	.cfi_def_cfa_offset 32
	.loc	0 0 1 is_stmt 0                 # kernel.cpp:0:1
	callq	_Unwind_Resume@PLT
.Ltmp9:
.Lfunc_end0:
	.size	pragma_kernel, .Lfunc_end0-pragma_kernel
	.cfi_endproc
	.section	.rodata,"a",@progbits
	.p2align	2, 0x0
.LJTI0_0:
	.long	.LBB0_9-.LJTI0_0
	.long	.LBB0_10-.LJTI0_0
	.long	.LBB0_11-.LJTI0_0
	.long	.LBB0_12-.LJTI0_0
	.long	.LBB0_13-.LJTI0_0
	.long	.LBB0_14-.LJTI0_0
	.section	.gcc_except_table,"a",@progbits
	.p2align	2, 0x0
GCC_except_table0:
.Lexception0:
	.byte	255                             # @LPStart Encoding = omit
	.byte	155                             # @TType Encoding = indirect pcrel sdata4
	.uleb128 .Lttbase0-.Lttbaseref0
.Lttbaseref0:
	.byte	1                               # Call site Encoding = uleb128
	.uleb128 .Lcst_end0-.Lcst_begin0
.Lcst_begin0:
	.uleb128 .Ltmp0-.Lfunc_begin0           # >> Call Site 1 <<
	.uleb128 .Ltmp1-.Ltmp0                  #   Call between .Ltmp0 and .Ltmp1
	.uleb128 .Ltmp2-.Lfunc_begin0           #     jumps to .Ltmp2
	.byte	3                               #   On action: 2
	.uleb128 .Ltmp1-.Lfunc_begin0           # >> Call Site 2 <<
	.uleb128 .Lfunc_end0-.Ltmp1             #   Call between .Ltmp1 and .Lfunc_end0
	.byte	0                               #     has no landing pad
	.byte	0                               #   On action: cleanup
.Lcst_end0:
	.byte	0                               # >> Action Record 1 <<
                                        #   Cleanup
	.byte	0                               #   No further actions
	.byte	1                               # >> Action Record 2 <<
                                        #   Catch TypeInfo 1
	.byte	125                             #   Continue to action 1
	.p2align	2, 0x0
                                        # >> Catch TypeInfos <<
.Ltmp10:                                # TypeInfo 1
	.long	.L_ZTIi.DW.stub-.Ltmp10
.Lttbase0:
	.p2align	2, 0x0
                                        # -- End function
	.text
	.p2align	4, 0x90                         # -- Begin function pragma_kernel.omp_outlined
	.type	pragma_kernel.omp_outlined,@function
pragma_kernel.omp_outlined:             # @pragma_kernel.omp_outlined
.Lfunc_begin1:
	.loc	0 3 0 is_stmt 1                 # kernel.cpp:3:0
	.cfi_startproc
# %bb.0:
	pushq	%r15
	.cfi_def_cfa_offset 16
	pushq	%r14
	.cfi_def_cfa_offset 24
	pushq	%rbx
	.cfi_def_cfa_offset 32
	subq	$16, %rsp
	.cfi_def_cfa_offset 48
	.cfi_offset %rbx, -32
	.cfi_offset %r14, -24
	.cfi_offset %r15, -16
	movq	%rcx, %r15
	movq	%rdx, %r14
.Ltmp11:
	.loc	0 4 8 prologue_end              # kernel.cpp:4:8
	movl	$0, 4(%rsp)
	movl	$99, (%rsp)
	movl	$1, 12(%rsp)
	movl	$0, 8(%rsp)
	.loc	0 3 1                           # kernel.cpp:3:1
	movl	(%rdi), %ebx
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	leaq	20(%rsp), %rax
	leaq	.L__unnamed_2(%rip), %rdi
	leaq	16(%rsp), %rcx
	leaq	12(%rsp), %r8
	leaq	8(%rsp), %r9
	movl	%ebx, %esi
	movl	$34, %edx
	pushq	$1
	.cfi_adjust_cfa_offset 8
	pushq	$1
	.cfi_adjust_cfa_offset 8
	pushq	%rax
	.cfi_adjust_cfa_offset 8
	callq	__kmpc_for_static_init_4@PLT
.Ltmp12:
	addq	$32, %rsp
	.cfi_adjust_cfa_offset -32
	.loc	0 4 8                           # kernel.cpp:4:8
	movl	(%rsp), %ecx
	cmpl	$99, %ecx
	movl	$99, %eax
	cmovll	%ecx, %eax
	movl	%eax, (%rsp)
	movslq	4(%rsp), %r8
	.loc	0 4 3 is_stmt 0                 # kernel.cpp:4:3
	cmpl	%r8d, %eax
	.loc	0 3 1 is_stmt 1                 # kernel.cpp:3:1
	jl	.LBB1_14
# %bb.1:
	.loc	0 0 1 is_stmt 0                 # kernel.cpp:0:1
	movq	(%r15), %rcx
	movq	(%r14), %rdx
	.loc	0 3 1                           # kernel.cpp:3:1
	movl	%eax, %edi
	subl	%r8d, %edi
	cmpl	$31, %edi
	jb	.LBB1_2
# %bb.3:
	leaq	(%rdx,%r8,4), %r9
	movl	%eax, %esi
	subl	%r8d, %esi
	addq	%r8, %rsi
	leaq	(%rcx,%rsi,4), %r10
	addq	$404, %r10                      # imm = 0x194
	cmpq	%r10, %r9
	jae	.LBB1_6
# %bb.4:
	leaq	(%rdx,%rsi,4), %rsi
	addq	$4, %rsi
	leaq	(%rcx,%r8,4), %r9
	cmpq	%rsi, %r9
	jae	.LBB1_6
.LBB1_2:
	.lo