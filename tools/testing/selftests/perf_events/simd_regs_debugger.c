// SPDX-License-Identifier: GPL-2.0
/*
 * Writes the vector registers of a running worker from outside, by ptrace: the
 * regsets NT_ARM_SVE and NT_ARM_SSVE, which are the mode as well.
 */
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/auxv.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <asm/hwcap.h>
#include <asm/ptrace.h>

#include "simd_regs_debugger.h"
#include "simd_regs_image_arm64.h"

#ifndef NT_ARM_SSVE
#define NT_ARM_SSVE	0x40b
#endif

#define MAX_VQ		16
#define V_BYTES		16

/* How long the worker may take to where a marker holds, and how often it is asked */
#define MAX_SECONDS	120
#define INTERVAL_US	200

/* Of simd_live_run(): where its struct simd_live is, and the marker */
#define LIVE_REG	19
#define MARKER_REG	28

struct regset {
	struct user_sve_header header;
	char data[SVE_PT_SIZE(MAX_VQ, SVE_PT_REGS_SVE)];
};

static int get_set(int request, pid_t pid, unsigned int type, void *data, size_t size)
{
	struct iovec iov = { .iov_base = data, .iov_len = size };

	return ptrace(request, pid, type, &iov) ? -errno : 0;
}

static int go_on(pid_t pid)
{
	return ptrace(PTRACE_CONT, pid, NULL, NULL) ? -errno : 0;
}

static int seize(pid_t pid, unsigned long options)
{
	return ptrace(PTRACE_SEIZE, pid, NULL, options) ? -errno : 0;
}

int simd_debugger_attach(pid_t pid)
{
	return seize(pid, 0);
}

static int stop(pid_t pid)
{
	int status;

	if (ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) ||
	    waitpid(pid, &status, 0) != pid)
		return -errno;
	return WIFSTOPPED(status) ? 0 : -ESRCH;
}

int simd_debugger_release(pid_t pid)
{
	return ptrace(PTRACE_DETACH, pid, NULL, NULL) ? -errno : 0;
}

int simd_debugger_detach(pid_t pid)
{
	return stop(pid) ?: simd_debugger_release(pid);
}

/*
 * Stops it where a marker holds. In between it needs time to get there: a task that
 * is stopped again at once does not leave the kernel.
 */
static int stop_live(pid_t pid, struct user_pt_regs *regs)
{
	time_t end = time(NULL) + MAX_SECONDS;
	int err;

	do {
		err = stop(pid) ?:
		      get_set(PTRACE_GETREGSET, pid, NT_PRSTATUS, regs, sizeof(*regs));
		if (err)
			return err;
		if (simd_live_ip(regs->pc))
			return 0;
		err = go_on(pid);
		if (err)
			return err;
		usleep(INTERVAL_US);
	} while (time(NULL) < end);
	return -ETIME;
}

/* Out of streaming mode, and no longer a task that uses SVE */
static int write_v(pid_t pid, const char *image)
{
	const size_t size = SVE_PT_SIZE(1, SVE_PT_REGS_FPSIMD);
	static struct regset set;
	unsigned int reg;
	int err;

	memset(&set, 0, sizeof(set));
	if (getauxval(AT_HWCAP) & HWCAP_SVE) {
		err = get_set(PTRACE_GETREGSET, pid, NT_ARM_SVE, &set, sizeof(set));
		if (err)
			return err;
	}
	set.header.size = size;
	set.header.flags = SVE_PT_REGS_FPSIMD;
	for (reg = 0; reg < SIMD_NR_VECTORS; reg++)
		memcpy((char *)&set + SVE_PT_FPSIMD_OFFSET + reg * V_BYTES,
		       image + reg * SIMD_V_STRIDE, V_BYTES);
	memset((char *)&set + SVE_PT_FPSIMD_OFFSET + SIMD_NR_VECTORS * V_BYTES, 0,
	       sizeof(struct user_fpsimd_state) - SIMD_NR_VECTORS * V_BYTES);

	return get_set(PTRACE_SETREGSET, pid, NT_ARM_SVE, &set, size);
}

