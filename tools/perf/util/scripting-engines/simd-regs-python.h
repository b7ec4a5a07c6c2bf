/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __PERF_SIMD_REGS_PYTHON_H
#define __PERF_SIMD_REGS_PYTHON_H

/* The vector and predicate registers of a sample as an object of Python. */
#include <Python.h>
#include <stdint.h>

struct perf_event_attr;
struct regs_dump;

PyObject *regs_dump__simd_dict(const struct regs_dump *regs, const struct perf_event_attr *attr,
			       uint16_t e_machine);

#endif /* __PERF_SIMD_REGS_PYTHON_H */
