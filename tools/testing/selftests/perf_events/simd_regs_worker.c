// SPDX-License-Identifier: GPL-2.0
/*
 * Worker tasks: load a pattern, keep it live, check it, load the next.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "simd_regs_pattern.h"
#include "simd_regs_worker.h"
#ifdef __aarch64__
#include "simd_regs_worker_arm64.h"
#else
#include "simd_regs_worker_x86.h"
#endif

/* Phases that no worker gets to by counting */
#define PHASE_HANDLER	0x8000
#define PHASE_CHILD	0x4000

/* A pattern together with what loads it */
struct pattern {
	const struct simd_class *cls;
	struct simd_live live;
	void *image, *dump;
};

static struct pattern handler_pattern;
static struct simd_status *handler_status;
static bool handler_resumes;
static const __u64 never_stop;

static void add_call(struct simd_call *calls, unsigned int *nr, __u64 number,
		     __u64 arg0, __u64 arg1, __u64 arg2)
{
	calls[(*nr)++] = (struct simd_call) {
		.nr = number, .arg = { arg0, arg1, arg2 },
	};
}

static int add_migration(struct simd_call *calls, unsigned int *nr)
{
	static cpu_set_t allowed, one[2];
	unsigned int cpu, found = 0;

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return -errno;
	for (cpu = 0; cpu < CPU_SETSIZE && found < 2; cpu++) {
		if (!CPU_ISSET(cpu, &allowed))
			continue;
		CPU_SET(cpu, &one[found]);
		add_call(calls, nr, SYS_sched_setaffinity, 0,
			 sizeof(one[found]), (uintptr_t)&one[found]);
		add_call(calls, nr, SYS_getppid, 0, 0, 0);
		found++;
	}
	return found == 2 ? 0 : -ENODEV;
}

static int add_crypto(unsigned int what, struct simd_call *calls, unsigned int *nr)
{
	static const struct {
		unsigned int what;
		const char *type, *name;
	} algorithms[] = {
		{ SIMD_DO_HASH, "hash", "sha256" },
		{ SIMD_DO_CBC, "skcipher", "cbc(aes)" },
		{ SIMD_DO_CTR, "skcipher", "ctr(aes)" },
		{ SIMD_DO_XTS, "skcipher", "xts(aes)" },
	};
	unsigned int i;
	int err;

	for (i = 0; i < sizeof(algorithms) / sizeof(*algorithms); i++) {
		if (!(what & algorithms[i].what))
			continue;
		err = simd_crypto_calls(algorithms[i].type, algorithms[i].name,
					calls, nr);
		if (err)
			return err;
	}
	return 0;
}

/* The system calls that a round makes; buffers and files stay until exit. */
static int set_calls(const struct simd_worker *w, struct simd_call *calls, unsigned int *nr)
{
	static struct timespec moment = { .tv_nsec = 20000 };
	const unsigned int what = w->what;
	static char buffer[4096];
	int fd, pipes[2], err = 0;

	/* The others have to get on meanwhile, on a slow machine too. */
	if (w->preempts)
		moment.tv_nsec = 1000000;
	if (what & SIMD_DO_GETPPID)
		add_call(calls, nr, SYS_getppid, 0, 0, 0);
	if (what & SIMD_DO_READ) {
		fd = open("/dev/zero", O_RDONLY);
		if (fd < 0)
			return -errno;
		add_call(calls, nr, SYS_read, fd, (uintptr_t)buffer, sizeof(buffer));
	}
	if (what & SIMD_DO_PIPE) {
		if (pipe(pipes))
			return -errno;
		add_call(calls, nr, SYS_write, pipes[1], (uintptr_t)buffer, 64);
		add_call(calls, nr, SYS_read, pipes[0], (uintptr_t)buffer, 64);
	}
	if (what & SIMD_DO_YIELD)
		add_call(calls, nr, SYS_sched_yield, 0, 0, 0);
	if (what & SIMD_DO_SLEEP)
		add_call(calls, nr, SYS_nanosleep, (uintptr_t)&moment, 0, 0);
	if (what & SIMD_DO_SIGNAL)
		add_call(calls, nr, SYS_tgkill, getpid(), syscall(SYS_gettid), SIGUSR1);
	if (what & SIMD_DO_TRAP)
		add_call(calls, nr, SIMD_CALL_TRAP, 0, 0, 0);
	if (what & SIMD_DO_FORK) {
		calls[(*nr)++] = fork_call;
		add_call(calls, nr, SYS_wait4, -1, 0, 0);
	}
	if (what & SIMD_DO_MIGRATE)
		err = add_migration(calls, nr);
	if (!err)
		err = add_crypto(what, calls, nr);
	return err;
}

