// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the machine has: PMUs, tracepoints, CPUs, and where things are in its kernel.
 */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attr.h"
#include "simd_regs_live.h"

struct env env = { .cgroup = -1 };

bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	n = write(fd, text, strlen(text));
	close(fd);
	return n == (ssize_t)strlen(text);
}

bool read_file(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, text, size - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	return n > 0;
}

static void find_pmus(void)
{
	const char *dir = "/sys/bus/event_source/devices";
	char path[512], text[32];
	struct dirent *entry;
	DIR *d = opendir(dir);

	while (d && (entry = readdir(d)) && env.nr_pmus < MAX_PMUS) {
		snprintf(path, sizeof(path), "%s/%s/type", dir, entry->d_name);
		if (entry->d_name[0] == '.' || !read_file(path, text, sizeof(text)))
			continue;
		snprintf(env.pmus[env.nr_pmus].name, sizeof(env.pmus[0].name), "%.31s",
			 entry->d_name);
		env.pmus[env.nr_pmus].type = atoi(text);
		if (!strcmp(entry->d_name, "kprobe"))
			env.kprobe = atoi(text);
		if (!strcmp(entry->d_name, "uprobe"))
			env.uprobe = atoi(text);
		env.nr_pmus++;
	}
	if (d)
		closedir(d);
}

static void add_tracepoints(const char *system)
{
	char path[1024], text[32];
	struct dirent *entry;
	DIR *d = opendir(system);

	while (d && (entry = readdir(d)) && env.nr_tracepoints < MAX_TRACEPOINTS) {
		snprintf(path, sizeof(path), "%s/%s/id", system, entry->d_name);
		if (entry->d_name[0] != '.' && read_file(path, text, sizeof(text)))
			env.tracepoints[env.nr_tracepoints++] = atoi(text);
	}
	if (d)
		closedir(d);
}

/* All but those of ftrace itself: its function event is of every call in the kernel. */
static void find_tracepoints(void)
{
	const char *dir = "/sys/kernel/tracing/events";
	struct dirent *entry;
	char path[512];
	DIR *d;

	mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL);
	d = opendir(dir);
	while (d && (entry = readdir(d))) {
		if (entry->d_name[0] == '.' || !strcmp(entry->d_name, "ftrace"))
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name);
		add_tracepoints(path);
	}
	if (d)
		closedir(d);
}

/* The threads of the kernel, which are there from the beginning: they have no program. */
static void find_kthreads(void)
{
	char path[512], link[8];
	struct dirent *entry;
	DIR *d = opendir("/proc");

	env.kthreads[env.nr_kthreads++] = 0;
	while (d && (entry = readdir(d)) && env.nr_kthreads < MAX_KTHREADS) {
		if (!isdigit(entry->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "/proc/%s/exe", entry->d_name);
		if (readlink(path, link, sizeof(link)) < 0)
			env.kthreads[env.nr_kthreads++] = atoi(entry->d_name);
	}
	if (d)
		closedir(d);
}

bool is_kthread(pid_t tid)
{
	unsigned int i;

	for (i = 0; i < env.nr_kthreads; i++) {
		if (env.kthreads[i] == tid)
			return true;
	}
	return false;
}

/*
 * Entry code, where an NMI finds the registers of the user and their saved copy out of
 * step.
 */
static void find_entry_code(void)
{
	static const char * const names[] = {
		"__entry_text_start", "__noinstr_text_start",
		"__entry_text_end", "__noinstr_text_end",
	};
	FILE *file = fopen("/proc/kallsyms", "r");
	unsigned long long address;
	char line[512], name[256];
	unsigned int i;

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%llx %*c %255s", &address, name) != 2)
			continue;
		for (i = 0; i < 4; i++) {
			if (!strcmp(name, names[i]))
				(i < 2 ? env.entry_start : env.entry_end)[i % 2] = address;
		}
	}
	if (file)
		fclose(file);
}

bool in_entry_code(__u64 ip)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		if (ip >= env.entry_start[i] && ip < env.entry_end[i])
			return true;
	}
	return false;
}

/* Offsets in the file, as uprobes want them; the program is not moved when loaded. */
static void find_program(void)
{
	extern const char __executable_start[];
	ssize_t n = readlink("/proc/self/exe", env.program, sizeof(env.program) - 1);

	env.program[n > 0 ? n : 0] = 0;
	env.probe_offset = (uintptr_t)probe_me - (uintptr_t)__executable_start;
	env.live_offset = (uintptr_t)simd_live_begin - (uintptr_t)__executable_start;
}

static void find_cgroup(void)
{
	mkdir("/run/cgroup", 0755);
	if (mount("cgroup2", "/run/cgroup", "cgroup2", 0, NULL))
		return;
	mkdir("/run/cgroup/fuzz", 0755);
	env.cgroup = open("/run/cgroup/fuzz", O_RDONLY | O_CLOEXEC);
}

void env_init(void)
{
	env.nr_cpus = sysconf(_SC_NPROCESSORS_CONF);
	find_pmus();
	find_tracepoints();
	find_kthreads();
	find_entry_code();
	find_program();
	find_cgroup();
	printf("# %u PMUs, %u tracepoints, %u CPUs\n", env.nr_pmus, env.nr_tracepoints,
	       env.nr_cpus);
}
