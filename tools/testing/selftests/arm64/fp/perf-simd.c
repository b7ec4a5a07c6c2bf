// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples of perf have the registers of FPSIMD, SVE and streaming SVE that the
 * program had, with each vector length.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <asm/hwcap.h>
#include <asm/perf_regs.h>
#include <asm/sigcontext.h>
#include <linux/perf_event.h>

#include "kselftest.h"
#include "perf-simd.h"

#define TEST_VQ_MAX	16
#define VL_MAX		(16 * TEST_VQ_MAX)
#define EXPECTED_TESTS	(1 + 2 * TEST_VQ_MAX)

#define V_BYTES		(8 * PERF_ARM64_SIMD_V_QWORDS)

#define NUM_VECTORS	PERF_ARM64_SIMD_VEC_REGS
#define NUM_PREDS	PERF_ARM64_SIMD_PRED_REGS
#define ALL_VECTORS	0xffffffffULL
#define ALL_PREDS	((1U << NUM_PREDS) - 1)

#define MIN_SAMPLES	20
#define MAX_SECONDS	20
#define PERIOD_NS	500000
#define ROUNDS		100000UL

#define RING_SIZE	(256UL * 1024)

struct mode {
	const char *name;
	int set_vl;		/* prctl() option, 0: V registers */
	unsigned long hwcap, hwcap2;
	bool streaming;
};

static const struct mode modes[] = {
	{ "FPSIMD" },
	{ "SVE", PR_SVE_SET_VL, .hwcap = HWCAP_SVE },
	{ "SSVE", PR_SME_SET_VL, .hwcap2 = HWCAP2_SME, .streaming = true },
};

/* What follows the IP and the ABI of a sample */
struct simd_regs {
	uint64_t nr_vectors, vector_qwords;
	uint64_t nr_pred, pred_qwords;
	uint64_t data[];
};

struct sample {
	struct perf_event_header header;
	uint64_t ip;
	uint64_t abi;
	struct simd_regs simd;
};

static char vectors[NUM_VECTORS * VL_MAX];
static char preds[NUM_PREDS * VL_MAX / 8];

static void fill(char *buf, size_t size)
{
	while (size--)
		*buf++ = random();
}

/* FFR has to be ones followed by zeros. */
static void fill_ffr(char *ffr, unsigned int bytes)
{
	unsigned int bits = random() % (bytes * 8 + 1), i;

	memset(ffr, 0, bytes);
	for (i = 0; i < bits; i++)
		ffr[i / 8] |= 1 << i % 8;
}

static int open_event(unsigned int vl, bool want_preds)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = PERIOD_NS,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_REGS_USER,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.sample_simd_regs_enabled = 1,
		.sample_simd_vec_reg_qwords = vl / 8,
		.sample_simd_vec_reg_user = ALL_VECTORS,
		.sample_simd_pred_reg_qwords = want_preds ? (vl / 8 + 7) / 8 : 0,
		.sample_simd_pred_reg_user = want_preds ? ALL_PREDS : 0,
	};
	int fd = syscall(__NR_perf_event_open, &attr, 0, -1, -1, 0);

	/* A CPU with streaming mode alone may have no FFR at all. */
	if (fd < 0 && errno == EOPNOTSUPP && want_preds) {
		attr.sample_simd_pred_reg_user &= ~(1U << PERF_ARM64_SIMD_FFR);
		fd = syscall(__NR_perf_event_open, &attr, 0, -1, -1, 0);
	}
	return fd;
}

static bool zeroes(const char *data, size_t size)
{
	while (size--)
		if (*data++)
			return false;
	return true;
}

/* Vectors of @vl bytes and so many predicates, as they were loaded */
static bool check_regs(const struct simd_regs *simd, unsigned int vl, unsigned int nr_preds)
{
	const unsigned int pred_bytes = vl / 8;
	const char *reg = (const char *)simd->data;
	unsigned int i;

	if (simd->nr_vectors != NUM_VECTORS || simd->vector_qwords != vl / 8 ||
	    simd->nr_pred != nr_preds ||
	    (nr_preds && simd->pred_qwords != (pred_bytes + 7) / 8))
		return false;

	if (memcmp(reg, vectors, NUM_VECTORS * vl))
		return false;
	reg += NUM_VECTORS * vl;

	for (i = 0; i < nr_preds; i++, reg += simd->pred_qwords * 8)
		if (memcmp(reg, preds + i * pred_bytes, pred_bytes) ||
		    !zeroes(reg + pred_bytes, simd->pred_qwords * 8 - pred_bytes))
			return false;
	return true;
}

