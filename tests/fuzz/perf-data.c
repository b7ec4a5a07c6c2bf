// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whole files, for libFuzzer: an input is a perf.data file, or what perf writes into
 * a pipe. It is dumped by perf report -D, summed up by perf report, printed by perf
 * script, and converted to JSON, by perf's own functions for that. One that fails has
 * to say what is wrong, and not only where.
 *
 * perf reads events where they lie in a file or a buffer, next to others. The rest of
 * the buffer is fenced off while it looks at an event of a pipe, and so is what is
 * after the end of a mapped file, for AddressSanitizer to see. Functions whose name
 * begins with __wrap_ are what perf calls instead of the C library's (ld --wrap).
 *
 * PERF_FUZZ_SHOW=1 shows what perf prints.
 */
#include <byteswap.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <linux/kernel.h>
#include <perf/core.h>
#include <sanitizer/allocator_interface.h>
#include <sanitizer/asan_interface.h>
#include <subcmd/exec-cmd.h>
#include <subcmd/pager.h>

#include "builtin.h"
#include "callchain.h"
#include "data-convert.h"
#include "debug.h"
#include "perf.h"
#include "sort.h"
#include "symbol.h"
#include "symbol_conf.h"
#include "util.h"

#include "perf-data.h"

static void check(bool good, const char *what)
{
	if (!good) {
		dprintf(STDERR_FILENO, "wrong: %s\n", what);
		abort();
	}
}

/* ---- what perf prints ------------------------------------------------------------ */

static unsigned int nr_errors;

static ssize_t print_nowhere(void *cookie __maybe_unused, const char *text __maybe_unused,
			     size_t size)
{
	return size;
}

/* What names nothing that is wrong, but perhaps where it is. */
static const char * const no_errors[] = {
	"incompatible file format (rerun with -v to learn more)",
	"WARNING: perf.data is missing HEADER_NRCPUS",
	"event processing failed",
	": processing failed for event of type",
	"failed to process sample",
	/* There are scripts once, for the first input. */
	"Error registering P",
	"Overriding previous field request",
};

/* A line. */
static ssize_t print_error(void *cookie __maybe_unused, const char *text, size_t size)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(no_errors); i++) {
		if (memmem(text, size, no_errors[i], strlen(no_errors[i])))
			return size;
	}
	nr_errors++;
	return size;
}

static FILE *stream_to(cookie_write_function_t *write)
{
	FILE *stream = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = write });

	check(stream, "memory for a stream");
	return stream;
}

static void catch_output(void)
{
	if (getenv("PERF_FUZZ_SHOW"))
		return;
	stdout = stream_to(print_nowhere);
	stderr = stream_to(print_error);
	setlinebuf(stderr);
}

/* ---- fences ---------------------------------------------------------------------- */

/* What is after the event that has been read last from a pipe. */
static struct {
	const char *buf, *at;
	size_t buf_size;
} fence;

/* Is the input a stream? */
static bool is_pipe;

static void take_fence_down(void)
{
	/* perf may have freed the buffer. */
	if (fence.buf && __sanitizer_get_ownership(fence.buf) &&
	    __sanitizer_get_allocated_size(fence.buf) == fence.buf_size)
		ASAN_UNPOISON_MEMORY_REGION(fence.at, fence.buf + fence.buf_size - fence.at);
	fence.buf = NULL;
}

/* An event is read in two parts into memory that may have been larger events'. */
static void put_fence_up(const char *part, const char *end)
{
	const char *buf = part;

	if (!__sanitizer_get_ownership(buf))
		buf -= RECORD_HEADER_SIZE;
	if (!__sanitizer_get_ownership(buf))
		return;
	fence.buf = buf;
	fence.buf_size = __sanitizer_get_allocated_size(buf);
	fence.at = end;
	ASAN_POISON_MEMORY_REGION(fence.at, fence.buf + fence.buf_size - fence.at);
}

ssize_t __real_read(int fd, void *buf, size_t size);
ssize_t __wrap_read(int fd, void *buf, size_t size);

ssize_t __wrap_read(int fd, void *buf, size_t size)
{
	ssize_t done;

	if (!is_pipe)
		return __real_read(fd, buf, size);
	take_fence_down();
	done = __real_read(fd, buf, size);
	if (done > 0)
		put_fence_up(buf, buf + done);
	return done;
}

/* Files that are mapped now. */
static struct map {
	char *addr;
	size_t size;
} maps[8];

void *__real_mmap64(void *addr, size_t size, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap64(void *addr, size_t size, int prot, int flags, int fd, off_t offset);
int __real_munmap(void *addr, size_t size);
int __wrap_munmap(void *addr, size_t size);

void *__wrap_mmap64(void *addr, size_t size, int prot, int flags, int fd, off_t offset)
{
	char *map = __real_mmap64(addr, size, prot, flags, fd, offset);
	struct stat st;

	if ((void *)map == MAP_FAILED || fd < 0 || fstat(fd, &st) || offset > st.st_size)
		return map;

	for (unsigned int i = 0; i < ARRAY_SIZE(maps); i++) {
		if (maps[i].addr)
			continue;
		maps[i] = (struct map){ .addr = map, .size = size };
		if ((size_t)(st.st_size - offset) < size)
			ASAN_POISON_MEMORY_REGION(map + (st.st_size - offset),
						  size - (st.st_size - offset));
		return map;
	}
	check(false, "no more than a few maps");
	return map;
}

int __wrap_munmap(void *addr, size_t size)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(maps); i++) {
		if (maps[i].addr == addr) {
			ASAN_UNPOISON_MEMORY_REGION(addr, maps[i].size);
			maps[i].addr = NULL;
		}
	}
	return __real_munmap(addr, size);
}

