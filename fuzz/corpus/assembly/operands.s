f:
	movq %rcx, 8(%rsp)
	movzbl (%rdi,%rax), %ecx
	movslq (%rdi), %rcx
	movswl (%rdi), %ecx
	addl %eax, (%rdi)
	shll %cl, (%rdi)
	incq (%rdi)
	cmpb $3, (%rdi)
	testl %eax, (%rdi)
	xchgl (%rdi), %eax
	cmpxchgq %rcx, (%rdi)
	imull $5, (%rdi), %eax
	cmovle (%rdi), %eax
	setne (%rdi)
	mulxq (%rdi), %rax, %rcx
	idivl (%rdi)
	leaq (%rdi), %rax
	nopw 0x0(%rax,%rax,1)
	prefetcht0 64(%rdi)
	vmovss (%rdi), %xmm0
	vmovsd %xmm0, (%rdi)
	movhps (%rdi), %xmm0
	vmovups (%rdi), %zmm0
	vmovaps %ymm0, (%rdi)
	vmovdqu8 %zmm0, (%rdi){%k1}
	vaddps (%rdi), %ymm1, %ymm0
	vaddps (%rdi){1to16}, %zmm1, %zmm0
	vfmadd231pd (%rdi){1to8}, %zmm1, %zmm0
	vcvtdq2pd (%rdi){1to8}, %zmm0
	vfmadd231ss (%rdi), %xmm1, %xmm0
	ucomiss (%rdi), %xmm0
	vbroadcastss (%rdi), %zmm0
	vpbroadcastw (%rdi), %ymm0
	vbroadcastf32x4 (%rdi), %zmm0
	vinsertf64x4 $1, (%rdi), %zmm0, %zmm0
	vextractf128 $1, %ymm0, (%rdi)
	vpextrw $3, %xmm0, (%rdi)
	vpmovzxbd (%rdi), %zmm0
	vpmovsxwd (%rdi), %ymm0
	vpmovdb %zmm0, (%rdi)
	vpmovuswb %ymm0, (%rdi)
	vcvtps2pd (%rdi), %ymm0
	vcvtph2ps (%rdi), %zmm0
	vcvtps2ph $4, %zmm0, (%rdi)
	vcvtpd2psy (%rdi), %xmm0
	vcvtpd2ps (%rdi), %ymm0
	cvtdq2pd (%rdi), %xmm0
	cvtsi2ssl (%rdi), %xmm0
	vcvtsi2sdq (%rdi), %xmm0, %xmm0
	cvttss2si (%rdi), %eax
	vpslld (%rdi), %zmm1, %zmm0
	vpslld $3, (%rdi), %zmm0
	vpsllvd (%rdi), %zmm1, %zmm0
	vpminsd (%rdi), %ymm1, %ymm0
	vpabsd (%rdi), %ymm0
	vpermps (%rdi), %ymm1, %ymm0
	kmovw (%rdi), %k1
	fldt (%rdi)
	fstps (%rdi)
	fildll (%rdi)
	vmovntps %zmm0, (%rdi)
	movntiq %rax, (%rdi)
	vgatherdps (%rdi,%zmm1,4), %zmm0{%k1}
	vgatherqps %xmm3, (%rdi,%ymm1,4), %xmm0
	vpscatterdq %zmm0, (%rdi,%ymm1,8){%k1}
	movq %fs:40, %rax
	call *8(%rax)
	fadd %st(1), %st
	lock; incl (%rdi)
	rep;movsq (%rsi), %es:(%rdi)
	jne f
