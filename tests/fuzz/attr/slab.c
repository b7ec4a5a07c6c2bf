// SPDX-License-Identifier: GPL-2.0-only
/*
 * With a kernel that can: allocations fail while events are opened, mapped and changed,
 * and at the end nothing may be left of them that nobody points to.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attr.h"

#define FAILSLAB	"/sys/kernel/debug/failslab/"
#define KMEMLEAK	"/sys/kernel/debug/kmemleak"

static int fail_nth = -1;

/* Only of tasks that ask for it, and without a trace for each. */
void slab_init(void)
{
	if (!options.slab)
		return;
	fail_nth = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (fail_nth < 0 || !write_file(FAILSLAB "ignore-gfp-wait", "N") ||
	    !write_file(FAILSLAB "verbose", "0"))
		report_text("allocations cannot be made to fail", "");
}

/* The nth allocation of this task from now on */
void slab_fail(struct rand *r)
{
	char text[16];
	int n;

	if (fail_nth < 0 || !one_in(r, 4))
		return;
	n = snprintf(text, sizeof(text), "%llu", scaled(r, 1, 40));
	if (pwrite(fail_nth, text, n, 0) != n)
		report_text("an allocation cannot be made to fail", text);
}

void slab_end(void)
{
	if (fail_nth >= 0 && pwrite(fail_nth, "0", 1, 0) != 1)
		report_text("allocations fail for ever", "");
}

/* What is younger than some seconds is not looked at. */
void slab_scan(void)
{
	static char text[8192];
	unsigned int i;

	if (!options.slab)
		return;
	for (i = 0; i < 2; i++) {
		sleep(6);
		if (!write_file(KMEMLEAK, "scan"))
			report_text("kmemleak cannot be asked", "");
	}
	if (read_file(KMEMLEAK, text, sizeof(text)))
		report_text("memory that nobody points to", text);
}