/* perf leaves the map of a file to the kernel when it ends. */
static void unmap_all(void)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(maps); i++) {
		if (maps[i].addr)
			__wrap_munmap(maps[i].addr, maps[i].size);
	}
}

/* Ctrl-C stops this program, and not only the printing of an input. */
sighandler_t __wrap_signal(int nr, sighandler_t handler);

sighandler_t __wrap_signal(int nr __maybe_unused, sighandler_t handler __maybe_unused)
{
	return SIG_DFL;
}

/* Each session asks for it, by an instruction that a virtual machine has emulated. */
int __real_get_cpuid(char *buffer, size_t size, struct perf_cpu cpu);
int __wrap_get_cpuid(char *buffer, size_t size, struct perf_cpu cpu);

int __wrap_get_cpuid(char *buffer, size_t size, struct perf_cpu cpu)
{
	static char cpuid[128];

	if (!*cpuid && __real_get_cpuid(cpuid, sizeof(cpuid), cpu))
		return -1;
	return snprintf(buffer, size, "%s", cpuid) < (int)size ? 0 : -1;
}

/* ---- an input -------------------------------------------------------------------- */

static int input, first_fd;
static char path[32];

static void set_input(const uint8_t *data, size_t size)
{
	u64 words[2] = {};

	check(!ftruncate(input, 0), "no input");
	check(pwrite(input, data, size, 0) == (ssize_t)size, "an input");
	memcpy(words, data, min(size, sizeof(words)));
	is_pipe = words[1] == PIPE_HEADER_SIZE || bswap_64(words[1]) == PIPE_HEADER_SIZE;

	/* The fuzzer opens files too, but none while an input is run. */
	first_fd = dup(input);
	check(first_fd >= 0, "a file");
	close(first_fd);
}

/* In perf's own file for scripts: it is -1 when the options have been freed. */
extern int dlargc;

/* What perf has been configured to, before an input. */
static struct symbol_conf conf;
static struct callchain_param callchains;

/* Each starts as perf does, which ends after it. */
static void clean_up(void)
{
	dlargc = 0;
	perf_guest = false;
	sort__mode = SORT_MODE__NORMAL;
	reset_output_field();
	symbol_conf = conf;
	callchain_param = callchains;
	take_fence_down();
	unmap_all();
	check(!close_range(first_fd, ~0U, 0), "files are closed");
	fflush(stderr);
}

static void run(int (*cmd)(int argc, const char **argv), const char *const *options)
{
	const char *argv[16] = { options[0], "-i", path };
	int argc = 3, status;

	while (*++options)
		argv[argc++] = *options;
	dump_trace = false;
	nr_errors = 0;
	status = cmd(argc, argv);
	clean_up();
	if (!getenv("PERF_FUZZ_SHOW"))
		check(!status || nr_errors, "a failure says what is wrong");
}

static void convert(void)
{
	struct perf_data_convert_opts opts = { .force = true };

	dump_trace = false;
	bt_convert__perf2json(path, "/dev/null", &opts);
	clean_up();
}

static int ignore(enum libperf_print_level level __maybe_unused,
		  const char *fmt __maybe_unused, va_list args __maybe_unused)
{
	return 0;
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc __maybe_unused, char ***argv __maybe_unused)
{
	/* What perf's main() does. */
	catch_output();
	perf_debug_setup();
	exec_cmd_init("perf", "/usr", "libexec/perf-core", "PERF_EXEC_PATH");
	pager_init("PERF_PAGER");
	libperf_init(ignore);

	/* No symbols of this machine: a file may name any file on it. */
	symbol_conf.symfs = "/nowhere";
	symbol_conf.kallsyms_name = "/dev/null";
	symbol_conf.ignore_vmlinux = true;
	symbol_conf.ignore_vmlinux_buildid = true;
	symbol_conf.try_vmlinux_path = false;
	/* No tracepoints either: each attr of one has thousands looked through. */
	setenv("TRACEFS_PATH", "/nowhere", 1);

	check(!symbol__init(NULL), "symbols");
	conf = symbol_conf;
	callchains = callchain_param;

	input = memfd_create("input", 0);
	check(input >= 0, "memory for the input");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", input);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const dump[] = {
		"report", "-D", "--stdio", "--simd-type", "f32,high", NULL
	};
	static const char *const report[] = { "report", "--stdio", NULL };
	static const char *const print[] = {
		"script", "--simd-type", "hex", "-F", "ip,iregs,uregs", NULL
	};

	if (!size)
		return 0;
	set_input(data, size);
	run(cmd_report, dump);
	run(cmd_report, report);
	run(cmd_script, print);
	convert();
	return 0;
}