static bool check_sample(const struct sample *sample, unsigned int vl, unsigned int nr_preds)
{
	const struct simd_regs *simd = &sample->simd;
	uint64_t words;

	if (!(sample->abi & PERF_SAMPLE_REGS_ABI_SIMD)) {
		ksft_print_msg("no registers at %#lx\n", (unsigned long)sample->ip);
		return false;
	}

	words = simd->nr_vectors * simd->vector_qwords + simd->nr_pred * simd->pred_qwords;
	if (sample->header.size == sizeof(*sample) + words * 8 && check_regs(simd, vl, nr_preds))
		return true;

	ksft_print_msg("wrong: %lu vectors of %lu words, %lu predicates of %lu\n",
		       (unsigned long)simd->nr_vectors, (unsigned long)simd->vector_qwords,
		       (unsigned long)simd->nr_pred, (unsigned long)simd->pred_qwords);
	return false;
}

/* Number of good samples, or -1 for a bad one */
static int read_samples(struct perf_event_mmap_page *page, unsigned int vl,
			unsigned int nr_preds)
{
	static uint64_t words[UINT16_MAX / sizeof(uint64_t) + 1];
	const char *ring = (const char *)page + page->data_offset;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = page->data_tail;
	int good = 0;

	while (tail < head) {
		const struct sample *sample = (const struct sample *)words;
		char *buf = (char *)words;
		size_t start = tail % RING_SIZE, size, first;

		size = ((const struct perf_event_header *)(ring + start))->size;
		first = size < RING_SIZE - start ? size : RING_SIZE - start;
		memcpy(buf, ring + start, first);
		memcpy(buf + first, ring, size - first);
		tail += size;

		if (sample->header.type != PERF_RECORD_SAMPLE ||
		    sample->ip < (uintptr_t)perf_simd_loop ||
		    sample->ip >= (uintptr_t)perf_simd_loop_end)
			continue;
		if (!check_sample(sample, vl, nr_preds)) {
			good = -1;
			break;
		}
		good++;
	}
	__atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);

	return good;
}

static int sample_held(int fd, struct perf_event_mmap_page *page,
		       const struct mode *mode, unsigned int vl, unsigned int nr_preds)
{
	time_t end = time(NULL) + MAX_SECONDS;
	int good = 0, more;

	do {
		ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
		perf_simd_hold(vectors, nr_preds ? preds : NULL, mode->streaming,
			       nr_preds == NUM_PREDS, ROUNDS);
		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);

		more = read_samples(page, vl, nr_preds);
		if (more < 0)
			return -1;
		good += more;
	} while (good < MIN_SAMPLES && time(NULL) < end);

	if (good < MIN_SAMPLES)
		ksft_print_msg("%d samples in %d s\n", good, MAX_SECONDS);
	return good < MIN_SAMPLES ? -1 : 0;
}

static bool test(const struct mode *mode, unsigned int vl)
{
	unsigned int nr_preds = mode->set_vl ? NUM_PREDS : 0;
	struct perf_event_mmap_page *page;
	int fd, ret;

	if (mode->streaming && !(getauxval(AT_HWCAP2) & HWCAP2_SME_FA64))
		nr_preds--;

	fill(vectors, sizeof(vectors));
	fill(preds, sizeof(preds));
	if (nr_preds == NUM_PREDS)
		fill_ffr(preds + PERF_ARM64_SIMD_FFR * vl / 8, vl / 8);

	fd = open_event(vl, nr_preds);
	if (fd < 0) {
		ksft_perror("perf_event_open()");
		return false;
	}
	page = mmap(NULL, getpagesize() + RING_SIZE, PROT_READ | PROT_WRITE,
		    MAP_SHARED, fd, 0);
	if (page == MAP_FAILED) {
		ksft_perror("mmap()");
		close(fd);
		return false;
	}

	ret = sample_held(fd, page, mode, vl, nr_preds);

	munmap(page, getpagesize() + RING_SIZE);
	close(fd);
	return !ret;
}

static void test_vl(const struct mode *mode, unsigned int vq)
{
	unsigned int vl = 16 * vq;
	int ret;

	if (mode->hwcap & ~getauxval(AT_HWCAP) || mode->hwcap2 & ~getauxval(AT_HWCAP2)) {
		ksft_test_result_skip("%s not supported\n", mode->name);
		return;
	}

	ret = prctl(mode->set_vl, vl);
	if (ret < 0)
		ksft_exit_fail_perror("prctl() to set the vector length");
	if ((ret & PR_SVE_VL_LEN_MASK) != vl) {
		ksft_test_result_skip("%s VL %u not supported\n", mode->name, vl);
		return;
	}
	ksft_test_result(test(mode, vl), "%s VL %u\n", mode->name, vl);
}

int main(void)
{
	unsigned int i, vq;
	int fd;

	ksft_print_header();
	ksft_set_plan(EXPECTED_TESTS);
	srandom(getpid());

	fd = open_event(V_BYTES, false);
	if (fd < 0)
		ksft_exit_skip("perf cannot sample V registers: %s\n", strerror(errno));
	close(fd);

	ksft_test_result(test(&modes[0], V_BYTES), "%s\n", modes[0].name);
	for (i = 1; i < ARRAY_SIZE(modes); i++)
		for (vq = 1; vq <= TEST_VQ_MAX; vq++)
			test_vl(&modes[i], vq);

	ksft_finished();
}
