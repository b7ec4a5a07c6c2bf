// SPDX-License-Identifier: GPL-2.0-only
/*
 * What an instruction leaves in the parts of vector registers that it does not
 * compute. A VEX-encoded one zeroes its destination above what it writes, up to
 * the longest vector that the CPU has; the older encoding keeps it. All other
 * registers stay as they are. Every register has a pattern in all its parts first.
 *
 * cpu: max
 * cpu: max,avx512f=on
 * cpu: max,avx512f=on,apxf=on,xsavec=on,xsaves=on
 */

#include "xstate.h"

static struct state a, seen, want;
static uint8_t memory[256] __attribute__((aligned(64)));

/* What becomes of the registers: bytes [from, 64) of each are zero, if from < 64. */
static uint8_t from[16];
static bool all_zero[16], touched[16];

static void keep_all(void)
{
	for (int i = 0; i < 16; i++) {
		from[i] = 64;
		all_zero[i] = touched[i] = false;
	}
}

static uint8_t *part(struct state *s, int reg, int byte)
{
	if (byte < 16)
		return &s->xmm[reg][byte];
	if (byte < 32)
		return &s->ext[AVX][16 * reg + byte - 16];
	return &s->ext[ZMM_HI256][32 * reg + byte - 32];
}

static void check(const char *name, void (*run)(void))
{
	int limit = xcr0_all & BIT(ZMM_HI256) ? 64 : 32, bad_reg = -1, bad_byte = 0;
	uint64_t differ;

	random_state(&a);
	/* The mask of the gathers: all lanes; their indices: small. */
	for (int i = 0; i < 32; i++)
		*part(&a, 5, i) = 0xff;
	for (int i = 0; i < 32; i++)
		*part(&a, 6, i) = i % 4 ? 0 : i;
	load_state(&a);
	run();
	read_state(&seen);
	want = a;
	want.mxcsr = seen.mxcsr;	/* exception flags may be set */
	for (int reg = 0; reg < 16; reg++) {
		for (int byte = 0; byte < limit; byte++) {
			if (all_zero[reg] || byte >= from[reg])
				*part(&want, reg, byte) = 0;
			else if (touched[reg] && byte < (from[reg] < 64 ? from[reg] : 16))
				*part(&want, reg, byte) = *part(&seen, reg, byte);
			if (bad_reg < 0 && *part(&want, reg, byte) != *part(&seen, reg, byte)) {
				bad_reg = reg;
				bad_byte = byte;
			}
		}
	}
	differ = state_differs(&seen, &want);
	ok(!differ, "%s: component mask 0x%lx, register %d byte %d", name, differ, bad_reg,
	   bad_byte);
}

#define CASE(number, text)								\
static void run_##number(void)								\
{											\
	uint64_t rax = 5;								\
											\
	asm volatile(text : "+a"(rax) : "D"(memory) : "rcx", "rdx", "memory", "cc");	\
}

