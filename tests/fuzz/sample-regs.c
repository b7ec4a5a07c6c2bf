// SPDX-License-Identifier: GPL-2.0-only
/*
 * The register block of a sample, for libFuzzer: an input is an attr and a sample.
 * What is found in the sample is read to its last bit, printed in all forms and
 * written again, which has to give the same bytes.
 *
 * The sample is in memory that ends where it ends, for AddressSanitizer to see.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <perf/event.h>

#include "env.h"
#include "evsel.h"
#include "pmus.h"
#include "sample.h"
#include "sample-regs.h"
#include "sample-regs-print.h"
#include "simd-regs.h"
#include "simd-regs-lanes.h"
#include "simd-regs-probe.h"
#include "thread.h"
#include "util.h"

/* How an input begins; corpus.py writes it too. */
struct input {
	u64 regs;
	u64 vec_mask;
	u32 pred_mask;
	u16 e_machine;
	u8 intr;
	u8 enabled;
	/* Bytes of the sample before the block, in words. */
	u8 skip;
	u8 view;
	u16 unused;
	u32 unused2;
};

/* ---- what the code under test calls, and what is not of interest here -------- */

int verbose;

static u64 errors;

int eprintf(int level __maybe_unused, int var __maybe_unused, const char *fmt, ...)
{
	char text[400];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	errors++;
	return 0;
}

struct perf_env *evsel__env(struct evsel *evsel __maybe_unused)
{
	return NULL;
}

uint16_t perf_env__e_machine_nocache(struct perf_env *env __maybe_unused, uint32_t *e_flags)
{
	*e_flags = 0;
	return EM_NONE;
}

uint16_t thread__e_machine_endian(struct thread *thread __maybe_unused,
				  struct machine *machine __maybe_unused,
				  uint32_t *e_flags, bool *is_big_endian __maybe_unused)
{
	*e_flags = 0;
	return EM_NONE;
}

/* Of functions that ask this machine what it has. Nothing calls them here. */
void event_attr_init(struct perf_event_attr *attr __maybe_unused)
{
}

int perf_pmus__num_core_pmus(void)
{
	return 0;
}

struct perf_pmu *perf_pmus__scan_core(struct perf_pmu *pmu __maybe_unused)
{
	return NULL;
}

int simd_regs__try_gprs(uint16_t e_machine __maybe_unused, bool intr __maybe_unused,
			u64 mask __maybe_unused)
{
	return -EOPNOTSUPP;
}

/* ---- the checks ---------------------------------------------------------------- */

static void check(bool good, const char *what)
{
	if (!good) {
		fprintf(stderr, "wrong: %s\n", what);
		abort();
	}
}

static void check_rewritten(const struct regs_dump *regs, const __u64 *pos, const __u64 *end)
{
	size_t size = regs_dump__size(regs);
	__u64 *copy = malloc(size);

	check(size == (size_t)((char *)end - (char *)pos), "the size is that of the block");
	check(copy, "memory");
	check((char *)regs_dump__synthesize(regs, copy) == (char *)copy + size, "all is written");
	check(!memcmp(copy, pos, size), "what is written is what was read");
	free(copy);
}

static FILE *out;
static struct simd_view view;

static void print(const struct regs_dump *regs, const struct perf_event_attr *attr,
		  uint16_t e_machine)
{
	regs_dump__dump(out, "intr", regs, attr, e_machine, 0, &view);
	regs_dump__fprintf(out, regs, attr, e_machine, 0, &view);
	if (regs->regs)
		regs_dump__fprintf_json(out, regs, attr, e_machine, 0);
	rewind(out);
}

static void set_view(u8 nr)
{
	static const char * const views[] = {
		"hex", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64",
		"f16", "bf16", "f32", "f64", "f16,high", "u8,high", "f64,low",
		"x8", "x16", "x32", "x64",
	};

	check(!simd_view__set(&view, views[nr % ARRAY_SIZE(views)]), "a view");
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc __maybe_unused, char ***argv __maybe_unused)
{
	out = fopen("/dev/null", "w");
	check(out, "/dev/null");
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint16_t machines[] = { EM_X86_64, EM_AARCH64, EM_386, EM_S390, EM_ARM };
	struct perf_event_attr attr = {};
	struct regs_dump regs = {};
	union perf_event *event;
	const __u64 *pos, *end;
	struct input in;
	u64 before = errors;

	if (size < sizeof(in))
		return 0;
	memcpy(&in, data, sizeof(in));
	data += sizeof(in);
	size -= sizeof(in);
	if (size > UINT16_MAX - sizeof(event->header))
		return 0;

	attr.sample_regs_intr = attr.sample_regs_user = in.regs;
	attr.sample_simd_regs_enabled = in.enabled & 1;
	attr.sample_simd_vec_reg_intr = attr.sample_simd_vec_reg_user = in.vec_mask;
	attr.sample_simd_pred_reg_intr = attr.sample_simd_pred_reg_user = in.pred_mask;

	event = malloc(sizeof(event->header) + size);
	check(event, "memory");
	event->header.type = PERF_RECORD_SAMPLE;
	event->header.misc = 0;
	event->header.size = sizeof(event->header) + size;
	memcpy(event->sample.array, data, size);

	pos = event->sample.array + in.skip % 8;
	end = regs_dump__parse(&regs, &attr, in.intr & 1, event, pos);
	check(!end == (errors > before), "an error says so, and nothing else does");
	if (end) {
		check((char *)end <= (char *)event + event->header.size, "within the sample");
		check_rewritten(&regs, pos, end);
		set_view(in.view);
		print(&regs, &attr, machines[in.e_machine % ARRAY_SIZE(machines)]);
	}

	free(event);
	return 0;
}
