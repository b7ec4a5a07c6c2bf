/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Worker tasks: what the simd_regs tests sample. A worker loads one pattern
 * after the other and keeps each live while it does what it was told to.
 */
#ifndef SIMD_REGS_WORKER_H
#define SIMD_REGS_WORKER_H

#include <linux/types.h>
#include <stdbool.h>
#include <sys/types.h>

#include "simd_regs_image.h"
#include "simd_regs_live.h"

#define SIMD_MAX_WORKERS	8
#define SIMD_MAX_CALLS		24

/* What a worker does beside spinning, any combination of: */
#define SIMD_DO_GETPPID		0x0001
#define SIMD_DO_READ		0x0002	/* a page of /dev/zero */
#define SIMD_DO_PIPE		0x0004	/* to itself */
#define SIMD_DO_YIELD		0x0008
#define SIMD_DO_SLEEP		0x0010
#define SIMD_DO_FORK		0x0020	/* a child that first keeps the pattern */
#define SIMD_DO_SIGNAL		0x0040	/* a handler with a pattern of its own */
#define SIMD_DO_TIMER		0x0080	/* the same handler, at any moment */
#define SIMD_DO_MIGRATE		0x0100	/* to another CPU and back */
#define SIMD_DO_HASH		0x0200	/* the kernel's SHA-256 */
#define SIMD_DO_CBC		0x0400	/* the kernel's AES, in this mode */
#define SIMD_DO_CTR		0x0800
#define SIMD_DO_XTS		0x1000
#define SIMD_DO_SHSTK		0x2000	/* have a shadow stack */
#define SIMD_DO_INIT		0x4000	/* parts in initial state, others each phase */
#define SIMD_DO_TRAP		0x8000	/* into the kernel by no system call: arm64 */
#define SIMD_DO_RESUME		0x10000	/* with the marker, after a handler: arm64 */
#define SIMD_DO_CRYPTO		(SIMD_DO_HASH | SIMD_DO_CBC | SIMD_DO_CTR | SIMD_DO_XTS)
#define SIMD_DO_SYSCALLS	(SIMD_DO_GETPPID | SIMD_DO_READ | SIMD_DO_PIPE)

/*
 * Seeds of one family share the upper byte: a task and what descends from it
 * may have each other's values, nobody else may.
 */
#define SIMD_FAMILY(seed)	((seed) >> 8)
#define SIMD_CHILD_SEED(seed)	((seed) ^ 0x80)

struct simd_worker {
	__u16 seed;
	const struct simd_class *cls;
	unsigned int what;		/* SIMD_DO_* */
	unsigned int nr_phases;		/* patterns to go through */
	__u64 spin;			/* loop iterations per round */
	__u64 rounds;		/* per pattern */
	unsigned int seconds;		/* until it ends by itself; 0: it does not */
	int cpu;			/* -1: any */
	bool preempts;			/* the others, when it wakes up */
	const struct simd_class *handler_cls;	/* NULL: the same */
	/* Prepares the task for a phase and says which class is to be loaded in it. */
	const struct simd_class *(*enter_phase)(unsigned int phase);
	/* Adds calls of a test's own; returns 0 or a negative errno. */
	int (*more_calls)(struct simd_call *calls, unsigned int *nr_calls);
	__u64 *write;			/* where to write in each round, or NULL */
	const char *program;		/* exec this instead: simd_regs_exec */
	pid_t pid;
};

/* What worker and test tell each other: through these, while both run. */
#define simd_get(x)		__atomic_load_n(&(x), __ATOMIC_ACQUIRE)
#define simd_set(x, value)	__atomic_store_n(&(x), value, __ATOMIC_RELEASE)

struct simd_status {
	__u64 ready;
	__u64 phases;	/* patterns gone through */
	__u64 corrupted;	/* times that a register component had changed */
	__u64 failed;	/* system calls that failed */
	__s64 error;		/* how the last of them did */
	__s64 setup_error;	/* could not start: an errno */
};

struct simd_shared {
	__u64 go;
	__u64 stop;
	struct simd_status status[SIMD_MAX_WORKERS];
};

struct simd_shared *simd_shared_new(void);

/* The marker of a worker's pattern number @phase */
__u64 simd_worker_marker(const struct simd_worker *w, unsigned int phase);

/* Does the worker's work in this process until @shared->stop, or for so many seconds.
 * A worker that has a shadow stack needs simd_worker_start().
 */
void simd_worker_run(const struct simd_worker *w, struct simd_shared *shared,
		     struct simd_status *status);

/*
 * Starts @w as a process and waits until it has set up; it begins with
 * shared->go. Returns 0, or a negative errno that says why it could not.
 */
int simd_worker_start(struct simd_worker *w, struct simd_shared *shared,
		      unsigned int index);
/* After shared->stop. Did it end as it should? */
bool simd_worker_wait(struct simd_worker *w);

/* simd_regs_crypto.c: adds the calls of one AF_ALG operation. Negative errno */
int simd_crypto_calls(const char *type, const char *algorithm,
		      struct simd_call *calls, unsigned int *nr_calls);

#endif /* SIMD_REGS_WORKER_H */