#define VEX_128(X)									\
	X(100, "vaddps %%xmm1, %%xmm2, %%xmm3")						\
	X(101, "vaddps (%%rdi), %%xmm2, %%xmm3")					\
	X(102, "vaddsd %%xmm1, %%xmm2, %%xmm3")						\
	X(103, "vaddss (%%rdi), %%xmm2, %%xmm3")					\
	X(104, "vsqrtss %%xmm1, %%xmm2, %%xmm3")					\
	X(105, "vmovups %%xmm1, %%xmm3")						\
	X(106, "vmovups (%%rdi), %%xmm3")						\
	X(107, "vmovdqu (%%rdi), %%xmm3")						\
	X(108, "vmovss %%xmm1, %%xmm2, %%xmm3")						\
	X(109, "vmovss (%%rdi), %%xmm3")						\
	X(110, "vmovsd (%%rdi), %%xmm3")						\
	X(111, "vmovd %%eax, %%xmm3")							\
	X(112, "vmovq %%rax, %%xmm3")							\
	X(113, "vmovq %%xmm1, %%xmm3")							\
	X(114, "vmovq (%%rdi), %%xmm3")							\
	X(115, "vmovlps (%%rdi), %%xmm2, %%xmm3")					\
	X(116, "vmovhps (%%rdi), %%xmm2, %%xmm3")					\
	X(117, "vmovhlps %%xmm1, %%xmm2, %%xmm3")					\
	X(118, "vmovddup %%xmm1, %%xmm3")						\
	X(119, "vpaddd %%xmm1, %%xmm2, %%xmm3")						\
	X(120, "vpxor %%xmm3, %%xmm3, %%xmm3")						\
	X(121, "vpandn (%%rdi), %%xmm2, %%xmm3")					\
	X(122, "vpslldq $3, %%xmm1, %%xmm3")						\
	X(123, "vpsrlw $3, %%xmm1, %%xmm3")						\
	X(124, "vpsllvd %%xmm1, %%xmm2, %%xmm3")					\
	X(125, "vpshufb %%xmm1, %%xmm2, %%xmm3")					\
	X(126, "vshufps $7, %%xmm1, %%xmm2, %%xmm3")					\
	X(127, "vpermilps $7, %%xmm1, %%xmm3")						\
	X(128, "vpinsrd $1, %%eax, %%xmm2, %%xmm3")					\
	X(129, "vpinsrw $1, (%%rdi), %%xmm2, %%xmm3")					\
	X(130, "vinsertps $0x10, %%xmm1, %%xmm2, %%xmm3")				\
	X(131, "vblendvps %%xmm4, %%xmm1, %%xmm2, %%xmm3")				\
	X(132, "vpblendw $5, %%xmm1, %%xmm2, %%xmm3")					\
	X(133, "vpmovzxbd %%xmm1, %%xmm3")						\
	X(134, "vcvtsi2sd %%eax, %%xmm2, %%xmm3")					\
	X(135, "vcvtps2pd %%xmm1, %%xmm3")						\
	X(136, "vcvtpd2ps %%ymm1, %%xmm3")						\
	X(137, "vcvtph2ps %%xmm1, %%xmm3")						\
	X(138, "vcvtps2ph $0, %%ymm1, %%xmm3")						\
	X(139, "vroundps $1, %%xmm1, %%xmm3")						\
	X(140, "vroundsd $1, %%xmm1, %%xmm2, %%xmm3")					\
	X(141, "vcmpltps %%xmm1, %%xmm2, %%xmm3")					\
	X(142, "vfmadd132ps %%xmm1, %%xmm2, %%xmm3")					\
	X(143, "vfmadd231sd (%%rdi), %%xmm2, %%xmm3")					\
	X(144, "vfnmsub213ss %%xmm1, %%xmm2, %%xmm3")					\
	X(145, "vbroadcastss (%%rdi), %%xmm3")						\
	X(146, "vpbroadcastb %%xmm1, %%xmm3")						\
	X(147, "vextractf128 $1, %%ymm1, %%xmm3")					\
	X(148, "vextracti128 $0, %%ymm1, %%xmm3")					\
	X(149, "vmaskmovps (%%rdi), %%xmm2, %%xmm3")					\
	X(150, "vpmaskmovq (%%rdi), %%xmm2, %%xmm3")					\
	X(151, "vaesenc %%xmm1, %%xmm2, %%xmm3")					\
	X(152, "vaesimc %%xmm1, %%xmm3")						\
	X(153, "vpclmulqdq $1, %%xmm1, %%xmm2, %%xmm3")					\
	X(154, "vphminposuw %%xmm1, %%xmm3")						\
	X(155, "vlddqu (%%rdi), %%xmm3")						\
	X(156, "vmovntdqa (%%rdi), %%xmm3")						\
	X(157, "vhaddps %%xmm1, %%xmm2, %%xmm3")					\
	X(158, "vpacksswb %%xmm1, %%xmm2, %%xmm3")					\
	X(159, "vdppd $0x31, %%xmm1, %%xmm2, %%xmm3")					\
	X(160, "vmpsadbw $1, %%xmm1, %%xmm2, %%xmm3")					\
	X(161, "vunpcklps %%xmm1, %%xmm2, %%xmm3")					\
	X(162, "vpalignr $5, %%xmm1, %%xmm2, %%xmm3")

