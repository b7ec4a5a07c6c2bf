// SPDX-License-Identifier: GPL-2.0
/*
 * A sample of code that runs says how large the page is that the code lies in, in
 * user mode as in the kernel.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"

#define RING_PAGES	8
#define ENOUGH		200	/* samples */

struct sample {
	struct perf_event_header header;
	__u64 ip, code_page_size;
};

struct seen {
	int samples, without, odd;
};

static void look(struct perf_event_mmap_page *ring, struct seen *seen)
{
	size_t page = sysconf(_SC_PAGESIZE), size = RING_PAGES * page;
	__u64 head = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE);
	__u64 at = ring->data_tail;
	const char *data = (char *)ring + page;

	while (at != head) {
		const struct sample *sample = (const void *)(data + at % size);
		/* What goes on at the start of the buffer is left out. */
		bool whole = at % size + sizeof(*sample) <= size;

		if (sample->header.type == PERF_RECORD_SAMPLE && whole) {
			__u64 bytes = sample->code_page_size;

			seen->samples++;
			if (!bytes)
				seen->without++;
			else if (bytes < page || bytes & (bytes - 1))
				seen->odd++;
		}
		at += sample->header.size;
	}
	__atomic_store_n(&ring->data_tail, head, __ATOMIC_RELEASE);
}

FIXTURE(page_size)
{
	struct perf_event_mmap_page *ring;
	struct seen seen;
	int fd, zeros;
};

FIXTURE_VARIANT(page_size)
{
	bool kernel;
};

FIXTURE_VARIANT_ADD(page_size, user)
{
	.kernel = false,
};

FIXTURE_VARIANT_ADD(page_size, kernel)
{
	.kernel = true,
};

/* Elsewhere the kernel may have no page tables, or share addresses with tasks. */
#if defined(__aarch64__) || defined(__x86_64__) || \
	defined(__i386__)
#define KERNEL_HAS_PAGES	true
#else
#define KERNEL_HAS_PAGES	false
#endif

FIXTURE_SETUP(page_size)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 100003,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CODE_PAGE_SIZE,
		.exclude_user = variant->kernel,
		.exclude_kernel = !variant->kernel,
		.exclude_hv = 1,
	};

	if (variant->kernel && !KERNEL_HAS_PAGES)
		SKIP(return, "kernel code has no page size on this architecture");
	self->zeros = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	ASSERT_LE(0, self->zeros);
	self->fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (self->fd < 0 && errno == EACCES)
		SKIP(return, "needs root or a lower kernel/perf_event_paranoid");
	ASSERT_LE(0, self->fd);
	self->ring = mmap(NULL, (RING_PAGES + 1) * sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE,
			  MAP_SHARED, self->fd, 0);
	ASSERT_NE(MAP_FAILED, self->ring);
}

FIXTURE_TEARDOWN(page_size)
{
	munmap(self->ring, (RING_PAGES + 1) * sysconf(_SC_PAGESIZE));
	close(self->fd);
	close(self->zeros);
}

TEST_F(page_size, each_sample_has_one)
{
	static char buffer[1 << 16];
	int i;

	for (i = 0; i < 100000 && self->seen.samples < ENOUGH; i++) {
		ASSERT_EQ((ssize_t)sizeof(buffer), read(self->zeros, buffer, sizeof(buffer)));
		memset(buffer, i, sizeof(buffer));
		look(self->ring, &self->seen);
	}
	TH_LOG("%u samples, %u without a page size, %u with an odd one", self->seen.samples,
	       self->seen.without, self->seen.odd);
	ASSERT_LT(0, self->seen.samples);
	if (!KERNEL_HAS_PAGES && self->seen.without == self->seen.samples)
		SKIP(return, "this architecture has no page sizes in samples");
	/* A page of the task can be taken away between the interrupt and the look. */
	EXPECT_GE(variant->kernel ? 0 : self->seen.samples / 10, self->seen.without);
	EXPECT_EQ(0, self->seen.odd);
}

TEST_HARNESS_MAIN
