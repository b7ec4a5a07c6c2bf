// SPDX-License-Identifier: GPL-2.0
/*
 * simd_regs_load: a program to profile, whose vector registers hold known
 * values all the time. With --print it says which.
 */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "simd_regs_pattern.h"
#include "simd_regs_worker.h"

#ifdef __aarch64__
#define CLASSES		"v|z|streaming|all|zero"
#define DEFAULT_CLASS	"v"
#else
#define CLASSES		"xmm|ymm|zmm|opmask|egpr|all|zero"
#define DEFAULT_CLASS	"ymm"
#endif

static const struct {
	const char *name;
	unsigned int what;
} modes[] = {
	{ "spin", 0 },
	{ "syscall", SIMD_DO_SYSCALLS },
	{ "yield", SIMD_DO_YIELD },
	{ "sleep", SIMD_DO_SLEEP },
	{ "fork", SIMD_DO_FORK },
	{ "signal", SIMD_DO_SIGNAL | SIMD_DO_TIMER },
	{ "migrate", SIMD_DO_MIGRATE },
	{ "crypto", SIMD_DO_CRYPTO },
};

static struct simd_shared *shared;

static void stop(int sig)
{
	(void)sig;
	simd_set(shared->stop, 1);
}

static void print_usage(FILE *out)
{
	unsigned int i;

	fprintf(out,
		"usage: simd_regs_load [options]\n"
		"  --class " CLASSES "  registers to load (" DEFAULT_CLASS ")\n"
		"  --seed N       which values (1)\n"
		"  --phases N     how many patterns to take turns (1)\n"
		"  --rounds N     how long to keep one until it is compared (100; with one\n"
		"                 pattern, to the end)\n"
		"  --seconds S    how long (1)\n"
		"  --cpu N        run on CPU N only\n"
		"  --print        print the values of the first pattern, then go on\n"
		"  --mode M[,M]   what to do meanwhile (spin):");
	for (i = 0; i < sizeof(modes) / sizeof(*modes); i++)
		fprintf(out, " %s", modes[i].name);
	fprintf(out, "\n");
}

/* Exits if there is no such mode. */
static unsigned int parse_modes(char *list)
{
	unsigned int what = 0, i;
	char *name;

	for (name = strtok(list, ","); name; name = strtok(NULL, ",")) {
		for (i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
			if (!strcmp(modes[i].name, name))
				break;
		}
		if (i == sizeof(modes) / sizeof(*modes)) {
			fprintf(stderr, "simd_regs_load: no mode '%s'\n", name);
			exit(1);
		}
		what |= modes[i].what;
	}
	return what;
}

/* As perf report -D names them: the numbers are left out where there is just one. */
static void print_registers(const char *label, __u64 marker, unsigned int first,
			    unsigned int nr, unsigned int words)
{
	unsigned int reg, word;
	__u64 value;

	for (reg = 0; reg < nr; reg++) {
		for (word = 0; word < words; word++) {
			if (!simd_expect(marker, first + reg, word, &value))
				continue;
			printf("%s", label);
			if (nr > 1)
				printf("[%u]", reg);
			if (words > 1)
				printf("[%u]", word);
			printf(" 0x%016llx\n", value);
		}
	}
}

#ifdef __aarch64__

static void print_values(const struct simd_worker *w)
{
	__u64 marker = simd_worker_marker(w, 0);
	unsigned int vq = simd_marker_vq(marker);
	unsigned int pred_words = (vq * 16 + 63) / 64;

	if (w->cls->parts & SIMD_MARK_Z)
		print_registers("Z", marker, 0, 32, 2 * vq);
	else
		print_registers("V", marker, 0, 32, 2);
	if (w->cls->parts & SIMD_MARK_P)
		print_registers("P", marker, SIMD_REG_P, 16, pred_words);
	if (w->cls->parts & SIMD_MARK_FFR)
		print_registers("FFR", marker, SIMD_REG_FFR, 1, pred_words);
	fflush(stdout);
}

