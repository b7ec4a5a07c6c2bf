/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fuzzer of perf_event_attr: what its files know of each other. main.c says what
 * the program does.
 */
#ifndef ATTR_H
#define ATTR_H

#include <linux/perf_event.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "rand.h"

#define NR_WORKERS	4	/* the first half are root, the others nobody */
#define NR_TARGETS	4	/* likewise */
#define NR_SLOTS	12	/* events that a worker has open */
#define NR_ORPHANS	4	/* rings whose event has no file any more */
#define MAX_SHARED	24	/* events that ever wrote to a ring */
#define NOBODY		65534

/* ---- what is shared by all processes ---- */

enum { COUNT_OPEN, COUNT_SIMD_OPEN, COUNT_RING, COUNT_RECORD, COUNT_SAMPLE,
	COUNT_SIMD_SAMPLE, COUNT_EXACT, COUNT_LOST, COUNT_STEP, NR_COUNTS };

struct shared {
	__u64 stop;
	__u64 findings;
	__u64 hotplugs;
	pid_t targets[NR_TARGETS];
	pid_t workers[NR_WORKERS];
	__u64 steps_done[NR_WORKERS];
	__u64 counts[NR_WORKERS][NR_COUNTS];
	__u64 opened[NR_WORKERS][32];	/* by kind */
	__u64 refused[NR_WORKERS][134];	/* by errno */
};

extern struct shared *shared;

/* What this run was asked for. */
struct options {
	__u64 seed;
	unsigned int seconds;
	unsigned int steps;	/* of each worker; 0: until the time is up */
	int only;		/* this worker alone, or -1 */
	bool hotplug;
	bool slab;		/* let allocations fail, look for leaks */
};

extern struct options options;

static inline bool stopped(void)
{
	return __atomic_load_n(&shared->stop, __ATOMIC_ACQUIRE);
}

/* ---- env.c: what the machine has ---- */

#define MAX_PMUS	32
#define MAX_TRACEPOINTS	2048
#define MAX_KTHREADS	256

struct env {
	struct {
		char name[32];
		__u32 type;
	} pmus[MAX_PMUS];
	unsigned int nr_pmus;
	__u32 kprobe, uprobe;		/* types, 0: there is none */
	__u32 tracepoints[MAX_TRACEPOINTS];
	unsigned int nr_tracepoints;
	pid_t kthreads[MAX_KTHREADS];
	unsigned int nr_kthreads;
	unsigned int nr_cpus;
	int cgroup;			/* a file descriptor, or -1 */
	char program[256];		/* this one */
	__u64 probe_offset, live_offset; /* of functions in it, for uprobes */
	__u64 entry_start[2], entry_end[2];
};

extern struct env env;

void env_init(void);
bool write_file(const char *path, const char *text);
bool read_file(const char *path, char *text, size_t size);
bool in_entry_code(__u64 ip);
bool is_kthread(pid_t tid);

/* ---- events and rings ---- */

enum kind { KIND_HW, KIND_PEBS, KIND_CACHE, KIND_RAW, KIND_CLOCK, KIND_SW,
	KIND_TRACEPOINT, KIND_KPROBE, KIND_UPROBE, KIND_BREAKPOINT, KIND_PMU, KIND_ANY,
	NR_KINDS };

extern const char * const kind_names[NR_KINDS];

/* An event as it was opened; it stays as long as there can be records of it. */
struct event {
	struct perf_event_attr attr;	/* what the kernel made of it */
	enum kind kind;
	__u64 id;
	pid_t pid;
	int cpu;
	unsigned long flags;
	unsigned int step;
	unsigned int users;
};

struct ring {
	void *map;			/* NULL: not any more */
	size_t size;			/* of the data, a power of two */
	bool backward, overwrite;
	int fd;				/* of the event, to pause it */
	__u64 seen;			/* up to where it has been read */
	struct event *events[MAX_SHARED];
	unsigned int nr_events;
	unsigned int users;
};

struct slot {
	int fd;				/* -1: free */
	bool leads;			/* opened without a leader */
	struct event *event;
	struct ring *own;		/* mapped by way of this event */
	struct ring *output;		/* where its records go to; can be another's */
};

