// SPDX-License-Identifier: GPL-2.0-only
/*
 * Executes itself with longer vectors of streaming mode than it had, enters that mode
 * and gets a signal there, for which the kernel saves them.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <unistd.h>

#define SHORT		16
#define LONG		256	/* bytes */

#define SMSTART		".inst 0xd503437f\n"	/* of streaming mode, without ZA */
#define SMSTOP		".inst 0xd503427f\n"

#ifndef PR_SME_SET_VL
#define PR_SME_SET_VL		63
#define PR_SME_SET_VL_ONEXEC	(1 << 18)
#endif

static volatile sig_atomic_t caught;

static void handler(int nr)
{
	(void)nr;
	caught = 1;
}

/* No function of a library may run in streaming mode, nor a system call. */
static void wait_in_streaming_mode(void)
{
	asm volatile(SMSTART
		     "1:	ldr	w9, [%0]\n"
		     "	cbz	w9, 1b\n"
		     SMSTOP
		     : : "r" (&caught) : "x9", "memory", "z0", "z1", "z2", "z3", "z4", "z5", "z6",
		       "z7", "z8", "z9", "z10", "z11", "z12", "z13", "z14", "z15", "z16", "z17",
		       "z18", "z19", "z20", "z21", "z22", "z23", "z24", "z25", "z26", "z27", "z28",
		       "z29", "z30", "z31");
}

static int fail(const char *what)
{
	printf("not ok: %s: %s\n", what, strerror(errno));
	return 1;
}

int main(int argc, char **argv)
{
	struct itimerval soon = { .it_value.tv_usec = 20000 };

	if (argc < 2) {
		if (prctl(PR_SME_SET_VL, SHORT) < 0)
			return fail("PR_SME_SET_VL");
		asm volatile(SMSTART SMSTOP : : : "memory");
		if (prctl(PR_SME_SET_VL, LONG | PR_SME_SET_VL_ONEXEC) < 0)
			return fail("PR_SME_SET_VL_ONEXEC");
		execl("/proc/self/exe", argv[0], "again", NULL);
		return fail("exec");
	}

	signal(SIGALRM, handler);
	setitimer(ITIMER_REAL, &soon, NULL);
	wait_in_streaming_mode();
	printf("ok: a signal in streaming mode after exec\n");
	return 0;
}