static __u16 worker_flags(const struct simd_worker *w, const struct simd_class *cls,
			  unsigned int phase)
{
	__u16 parts = cls->parts, flags = 0;

	if (w->what & SIMD_DO_CRYPTO)
		flags |= SIMD_MARK_KFPU;
	/* Each combination of parts comes up in so many phases. */
	if (w->what & SIMD_DO_INIT)
		parts = without_parts(parts, phase & SIMD_MARK_PARTS);
	return parts | flags;
}

__u64 simd_worker_marker(const struct simd_worker *w, unsigned int phase)
{
	return simd_marker(w->seed, phase, worker_flags(w, w->cls, phase));
}

static int new_pattern(struct pattern *p, const struct simd_worker *w,
		       const struct simd_class *cls, __u16 seed, __u16 phase)
{
	size_t size = simd_image_size(cls);

	memset(p, 0, sizeof(*p));
	p->cls = cls;
	p->image = aligned_alloc(64, size);
	p->dump = aligned_alloc(64, size);
	if (!p->image || !p->dump)
		return -ENOMEM;
	memset(p->dump, 0, size);

	p->live.marker = simd_marker(seed, phase, worker_flags(w, cls, phase));
	simd_image_fill(cls, p->image, p->live.marker);
	p->live.image = SIMD_ADDRESS(p->image);
	p->live.dump = SIMD_ADDRESS(p->dump);
	p->live.load = cls->load;
	p->live.spin = w->spin;
	p->live.rounds = 1;
	p->live.stop = SIMD_ADDRESS(&never_stop);
	set_live(&p->live, w, cls);
	return 0;
}

/* Keeps @p live, then checks that the registers still held it at the end. */
static int run_pattern(struct pattern *p, struct simd_status *status)
{
	int child = simd_live_run(&p->live);

	if (child)
		return child;
	status->corrupted += simd_image_compare(p->cls, p->dump, p->image);
	if (p->live.failed) {
		status->failed += p->live.failed;
		status->error = p->live.error;
		p->live.failed = 0;
	}
	return 0;
}

/*
 * The interrupted context gets its registers back before its vector registers,
 * so it must not come back with a valid marker: it sets the marker again at the
 * next round, without loading the pattern again. Where only user mode is sampled,
 * that does not matter.
 */
static void handler(int sig, siginfo_t *info, void *context)
{
	mcontext_t *regs = &((ucontext_t *)context)->uc_mcontext;

	(void)sig;
	(void)info;
	if (handler_resumes)
		keep_marker(regs);
	else
		clear_marker(regs);
	run_pattern(&handler_pattern, handler_status);
}

static int set_handler(const struct simd_worker *w, struct simd_status *status)
{
	/* Often; or so that the task gets to run between two of them. */
	const unsigned int us = w->what & SIMD_DO_RESUME ? 8000 : 1000;
	const struct itimerval every = {
		.it_interval.tv_usec = us, .it_value.tv_usec = us,
	};
	struct sigaction sa = {
		.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART,
	};
	int err;

	err = new_pattern(&handler_pattern, w, w->handler_cls ?: w->cls, w->seed,
			  PHASE_HANDLER);
	if (err)
		return err;
	handler_status = status;
	handler_resumes = w->what & SIMD_DO_RESUME;

	/* One handler at a time: there is one pattern and one dump. */
	sigaddset(&sa.sa_mask, SIGUSR1);
	sigaddset(&sa.sa_mask, SIGALRM);
	if (sigaction(SIGUSR1, &sa, NULL) || sigaction(SIGALRM, &sa, NULL))
		return -errno;
	if ((w->what & SIMD_DO_TIMER) && setitimer(ITIMER_REAL, &every, NULL))
		return -errno;
	return 0;
}

static int pin_to(int cpu)
{
	cpu_set_t set;

	if (cpu < 0)
		return 0;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) ? -errno : 0;
}

static const struct simd_class *enter_phase(const struct simd_worker *w,
					    unsigned int phase)
{
	return w->enter_phase ? w->enter_phase(phase) : w->cls;
}

/* Everything that can fail, before anybody is told that the worker is ready */
static struct pattern *set_up(const struct simd_worker *w, struct pattern *child,
			      struct simd_shared *shared, struct simd_status *status)
{
	static struct simd_call calls[SIMD_MAX_CALLS];
	struct pattern *patterns;
	unsigned int i, nr_calls = 0;
	int err;

