// SPDX-License-Identifier: GPL-2.0
/*
 * BPF programs for the simd_regs tests, written by hand: nothing but bpf(2) is
 * needed to have them.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "simd_regs_bpf.h"

#define MOV(dst, src) \
	{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = (dst), .src_reg = (src) }
#define MOV_IMM(dst, value) \
	{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = (dst), .imm = (value) }
#define ADD_IMM(dst, value) \
	{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = (dst), .imm = (value) }
#define STORE_IMM(dst, offset, value) \
	{ .code = BPF_ST | BPF_MEM | BPF_DW, .dst_reg = (dst), .off = (offset), \
	  .imm = (value) }
/* Two instructions long: the second one is {} */
#define LOAD_MAP(dst, fd) \
	{ .code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = (dst), \
	  .src_reg = BPF_PSEUDO_MAP_FD, .imm = (fd) }
#define CALL(function) \
	{ .code = BPF_JMP | BPF_CALL, .imm = (function) }
#define EXIT() \
	{ .code = BPF_JMP | BPF_EXIT }

static int bpf(int cmd, union bpf_attr *attr)
{
	int ret = syscall(SYS_bpf, cmd, attr, sizeof(*attr));

	return ret < 0 ? -errno : ret;
}

int simd_bpf_event_map(int event_fd)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_PERF_EVENT_ARRAY,
		.key_size = sizeof(__u32),
		.value_size = sizeof(__u32),
		.max_entries = 1,
	};
	__u32 index = 0, value = event_fd;
	int map = bpf(BPF_MAP_CREATE, &attr), err;

	if (map < 0)
		return map;
	memset(&attr, 0, sizeof(attr));
	attr.map_fd = map;
	attr.key = (uintptr_t)&index;
	attr.value = (uintptr_t)&value;
	err = bpf(BPF_MAP_UPDATE_ELEM, &attr);
	if (!err)
		return map;
	close(map);
	return err;
}

static int load(const struct bpf_insn *insns, unsigned int nr)
{
	static char log[8192];
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_PERF_EVENT,
		.insn_cnt = nr,
		.insns = (uintptr_t)insns,
		.license = (uintptr_t)"GPL",
		.log_buf = (uintptr_t)log,
		.log_size = sizeof(log),
		.log_level = 1,
	};
	int prog = bpf(BPF_PROG_LOAD, &attr);

	if (prog < 0)
		fprintf(stderr, "# bpf: %s\n%s", strerror(-prog), log);
	return prog;
}

int simd_bpf_drop_prog(void)
{
	const struct bpf_insn insns[] = {
		MOV_IMM(BPF_REG_0, 0),
		EXIT(),
	};

	return load(insns, sizeof(insns) / sizeof(*insns));
}

/* The others return 1: then the sample of the event is written as well. */

int simd_bpf_read_prog(int map_fd)
{
	const struct bpf_insn insns[] = {
		LOAD_MAP(BPF_REG_1, map_fd), {},
		MOV_IMM(BPF_REG_2, 0),
		MOV(BPF_REG_3, BPF_REG_10),
		ADD_IMM(BPF_REG_3, -(int)sizeof(struct bpf_perf_event_value)),
		MOV_IMM(BPF_REG_4, sizeof(struct bpf_perf_event_value)),
		CALL(BPF_FUNC_perf_event_read_value),
		MOV_IMM(BPF_REG_0, 1),
		EXIT(),
	};

	return load(insns, sizeof(insns) / sizeof(*insns));
}

int simd_bpf_output_prog(int map_fd)
{
	const struct bpf_insn insns[] = {
		STORE_IMM(BPF_REG_10, -8, 0),
		LOAD_MAP(BPF_REG_2, map_fd), {},
		MOV_IMM(BPF_REG_3, 0),
		MOV(BPF_REG_4, BPF_REG_10),
		ADD_IMM(BPF_REG_4, -8),
		MOV_IMM(BPF_REG_5, 8),
		CALL(BPF_FUNC_perf_event_output),
		MOV_IMM(BPF_REG_0, 1),
		EXIT(),
	};

	return load(insns, sizeof(insns) / sizeof(*insns));
}
