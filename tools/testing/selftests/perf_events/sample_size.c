// SPDX-License-Identifier: GPL-2.0
/*
 * A sample is as long as its header says, whatever the event asks for and
 * whatever the task does to its registers, and what is in it is what its own
 * event has asked for.
 */
#include <asm/perf_regs.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kselftest_harness.h"

#define RING_PAGES	64
#define MAX_STACK	65528UL		/* the largest sample_stack_user */

struct event {
	struct perf_event_attr attr;
	int fd;
	__u64 id;
	struct perf_event_mmap_page *ring;
	size_t size;			/* of the data */
};

/* What the records of an event came to */
struct seen {
	unsigned long samples, malformed, others, largest, lost;
};

static struct perf_event_attr attr_of(__u64 config, __u64 period, __u64 sample_type)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = config,
		.sample_period = period,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | sample_type,
		.read_format = PERF_FORMAT_LOST,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_callchain_kernel = 1,
	};

	return attr;
}

/* 0 or a negative errno; @prot says whether the buffer is overwritten. */
static int event_open(struct event *event, unsigned int pages, int prot)
{
	size_t page = sysconf(_SC_PAGESIZE);

	event->fd = syscall(SYS_perf_event_open, &event->attr, 0, -1, -1,
			    PERF_FLAG_FD_CLOEXEC);
	if (event->fd < 0 || ioctl(event->fd, PERF_EVENT_IOC_ID, &event->id))
		return -errno;
	event->size = pages * page;
	event->ring = mmap(NULL, event->size + page, prot, MAP_SHARED, event->fd, 0);
	return event->ring == MAP_FAILED ? -errno : 0;
}

static void event_close(struct event *event)
{
	munmap(event->ring, event->size + sysconf(_SC_PAGESIZE));
	close(event->fd);
}

static __u64 lost_samples(const struct event *event)
{
	__u64 values[2];

	return read(event->fd, values, sizeof(values)) == sizeof(values) ? values[1] : 0;
}

/* Takes so many words of a record: false if it has fewer. */
static bool skip(const __u64 **pos, const __u64 *end, __u64 nr)
{
	if (nr > (__u64)(end - *pos))
		return false;
	*pos += nr;
	return true;
}

static bool skip_regs(const __u64 **pos, const __u64 *end, __u64 mask)
{
	const __u64 *abi = *pos;

	if (!skip(pos, end, 1) || *abi > PERF_SAMPLE_REGS_ABI_64)
		return false;
	return !*abi || skip(pos, end, __builtin_popcountll(mask));
}

/* The size, so much of the stack, and if that is any, how much of it is real */
static bool skip_stack(const __u64 **pos, const __u64 *end, __u64 most)
{
	const __u64 *size = *pos;

	if (!skip(pos, end, 1) || *size % 8 || *size > most)
		return false;
	return !*size || (skip(pos, end, *size / 8 + 1) && (*pos)[-1] <= *size);
}

/* Is this as long as the sum of its parts? */
static bool well_formed(const struct perf_event_attr *attr, const __u64 *pos,
			const __u64 *end)
{
	const __u64 type = attr->sample_type, *nr;

	if (!skip(&pos, end, 2))
		return false;
	nr = pos;
	if (type & PERF_SAMPLE_CALLCHAIN && (!skip(&pos, end, 1) || !skip(&pos, end, *nr)))
		return false;
	if (type & PERF_SAMPLE_REGS_USER && !skip_regs(&pos, end, attr->sample_regs_user))
		return false;
	if (type & PERF_SAMPLE_STACK_USER && !skip_stack(&pos, end, attr->sample_stack_user))
		return false;
	if (type & PERF_SAMPLE_REGS_INTR && !skip_regs(&pos, end, attr->sample_regs_intr))
		return false;
	return pos == end;
}

static void look_at(const struct event *event, const struct perf_event_header *header,
		    struct seen *seen)
{
	const __u64 *body = (const __u64 *)(header + 1);

	if (header->type == PERF_RECORD_LOST)
		seen->lost += body[1];
	if (header->type != PERF_RECORD_SAMPLE)
		return;
	seen->samples++;
	if (header->size > seen->largest)
		seen->largest = header->size;
	if (!well_formed(&event->attr, body, (const void *)header + header->size))
		seen->malformed++;
	else if (body[0] != event->id)
		seen->others++;
}

/* Reads all records, up to one after which the next cannot be found. */
static struct seen drain(struct event *event)
{
	static __u64 copy[(UINT16_MAX + 1) / sizeof(__u64)];
	const char *data = (char *)event->ring + sysconf(_SC_PAGESIZE);
	__u64 head = __atomic_load_n(&event->ring->data_head, __ATOMIC_ACQUIRE);
	__u64 tail = event->ring->data_tail;
	struct seen seen = {};

