/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_SAMPLE_REGS_PRINT_H
#define __PERF_SAMPLE_REGS_PRINT_H

/*
 * The registers of a sample as text: in full for "perf report -D", on one line
 * for "perf script", and as a JSON object.
 */
#include <stdint.h>
#include <stdio.h>

struct perf_event_attr;
struct regs_dump;
struct simd_view;

void regs_dump__dump(FILE *fp, const char *side, const struct regs_dump *regs,
		     const struct perf_event_attr *attr, uint16_t e_machine, uint32_t e_flags,
		     const struct simd_view *view);
int regs_dump__fprintf(FILE *fp, const struct regs_dump *regs,
		       const struct perf_event_attr *attr, uint16_t e_machine, uint32_t e_flags,
		       const struct simd_view *view);
void regs_dump__fprintf_json_abi(FILE *fp, const struct regs_dump *regs);
void regs_dump__fprintf_json(FILE *fp, const struct regs_dump *regs,
			     const struct perf_event_attr *attr,
			     uint16_t e_machine, uint32_t e_flags);

#endif /* __PERF_SAMPLE_REGS_PRINT_H */
