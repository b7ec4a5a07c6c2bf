// SPDX-License-Identifier: GPL-2.0
/*
 * What perf_event_open() accepts and refuses of the SIMD fields of struct
 * perf_event_attr on arm64.
 */
#include <asm/perf_regs.h>
#include <errno.h>

#include "kselftest_harness.h"
#include "simd_regs_arm64.h"
#include "simd_regs_event.h"

#define U	PERF_SAMPLE_REGS_USER
#define I	PERF_SAMPLE_REGS_INTR

struct row {
	const char *name;
	int err;
	__u64 sample_type;
	__u16 vec_qwords, pred_qwords;
	__u64 vec_intr, vec_user;
	__u32 pred_intr, pred_user;
	__u64 gprs;
	unsigned int needs_vl;		/* vectors in bytes, 0 if V will do */
	bool needs_ffr;
};

static int try_row(const struct row *row)
{
	struct perf_event_attr attr = simd_clock_attr();
	int fd;

	attr.sample_type = PERF_SAMPLE_IP | row->sample_type;
	attr.sample_regs_user = row->sample_type & U ? row->gprs : 0;
	attr.sample_regs_intr = row->sample_type & I ? row->gprs : 0;
	attr.sample_simd_regs_enabled = 1;
	attr.sample_simd_vec_reg_qwords = row->vec_qwords;
	attr.sample_simd_pred_reg_qwords = row->pred_qwords;
	attr.sample_simd_vec_reg_intr = row->vec_intr;
	attr.sample_simd_vec_reg_user = row->vec_user;
	attr.sample_simd_pred_reg_intr = row->pred_intr;
	attr.sample_simd_pred_reg_user = row->pred_user;
	fd = simd_perf_event_open(&attr, 0, -1, -1);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static const struct row rows[] = {
	{ "enabled alone", 0, U | I, .gprs = 0 },
	{ "GPRs", 0, U | I, .gprs = 0x1ffffffff },
	{ "V", 0, U | I, 2, .vec_intr = ALL_VECTORS, .vec_user = ALL_VECTORS },
	{ "V31", 0, U, 2, .vec_user = 1ULL << 31 },
	{ "V, different sides", 0, U | I, 2, .vec_intr = 0x11, .vec_user = 0x80000002 },
	{ "Z of 256 bits", 0, U, 4, .vec_user = ALL_VECTORS, .needs_vl = 32 },
	{ "Z of 640 bits", 0, U, 10, .vec_user = 1, .needs_vl = 80 },
	{ "Z of 2048 bits", 0, I, 32, .vec_intr = 0xffff, .needs_vl = 256 },
	{ "P", 0, U, .pred_qwords = 1, .pred_user = ALL_P, .needs_vl = 16 },
	{ "FFR", 0, U, .pred_qwords = 1, .pred_user = FFR, .needs_vl = 16,
	  .needs_ffr = true },
	{ "P of 2048 bits", 0, I, .pred_qwords = 4, .pred_intr = 1, .needs_vl = 196 },
	{ "V and P", 0, U, 2, 1, .vec_user = 1, .pred_user = 1, .needs_vl = 16 },
	{ "Z and P of 512 bits", 0, U | I, 8, 1, .vec_user = ALL_VECTORS,
	  .pred_user = ALL_P, .pred_intr = 1, .needs_vl = 64 },
	{ "Z and P of 640 bits", 0, U, 10, 2, .vec_user = 1, .pred_user = 1,
	  .needs_vl = 80 },

	{ "V32", -EINVAL, U, 2, .vec_user = 1ULL << 32 },
	{ "V63", -EINVAL, I, 2, .vec_intr = 1ULL << 63 },
	{ "half of V", -EINVAL, U, 1, .vec_user = 1 },
	{ "width 3", -EINVAL, U, 3, .vec_user = 1 },
	{ "width 31", -EINVAL, U, 31, .vec_user = 1 },
	{ "predicate 17", -EINVAL, U, .pred_qwords = 1, .pred_user = 1 << 17 },
	{ "predicate 31", -EINVAL, I, .pred_qwords = 1, .pred_intr = 1U << 31 },
	{ "P wider than Z", -EINVAL, U, 8, 2, .vec_user = 1, .pred_user = 1 },
	{ "P narrower than Z", -EINVAL, U, 16, 1, .vec_user = 1, .pred_user = 1 },
	{ "GPR 33", -EINVAL, U, .gprs = 1ULL << 33 },
	{ "GPR 63", -EINVAL, I, .gprs = 1ULL << 63 },
	{ "V without width", -EINVAL, U, .vec_user = 1 },
	{ "width without V", -EINVAL, U, .vec_qwords = 2 },
	{ "P without width", -EINVAL, U, .pred_user = 1 },
	{ "width without P", -EINVAL, U, .pred_qwords = 1 },
	{ "user's mask, intr side", -EINVAL, I, 2, .vec_user = 1 },
	{ "no side", -EINVAL, 0, 2, .vec_user = 1 },
	{ "too large", -EINVAL, U | I, 512, .vec_intr = ALL_VECTORS,
	  .vec_user = ALL_VECTORS },
};

TEST(attributes)
{
	unsigned int longest = longest_vl(), i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		int expected = rows[i].err;

		if (!expected && rows[i].needs_vl &&
		    (!have_sve() || rows[i].needs_vl > longest))
			expected = -EOPNOTSUPP;
		if (!expected && rows[i].needs_ffr && !have_ffr())
			expected = -EOPNOTSUPP;
		EXPECT_EQ(expected, try_row(&rows[i]))
			TH_LOG("%s, longest vectors %u bytes", rows[i].name, longest);
	}
}

/* One more than the longest vectors is not there. */
TEST(longest)
{
	unsigned int qwords = longest_vl() / 8;
	struct row row = { "longest", 0, U, qwords, .vec_user = 1 };

	EXPECT_EQ(0, try_row(&row));
	row.vec_qwords += 2;
	EXPECT_EQ(-EOPNOTSUPP, try_row(&row));
}

TEST_HARNESS_MAIN