	while (tail < head) {
		size_t pos = tail % event->size, first = event->size - pos;
		const struct perf_event_header *header = (const void *)(data + pos);
		size_t size = header->size;

		if (size < sizeof(*header) || size % 8 || size > head - tail) {
			seen.malformed++;
			break;
		}
		if (size > first) {
			memcpy(copy, header, first);
			memcpy((char *)copy + first, data, size - first);
			header = (const void *)copy;
		}
		look_at(event, header, &seen);
		tail += size;
	}
	__atomic_store_n(&event->ring->data_tail, head, __ATOMIC_RELEASE);
	return seen;
}

static void touch_pages(unsigned int nr)
{
	size_t page = sysconf(_SC_PAGESIZE);
	char *area = mmap(NULL, nr * page, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned int i;

	if (area == MAP_FAILED)
		return;
	madvise(area, nr * page, MADV_NOHUGEPAGE);
	for (i = 0; i < nr; i++)
		__atomic_store_n(area + i * page, 1, __ATOMIC_RELAXED);
	munmap(area, nr * page);
}

static void enable(const struct event *event, bool on)
{
	ioctl(event->fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

static void expect_good(struct __test_metadata *_metadata, struct event *event,
			struct seen *result)
{
	struct seen seen = drain(event);

	TH_LOG("%lu samples of up to %lu bytes, %lu malformed, %lu of others, %lu lost",
	       seen.samples, seen.largest, seen.malformed, seen.others, seen.lost);
	EXPECT_EQ(0UL, seen.malformed);
	EXPECT_EQ(0UL, seen.others);
	if (result)
		*result = seen;
	else
		EXPECT_GT(seen.samples, 0UL);
}

static void sample_at_once(struct __test_metadata *_metadata, struct event *events,
			   unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		ASSERT_EQ(0, event_open(&events[i], RING_PAGES, PROT_READ | PROT_WRITE));
	for (i = 0; i < nr; i++)
		enable(&events[i], true);
	touch_pages(100);
	for (i = 0; i < nr; i++)
		enable(&events[i], false);
	for (i = 0; i < nr; i++) {
		expect_good(_metadata, &events[i], NULL);
		event_close(&events[i]);
	}
}

/* Events of a kind sample at the same moment, but not the same. */
TEST(events_of_a_kind)
{
	struct event events[] = {
		{ .attr = attr_of(PERF_COUNT_SW_PAGE_FAULTS, 1, PERF_SAMPLE_REGS_USER) },
		{ .attr = attr_of(PERF_COUNT_SW_PAGE_FAULTS, 1, PERF_SAMPLE_REGS_USER |
				  PERF_SAMPLE_REGS_INTR) },
		{ .attr = attr_of(PERF_COUNT_SW_PAGE_FAULTS, 1, PERF_SAMPLE_CALLCHAIN |
				  PERF_SAMPLE_STACK_USER) },
		{ .attr = attr_of(PERF_COUNT_SW_PAGE_FAULTS, 1, PERF_SAMPLE_STACK_USER |
				  PERF_SAMPLE_REGS_USER) },
	};

	events[0].attr.sample_regs_user = 0x007;
	events[1].attr.sample_regs_user = 0x1ff;
	events[1].attr.sample_regs_intr = 0x055;
	events[2].attr.sample_stack_user = 256;
	events[3].attr.sample_stack_user = 1024;
	events[3].attr.sample_regs_user = 0x00f;
	sample_at_once(_metadata, events, sizeof(events) / sizeof(*events));
}

/* ... and if it is the same, they still are not the same event. */
TEST(events_of_a_kind_that_are_alike)
{
	struct event events[] = {
		{ .attr = attr_of(PERF_COUNT_SW_PAGE_FAULTS, 1, 0) },
		{ .attr = attr_of(PERF_COUNT_SW_PAGE_FAULTS, 1, 0) },
	};

	sample_at_once(_metadata, events, sizeof(events) / sizeof(*events));
}

TEST(empty_stack)
{
	struct event event = {
		.attr = attr_of(PERF_COUNT_SW_PAGE_FAULTS, 1, PERF_SAMPLE_STACK_USER |
				PERF_SAMPLE_REGS_INTR),
	};

	event.attr.sample_regs_intr = 0x007;
	ASSERT_EQ(0, event_open(&event, RING_PAGES, PROT_READ | PROT_WRITE));
	enable(&event, true);
	touch_pages(100);
	enable(&event, false);
	expect_good(_metadata, &event, NULL);
	event_close(&event);
}

/* Spins with this stack pointer. */
static bool spin_with_stack(unsigned long sp)
{
	unsigned long loops = 20000000;

#if defined(__x86_64__)
	asm volatile("mov %%rsp, %%rbx\n\tmov %1, %%rsp\n1:\tdec %0\n\tjnz 1b\n\t"
		     "mov %%rbx, %%rsp" : "+r" (loops) : "r" (sp) : "rbx", "cc", "memory");
	return true;
#elif defined(__aarch64__)
	asm volatile("mov x9, sp\n\tmov sp, %1\n1:\tsubs %0, %0, #1\n\tb.ne 1b\n\t"
		     "mov sp, x9" : "+r" (loops) : "r" (sp) : "x9", "cc", "memory");
	return true;
#else
	return sp + loops == 0;
#endif
}

/* A stack pointer can be anything: here none, and some at the end of user space. */
TEST(stack_pointers)
{
	const unsigned long pointers[] = {
		0, -1UL, (1UL << 47) - 4096 - 5, (1UL << 56) - 4096 - 5,
		(1UL << 48) - 5, (1UL << 52) - 5,
	};
	struct event event = {
		.attr = attr_of(PERF_COUNT_SW_CPU_CLOCK, 200003, PERF_SAMPLE_STACK_USER |
				PERF_SAMPLE_REGS_INTR),
	};
	unsigned int i;

	event.attr.sample_regs_intr = 0x007;
	event.attr.sample_stack_user = 1024;
	for (i = 0; i < sizeof(pointers) / sizeof(*pointers); i++) {
		ASSERT_EQ(0, event_open(&event, RING_PAGES, PROT_READ | PROT_WRITE));
		enable(&event, true);
		if (!spin_with_stack(pointers[i]))
			SKIP(return, "not for this architecture");
		enable(&event, false);
		expect_good(_metadata, &event, NULL);
		event_close(&event);
	}
}

static void touch_pages_deep(void)
{
	char room[2 * MAX_STACK];

	asm volatile("" : : "r" (room) : "memory");
	touch_pages(20);
	asm volatile("" : : "r" (room) : "memory");
}

/* The stack takes what is left, and not more. */
TEST(largest_stack)
{
	struct event event = {
		.attr = attr_of(PERF_COUNT_SW_PAGE_FAULTS, 1, PERF_SAMPLE_STACK_USER |
				PERF_SAMPLE_REGS_USER | PERF_SAMPLE_REGS_INTR),
	};
	struct seen seen;

	event.attr.sample_regs_user = 0x0ff;
	event.attr.sample_regs_intr = 0x0ff;
	event.attr.sample_stack_user = MAX_STACK;
	ASSERT_EQ(0, event_open(&event, 16 * RING_PAGES, PROT_READ | PROT_WRITE));
	enable(&event, true);
	touch_pages_deep();
	enable(&event, false);
	expect_good(_metadata, &event, &seen);
	EXPECT_EQ(MAX_STACK, seen.largest);
	event_close(&event);
}

/* Touches pages at the end of that many calls, which the frame pointer tells. */
static int touch_pages_at(unsigned int depth)
{
	int below = 0;

	if (depth)
		below = touch_pages_at(depth - 1);
	else
		touch_pages(10);
	return below + 1;
}

#define MAX_STACK_SYSCTL "/proc/sys/kernel/perf_event_max_stack"

static int change_max_stack(int value)
{
	FILE *file = fopen(MAX_STACK_SYSCTL, "r+");
	int was;

	if (!file)
		return -1;
	if (fscanf(file, "%d", &was) != 1)
		was = -1;
	rewind(file);
	fprintf(file, "%d\n", value);
	return fclose(file) ? -1 : was;
}

/* Nothing bounds a callchain but this sysctl: what is too long is lost. */
TEST(endless_callchain)
{
	struct event event = {
		.attr = attr_of(PERF_COUNT_SW_PAGE_FAULTS, 1, PERF_SAMPLE_CALLCHAIN),
	};
	int was = change_max_stack(16000);
	struct seen seen;

	if (was < 0)
		SKIP(return, "cannot set " MAX_STACK_SYSCTL);
	ASSERT_EQ(0, event_open(&event, RING_PAGES, PROT_READ | PROT_WRITE));
	touch_pages_at(9000);
	enable(&event, true);
	touch_pages_at(9000);
	touch_pages_at(1000);
	enable(&event, false);
	EXPECT_LT(0ULL, lost_samples(&event));
	expect_good(_metadata, &event, &seen);
	EXPECT_GT(seen.samples, 0UL);
	EXPECT_GT(seen.lost, 0UL);
	EXPECT_GT(seen.largest, 8000UL);
	event_close(&event);
	change_max_stack(was);
}

/* A buffer that is overwritten has no room for what is longer than all of it. */
TEST(longer_than_the_buffer)
{
	struct event event = {
		.attr = attr_of(PERF_COUNT_SW_PAGE_FAULTS, 1, PERF_SAMPLE_STACK_USER),
	};

	event.attr.sample_stack_user = 3 * sysconf(_SC_PAGESIZE);
	if (event.attr.sample_stack_user > MAX_STACK)
		SKIP(return, "pages are too large");
	event.attr.write_backward = 1;
	ASSERT_EQ(0, event_open(&event, 1, PROT_READ));
	enable(&event, true);
	touch_pages_deep();
	enable(&event, false);
	EXPECT_EQ(0ULL, event.ring->data_head);
	EXPECT_LT(0ULL, lost_samples(&event));
	event_close(&event);
}

TEST_HARNESS_MAIN