#define VEX_256(X)									\
	X(200, "vaddps %%ymm1, %%ymm2, %%ymm3")						\
	X(201, "vaddpd (%%rdi), %%ymm2, %%ymm3")					\
	X(202, "vmovups %%ymm1, %%ymm3")						\
	X(203, "vmovdqa (%%rdi), %%ymm3")						\
	X(204, "vpxor %%ymm1, %%ymm2, %%ymm3")						\
	X(205, "vpslldq $3, %%ymm1, %%ymm3")						\
	X(206, "vpermq $7, %%ymm1, %%ymm3")						\
	X(207, "vpermd %%ymm1, %%ymm2, %%ymm3")						\
	X(208, "vperm2f128 $0x21, %%ymm1, %%ymm2, %%ymm3")				\
	X(209, "vinsertf128 $1, %%xmm1, %%ymm2, %%ymm3")				\
	X(210, "vinserti128 $0, (%%rdi), %%ymm2, %%ymm3")				\
	X(211, "vbroadcastf128 (%%rdi), %%ymm3")					\
	X(212, "vbroadcastsd %%xmm1, %%ymm3")						\
	X(213, "vpbroadcastw %%xmm1, %%ymm3")						\
	X(214, "vpmovsxbw %%xmm1, %%ymm3")						\
	X(215, "vcvtps2pd %%xmm1, %%ymm3")						\
	X(216, "vcvtdq2pd (%%rdi), %%ymm3")						\
	X(217, "vfmadd213pd %%ymm1, %%ymm2, %%ymm3")					\
	X(218, "vfmsubadd231ps (%%rdi), %%ymm2, %%ymm3")				\
	X(219, "vblendvpd %%ymm4, %%ymm1, %%ymm2, %%ymm3")				\
	X(220, "vmaskmovpd (%%rdi), %%ymm2, %%ymm3")					\
	X(221, "vpshufd $3, %%ymm1, %%ymm3")						\
	X(222, "vpsllvq %%ymm1, %%ymm2, %%ymm3")					\
	X(223, "vpsrlw %%xmm1, %%ymm2, %%ymm3")						\
	X(224, "vpsadbw %%ymm1, %%ymm2, %%ymm3")					\
	X(225, "vdpps $0x31, %%ymm1, %%ymm2, %%ymm3")					\
	X(226, "vcmpeqpd %%ymm1, %%ymm2, %%ymm3")					\
	X(227, "vmovshdup (%%rdi), %%ymm3")						\
	X(228, "vcvtph2ps %%xmm1, %%ymm3")						\
	X(229, "vsqrtpd %%ymm1, %%ymm3")						\
	X(230, "vpabsd %%ymm1, %%ymm3")							\
	X(231, "vpcmpeqb %%ymm3, %%ymm3, %%ymm3")

/* The older encoding writes 128 bits at most and keeps the rest. */
#define LEGACY(X)									\
	X(300, "addps %%xmm1, %%xmm3")							\
	X(301, "addsd (%%rdi), %%xmm3")							\
	X(302, "movups %%xmm1, %%xmm3")							\
	X(303, "movups (%%rdi), %%xmm3")						\
	X(304, "movdqa (%%rdi), %%xmm3")						\
	X(305, "movss (%%rdi), %%xmm3")							\
	X(306, "movsd %%xmm1, %%xmm3")							\
	X(307, "movd %%eax, %%xmm3")							\
	X(308, "movq %%rax, %%xmm3")							\
	X(309, "movq %%xmm1, %%xmm3")							\
	X(310, "movhps (%%rdi), %%xmm3")						\
	X(311, "pxor %%xmm3, %%xmm3")							\
	X(312, "paddq (%%rdi), %%xmm3")							\
	X(313, "pslldq $3, %%xmm3")							\
	X(314, "psrlw $3, %%xmm3")							\
	X(315, "pshufb %%xmm1, %%xmm3")							\
	X(316, "pinsrd $1, %%eax, %%xmm3")						\
	X(317, "insertps $0x1f, %%xmm1, %%xmm3")					\
	X(318, "pmovzxbd %%xmm1, %%xmm3")						\
	X(319, "cvtsi2sd %%eax, %%xmm3")						\
	X(320, "cvtps2pd %%xmm1, %%xmm3")						\
	X(321, "roundps $1, %%xmm1, %%xmm3")						\
	X(322, "aesenc %%xmm1, %%xmm3")							\
	X(323, "pclmulqdq $1, %%xmm1, %%xmm3")						\
	X(324, "phminposuw %%xmm1, %%xmm3")						\
	X(325, "movntdqa (%%rdi), %%xmm3")						\
	X(326, "shufps $7, %%xmm1, %%xmm3")						\
	X(327, "sha256msg1 %%xmm1, %%xmm3")						\
	X(328, "pcmpeqd %%xmm3, %%xmm3")