	patterns = calloc(w->nr_phases, sizeof(*patterns));
	err = patterns ? pin_to(w->cpu) : -ENOMEM;
	if (!err)
		err = set_calls(w, calls, &nr_calls);
	if (!err && w->more_calls)
		err = w->more_calls(calls, &nr_calls);
	for (i = 0; !err && i < w->nr_phases; i++) {
		err = new_pattern(&patterns[i], w, enter_phase(w, i), w->seed, i);
		patterns[i].live.rounds = w->rounds;
		patterns[i].live.calls = SIMD_ADDRESS(calls);
		patterns[i].live.nr_calls = nr_calls;
		patterns[i].live.stop = SIMD_ADDRESS(&shared->stop);
		patterns[i].live.write = SIMD_ADDRESS(w->write);
	}
	if (!err)
		err = new_pattern(child, w, w->cls, SIMD_CHILD_SEED(w->seed), PHASE_CHILD);
	if (!err && (w->what & (SIMD_DO_SIGNAL | SIMD_DO_TIMER)))
		err = set_handler(w, status);
	status->setup_error = err;
	return err ? NULL : patterns;
}

static void wait_for_go(const struct simd_shared *shared)
{
	while (!simd_get(shared->go) && !simd_get(shared->stop))
		sched_yield();
}

/* Its sleep ends when it was to end, and it runs at once then. */
static void preempt_others(struct simd_status *status)
{
	const struct sched_param first = { .sched_priority = 1 };

	if (prctl(PR_SET_TIMERSLACK, 1) || sched_setscheduler(0, SCHED_FIFO, &first)) {
		status->failed++;
		status->error = -errno;
	}
}

/*
 * A signal would end the worker in a handler, which has other registers. It looks
 * at the time itself instead.
 */
static __u64 set_deadline(const struct simd_worker *w, struct pattern *patterns)
{
	__u64 deadline = w->seconds ? ticks() + w->seconds * ticks_per_second() : 0;
	unsigned int i;

	for (i = 0; i < w->nr_phases; i++)
		patterns[i].live.deadline = deadline;
	return deadline;
}

void simd_worker_run(const struct simd_worker *w, struct simd_shared *shared,
		     struct simd_status *status)
{
	struct pattern *patterns, child;
	unsigned int i = 0;
	__u64 deadline;

	patterns = set_up(w, &child, shared, status);
	simd_set(status->ready, 1);
	if (!patterns)
		return;

	wait_for_go(shared);
	if (w->preempts)
		preempt_others(status);
	deadline = set_deadline(w, patterns);
	while (!simd_get(shared->stop) && (!deadline || ticks() < deadline)) {
		enter_phase(w, i);
		if (run_pattern(&patterns[i], status)) {
			run_pattern(&child, status);
			_exit(0);
		}
		status->phases++;
		i = (i + 1) % w->nr_phases;
	}
}

/* Becomes the program, which gets its seed and its class. */
static void exec_program(const struct simd_worker *w, struct simd_shared *shared,
			 struct simd_status *status)
{
	char seed[8];

	snprintf(seed, sizeof(seed), "%u", w->seed);
	status->setup_error = pin_to(w->cpu);
	if (!status->setup_error && access(w->program, X_OK))
		status->setup_error = -errno;
	simd_set(status->ready, 1);
	wait_for_go(shared);
	execl(w->program, w->program, seed, program_class(w), "00000000", NULL);
	_exit(127);
}

struct simd_shared *simd_shared_new(void)
{
	void *shared = mmap(NULL, sizeof(struct simd_shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return shared == MAP_FAILED ? NULL : shared;
}

int simd_worker_start(struct simd_worker *w, struct simd_shared *shared,
		      unsigned int index)
{
	struct simd_status *status = &shared->status[index];

	memset(status, 0, sizeof(*status));
	w->pid = fork();
	if (w->pid < 0)
		return -errno;
	if (!w->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (w->program)
			exec_program(w, shared, status);
		if (w->what & SIMD_DO_SHSTK && enable_shadow_stack()) {
			status->setup_error = -ENODEV;
			simd_set(status->ready, 1);
			_exit(0);
		}
		simd_worker_run(w, shared, status);
		_exit(0);
	}

	while (!simd_get(status->ready)) {
		int wstatus;

		if (waitpid(w->pid, &wstatus, WNOHANG) == w->pid) {
			w->pid = -1;
			return -ECHILD;
		}
		usleep(1000);
	}
	return status->setup_error;
}

bool simd_worker_wait(struct simd_worker *w)
{
	bool good = false;
	int status;

	if (w->pid <= 0)
		return true;
	/* A program does not know the end: it has to be there still. */
	if (w->program)
		kill(w->pid, SIGKILL);
	if (waitpid(w->pid, &status, 0) == w->pid)
		good = w->program ? WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL :
				    !status;
	w->pid = -1;
	return good;
}