#else

static void print_values(const struct simd_worker *w)
{
	__u64 marker = simd_worker_marker(w, 0);
	unsigned int parts = w->cls->parts;

	/* EGPR values come with XMM ones, which are not what was asked for. */
	if (w->cls->every || !(parts & SIMD_MARK_EGPR)) {
		if (parts & SIMD_MARK_ZMM)
			print_registers("ZMM", marker, 0, 32, 8);
		else if (parts & SIMD_MARK_YMM)
			print_registers("YMM", marker, 0, 16, 4);
		else if (parts & SIMD_MARK_XMM)
			print_registers("XMM", marker, 0, 16, 2);
	}
	if (parts & SIMD_MARK_OPMASK)
		print_registers("OPMASK", marker, SIMD_REG_OPMASK, 8, 1);
	if (parts & SIMD_MARK_EGPR)
		print_registers("EGPR", marker, SIMD_REG_EGPR, 16, 1);
	fflush(stdout);
}

#endif

static unsigned long parse_number(const char *text, unsigned long max)
{
	char *end;
	unsigned long n = strtoul(text, &end, 0);

	if (*end || end == text || n > max) {
		fprintf(stderr, "simd_regs_load: '%s' is not a number up to %lu\n",
			text, max);
		exit(1);
	}
	return n;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "class", required_argument, NULL, 'c' },
		{ "seed", required_argument, NULL, 's' },
		{ "phases", required_argument, NULL, 'p' },
		{ "rounds", required_argument, NULL, 'r' },
		{ "seconds", required_argument, NULL, 't' },
		{ "cpu", required_argument, NULL, 'C' },
		{ "mode", required_argument, NULL, 'm' },
		{ "print", no_argument, NULL, 'P' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	struct simd_worker w = {
		.seed = 1, .cls = simd_class_find(DEFAULT_CLASS), .nr_phases = 1,
		.spin = 1000, .cpu = -1, .seconds = 1,
	};
	struct simd_status *status;
	bool print = false;
	int opt;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (opt) {
		case 'c':
			w.cls = simd_class_find(optarg);
			if (!w.cls) {
				fprintf(stderr, "simd_regs_load: no class '%s'\n", optarg);
				return 1;
			}
			break;
		case 's':
			w.seed = parse_number(optarg, 0xffff);
			break;
		case 'p':
			w.nr_phases = parse_number(optarg, 1000) ?: 1;
			break;
		case 'r':
			w.rounds = parse_number(optarg, 0xffffffff) ?: 1;
			break;
		case 't':
			w.seconds = parse_number(optarg, 100000) ?: 1;
			break;
		case 'C':
			w.cpu = parse_number(optarg, 100000);
			break;
		case 'm':
			w.what = parse_modes(optarg);
			break;
		case 'P':
			print = true;
			break;
		default:
			print_usage(opt == 'h' ? stdout : stderr);
			return opt != 'h';
		}
	}
	/* Comparing takes vector registers: a sample of that has no known values. */
	if (!w.rounds)
		w.rounds = w.nr_phases > 1 ? 100 : ~0ULL;
	if (!simd_class_supported(w.cls)) {
		fprintf(stderr, "simd_regs_load: this CPU has no %s\n", w.cls->name);
		return 4;
	}

	shared = simd_shared_new();
	if (!shared)
		return 1;
	if (print)
		print_values(&w);

	signal(SIGINT, stop);
	signal(SIGTERM, stop);
	simd_set(shared->go, 1);
	status = &shared->status[0];
	simd_worker_run(&w, shared, status);

	if (status->setup_error || status->failed || status->corrupted) {
		fprintf(stderr, "simd_regs_load: start: %s; ",
			strerror(-status->setup_error));
		fprintf(stderr, "%llu system calls failed (%s); ", status->failed,
			strerror(-status->error));
		fprintf(stderr, "registers changed %llu times\n",
			status->corrupted);
		return 1;
	}
	return 0;
}