/* No vector register is written at all. */
#define READERS(X)									\
	X(400, "vmovups %%ymm1, (%%rdi)")						\
	X(401, "vmovss %%xmm1, (%%rdi)")						\
	X(402, "vmovhps %%xmm1, (%%rdi)")						\
	X(403, "vextractf128 $1, %%ymm1, (%%rdi)")					\
	X(404, "vcvtps2ph $0, %%ymm1, (%%rdi)")						\
	X(405, "vmaskmovps %%ymm1, %%ymm2, (%%rdi)")					\
	X(406, "vmaskmovdqu %%xmm1, %%xmm2")						\
	X(407, "vptest %%ymm1, %%ymm2")							\
	X(408, "vucomiss %%xmm1, %%xmm2")						\
	X(409, "vmovmskps %%ymm1, %%eax")						\
	X(410, "vpmovmskb %%ymm1, %%eax")						\
	X(411, "vmovd %%xmm1, %%eax")							\
	X(412, "vpextrw $3, %%xmm1, %%eax")						\
	X(413, "vcvttsd2si %%xmm1, %%rax")						\
	X(414, "vpcmpistri $0, %%xmm1, %%xmm2")						\
	X(415, "vmovntps %%ymm1, (%%rdi)")						\
	X(416, "vpextrq $1, %%xmm1, (%%rdi)")

VEX_128(CASE)
VEX_256(CASE)
LEGACY(CASE)
READERS(CASE)
CASE(500, "vpgatherdd %%xmm5, (%%rdi,%%xmm6,1), %%xmm3")
CASE(501, "vpgatherdd %%ymm5, (%%rdi,%%ymm6,1), %%ymm3")
CASE(503, "vpcmpistrm $0, %%xmm1, %%xmm2")
CASE(504, "vpcmpestrm $0, %%xmm1, %%xmm2")
CASE(505, "pcmpistrm $0, %%xmm1, %%xmm2")
CASE(506, "vzeroupper")
CASE(507, "vzeroall")
CASE(508, "vaddps %%xmm1, %%xmm2, %%xmm13")
CASE(509, "nop")

#define CHECK_128(number, text) keep_all(); touched[3] = true; from[3] = 16; check(text, run_##number);
#define CHECK_256(number, text) keep_all(); touched[3] = true; from[3] = 32; check(text, run_##number);
#define CHECK_LEGACY(number, text) keep_all(); touched[3] = true; check(text, run_##number);
#define CHECK_READER(number, text) keep_all(); check(text, run_##number);

static void gather(int bytes, void (*run)(void), const char *text)
{
	keep_all();
	touched[3] = true;
	from[3] = bytes;
	all_zero[5] = true;		/* the mask */
	check(text, run);
}

int main(void)
{
	find_components();
	for (size_t i = 0; i < sizeof(memory); i++)
		memory[i] = random64() >> 56;
	CHECK_READER(509, "nop")
	VEX_128(CHECK_128)
	VEX_256(CHECK_256)
	LEGACY(CHECK_LEGACY)
	READERS(CHECK_READER)
	gather(16, run_500, "vpgatherdd, 128 bits");
	gather(32, run_501, "vpgatherdd, 256 bits");
	keep_all();
	touched[0] = true;
	from[0] = 16;
	check("vpcmpistrm", run_503);
	check("vpcmpestrm", run_504);
	from[0] = 64;
	check("pcmpistrm", run_505);
	keep_all();
	for (int i = 0; i < 16; i++)
		from[i] = 16;
	check("vzeroupper; registers 16 to 31 stay", run_506);
	for (int i = 0; i < 16; i++)
		all_zero[i] = true;
	check("vzeroall; registers 16 to 31 stay", run_507);
	keep_all();
	touched[13] = true;
	from[13] = 16;
	check("a register above 7", run_508);
	return 0;
}