/* The image is what the regset has: Z, P, FFR. FPSR and FPCR stay zero. */
static int write_sve(pid_t pid, unsigned int type, unsigned int vq, const char *image)
{
	const size_t size = SVE_PT_SIZE(vq, SVE_PT_REGS_SVE);
	static struct regset set;

	memset(&set, 0, sizeof(set));
	set.header.size = size;
	set.header.flags = SVE_PT_REGS_SVE;
	set.header.vl = vq * 16;
	memcpy((char *)&set + SVE_PT_SVE_OFFSET, image,
	       SVE_PT_SVE_FFR_OFFSET(vq) + SVE_PT_SVE_FFR_SIZE(vq) - SVE_PT_SVE_OFFSET);

	return get_set(PTRACE_SETREGSET, pid, type, &set, size);
}

static int write_vectors(pid_t pid, const struct simd_class *cls, __u64 marker)
{
	static char image[sizeof(struct regset)];

	if (simd_image_size(cls) > sizeof(image))
		return -E2BIG;
	simd_image_fill(cls, image, marker);

	switch (cls->load) {
	case SIMD_LOAD_SVE:
		return write_sve(pid, NT_ARM_SVE, simd_marker_vq(cls->parts), image);
	case SIMD_LOAD_STREAMING:
		return write_sve(pid, NT_ARM_SSVE, simd_marker_vq(cls->parts), image);
	default:
		return write_v(pid, image);
	}
}

static int write_marker(pid_t pid, struct user_pt_regs *regs, __u64 marker)
{
	regs->regs[MARKER_REG] = marker;
	return get_set(PTRACE_SETREGSET, pid, NT_PRSTATUS, regs, sizeof(*regs));
}

/* The task sets the marker anew in each round: that is to be this one. */
static int write_live_marker(pid_t pid, struct user_pt_regs *regs, __u64 marker)
{
	static const size_t words[] = {
		offsetof(struct simd_live, marker),
		offsetof(struct simd_live, call_marker),
	};
	unsigned int i;

	for (i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (ptrace(PTRACE_POKEDATA, pid, regs->regs[LIVE_REG] + words[i], marker))
			return -errno;
	}
	return write_marker(pid, regs, marker);
}

int simd_debugger_write(pid_t pid, const struct simd_class *cls, __u64 marker)
{
	struct user_pt_regs regs;
	int err;

	err = stop_live(pid, &regs);
	if (err)
		return err;
	err = write_vectors(pid, cls, marker) ?: write_live_marker(pid, &regs, marker);
	return go_on(pid) ?: err;
}

int simd_debugger_trace(pid_t pid)
{
	return seize(pid, PTRACE_O_TRACESYSGOOD) ?: stop(pid);
}

int simd_debugger_next(pid_t pid, struct simd_debugger_stop *stop)
{
	struct __ptrace_syscall_info info;
	int status;

	if (ptrace(PTRACE_SYSCALL, pid, NULL, NULL) || waitpid(pid, &status, 0) != pid)
		return -errno;
	if (!WIFSTOPPED(status) || WSTOPSIG(status) != (SIGTRAP | 0x80))
		return -ESRCH;
	if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) < 0)
		return -errno;

	memset(stop, 0, sizeof(*stop));
	stop->entry = info.op == PTRACE_SYSCALL_INFO_ENTRY;
	stop->live = simd_live_ip(info.instruction_pointer);
	if (stop->entry) {
		stop->nr = info.entry.nr;
		stop->arg[0] = info.entry.args[0];
		stop->arg[1] = info.entry.args[1];
	}
	return 0;
}

int simd_debugger_set(pid_t pid, const struct simd_class *cls, __u64 marker)
{
	struct user_pt_regs regs;

	return (cls ? write_vectors(pid, cls, marker) : 0) ?:
	       get_set(PTRACE_GETREGSET, pid, NT_PRSTATUS, &regs, sizeof(regs)) ?:
	       write_marker(pid, &regs, marker);
}
