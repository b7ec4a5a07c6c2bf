/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef __FUZZ_PERF_DATA_H
#define __FUZZ_PERF_DATA_H

/*
 * How a perf.data file is laid out, for what makes and damages files. In perf these
 * are structs, and the places in them what offsetof() gives; here they are numbers, so
 * that one side's mistake is not made by the other.
 */
#define FILE_MAGIC		0x32454c4946524550ULL	/* "PERFILE2" */

/* The second word of a file tells which of the two it is. */
#define FILE_HEADER_SIZE	104
#define PIPE_HEADER_SIZE	16

/* Places in a file's header: words, two of them for a section. */
#define HEADER_ATTR_SIZE	16
#define HEADER_ATTRS		24
#define HEADER_DATA		40
#define HEADER_FEATURES		72
#define HEADER_FEATURES_SIZE	32

/* An attr's IDs follow it in a file. */
#define SECTION_SIZE		16

/* Record: u32 type, u16 misc, u16 size. */
#define RECORD_MISC		4
#define RECORD_SIZE		6
#define RECORD_HEADER_SIZE	8
#define RECORD_SAMPLE		9
#define RECORD_CALLCHAIN_DEFERRED	22
#define RECORD_ATTR		64
#define RECORD_EVENT_UPDATE	78

#endif /* __FUZZ_PERF_DATA_H */