/* A worker's own */
struct worker {
	unsigned int index;
	unsigned int step;
	bool root;
	struct rand rand;
	struct slot slots[NR_SLOTS];
	struct ring *orphans[NR_ORPHANS];	/* mapped, their file closed */
};

extern struct worker worker;

#define count(what)	(shared->counts[worker.index][what]++)

/* ---- make.c, make-simd.c: random attributes ---- */

/* Where an event is opened */
struct place {
	pid_t pid;
	int cpu;
	int group;			/* slot of its leader, or -1 */
	bool leads;			/* others of its group follow */
	unsigned long flags;
};

/* A size of attr->size bytes is to be handed over, of @image. */
struct image {
	union {
		struct perf_event_attr attr;
		char bytes[256];
	};
	enum kind kind;
};

void make_place(struct rand *r, struct place *place);
void make_attr(struct rand *r, struct image *image, const struct place *place);
void make_simd(struct rand *r, struct perf_event_attr *attr);

/* ---- ring.c ---- */

/* Maps the ring of a slot's event, if the kernel lets it. */
void ring_map(struct slot *slot, struct rand *r);
void ring_unmap(struct ring *ring);
void ring_add(struct ring *ring, struct event *event);
/* The ring that a slot's records go to; NULL if there is none, or none any more */
struct ring *ring_of(const struct slot *slot);
void ring_get(struct ring **to, struct ring *ring);
void ring_put(struct ring **from);
void ring_drain(struct ring *ring);
void event_put(struct event *event);

/* ---- parse.c, parse-other.c: records, to the byte ---- */

/* What a register block has. */
struct block {
	__u64 abi, mask;
	const __u64 *regs;
	bool has_simd;
	__u64 vec_mask, pred_mask;	/* asked for */
	__u64 nr_vec, vec_qwords, nr_pred, pred_qwords;
	const __u64 *vec, *pred;
};

struct sample {
	unsigned int cpumode;
	bool has_ip, has_tid;
	__u64 ip;
	__u32 pid, tid;
	struct block user, intr;
};

/* What is left of a record. What is read past its end is 0, and an error. */
struct cursor {
	const __u64 *at, *end;
	const char *error;
};

static inline const __u64 *take_words(struct cursor *c, __u64 nr)
{
	const __u64 *words = c->at;

	if (nr > (__u64)(c->end - c->at)) {
		if (!c->error)
			c->error = "ends within a field";
		c->at = c->end;
		return NULL;
	}
	c->at += nr;
	return words;
}

static inline __u64 take(struct cursor *c)
{
	const __u64 *word = take_words(c, 1);

	return word ? *word : 0;
}

static inline void expect(struct cursor *c, bool good, const char *error)
{
	if (!good && !c->error)
		c->error = error;
}

/* Each: NULL, or what is wrong with it. */
const char *parse_sample(const struct event *event, const struct perf_event_header *header,
			 struct sample *sample);
const char *parse_other(const struct event *event, const struct perf_event_header *header);
void parse_read(struct cursor *c, const struct perf_event_attr *attr);
/* Could @header be a record of @event, by the ID that it has? */
bool parse_is_of(const struct event *event, const struct perf_event_header *header);

/* ---- judge.c: the values of a sample ---- */

const char *judge(const struct event *event, const struct sample *sample);

/* ---- report.c ---- */

void report(const char *what, const struct event *event,
	    const struct perf_event_header *header);
void report_ring(const char *what, const struct ring *ring,
		 const struct perf_event_header *header);
void report_text(const char *what, const char *text);
void print_summary(void);

/* ---- steps.c, burst.c, bpf.c, targets.c, disturb.c, slab.c ---- */

void run_worker(unsigned int index);

void burst_init(void);
void burst(struct rand *r);
void burst_child(void);
void probe_me(unsigned int n);
extern volatile __u64 watched_word;

void bpf_init(void);
int bpf_program(struct rand *r);
void bpf_set_event(unsigned int index, int fd);

int targets_start(void);
bool targets_stop(void);
int target_family(pid_t tid);
bool is_target_family(int family);

void run_disturber(void);
void online_all(void);

void slab_init(void);
void slab_fail(struct rand *r);
void slab_end(void);
void slab_scan(void);

#endif /* ATTR_H */
