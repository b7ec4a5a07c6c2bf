// SPDX-License-Identifier: GPL-2.0-only
/*
 * BPF programs for overflows: one that lets the sample pass, one that drops it, one that
 * reads another event, which may have records waiting, and one that writes to one.
 */
#include <linux/bpf.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attr.h"

#define MAP_SIZE	8

static int programs[4] = { -1, -1, -1, -1 };
static int map = -1;

#define INSN(c, d, s, o, i) \
	((struct bpf_insn) { .code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) })
#define SET(reg, value)		INSN(BPF_ALU64 | BPF_MOV | BPF_K, reg, 0, 0, value)
#define MOVE(to, from)		INSN(BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0)
#define ADD(reg, value)		INSN(BPF_ALU64 | BPF_ADD | BPF_K, reg, 0, 0, value)
#define STORE(offset, value)	INSN(BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, offset, value)
#define CALL(function)		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, function)
#define RETURN			INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)
#define SET_MAP(reg)		INSN(BPF_LD | BPF_IMM | BPF_DW, reg, BPF_PSEUDO_MAP_FD, 0, map), \
				INSN(0, 0, 0, 0, 0)

static long bpf(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static int load(const struct bpf_insn *insns, unsigned int nr)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_PERF_EVENT;
	attr.insns = (uintptr_t)insns;
	attr.insn_cnt = nr;
	attr.license = (uintptr_t)"GPL";
	return bpf(BPF_PROG_LOAD, &attr);
}

void bpf_init(void)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_PERF_EVENT_ARRAY,
		.key_size = 4, .value_size = 4, .max_entries = MAP_SIZE,
	};

	map = bpf(BPF_MAP_CREATE, &attr);
	if (map < 0)
		return;

	const struct bpf_insn pass[] = { SET(BPF_REG_0, 1), RETURN };
	const struct bpf_insn drop[] = { SET(BPF_REG_0, 0), RETURN };
	const struct bpf_insn read[] = {
		STORE(-24, 0), STORE(-16, 0), STORE(-8, 0), SET_MAP(BPF_REG_1),
		SET(BPF_REG_2, 1), MOVE(BPF_REG_3, BPF_REG_10), ADD(BPF_REG_3, -24),
		SET(BPF_REG_4, 24), CALL(BPF_FUNC_perf_event_read_value),
		SET(BPF_REG_0, 1), RETURN,
	};
	const struct bpf_insn write[] = {
		STORE(-24, 1), STORE(-16, 2), STORE(-8, 3), SET_MAP(BPF_REG_2),
		SET(BPF_REG_3, 2), MOVE(BPF_REG_4, BPF_REG_10), ADD(BPF_REG_4, -24),
		SET(BPF_REG_5, 20), CALL(BPF_FUNC_perf_event_output),
		SET(BPF_REG_0, 1), RETURN,
	};

	programs[0] = load(pass, sizeof(pass) / sizeof(*pass));
	programs[1] = load(drop, sizeof(drop) / sizeof(*drop));
	programs[2] = load(read, sizeof(read) / sizeof(*read));
	programs[3] = load(write, sizeof(write) / sizeof(*write));
}

int bpf_program(struct rand *r)
{
	return pick(r, programs);
}

/* What the programs read (1) and write to (2); others are there for nothing. */
void bpf_set_event(unsigned int index, int fd)
{
	union bpf_attr attr;
	__u32 key = index % 4, value = fd;

	if (map < 0)
		return;
	memset(&attr, 0, sizeof(attr));
	attr.map_fd = map;
	attr.key = (uintptr_t)&key;
	attr.value = (uintptr_t)&value;
	bpf(BPF_MAP_UPDATE_ELEM, &attr);
}
