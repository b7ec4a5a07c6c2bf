// SPDX-License-Identifier: GPL-2.0
/*
 * The vector and predicate registers of a sample for scripts in Python, those that
 * perf runs and those that import perf.
 */
#include <Python.h>
#include <linux/kernel.h>

#include "simd-regs-python.h"
#include "../sample.h"
#include "../simd-regs.h"

/* The bytes of a register, the lowest first, whatever this machine's order is. */
static PyObject *simd_reg__bytes(const struct simd_reg *reg)
{
	size_t size = reg->qwords * sizeof(u64);
	PyObject *bytes = PyBytes_FromStringAndSize(NULL, size);
	char *to;

	if (!bytes)
		return NULL;
	to = PyBytes_AS_STRING(bytes);
	for (size_t i = 0; i < size; i++)
		to[i] = reg->data[i / sizeof(u64)] >> i % sizeof(u64) * 8;
	return bytes;
}

static PyObject *simd_reg__key(const struct simd_reg *reg)
{
	if (simd_reg__has_nr(reg))
		return PyUnicode_FromFormat("%s%u", simd_reg__name(reg), reg->nr);
	return PyUnicode_FromString(simd_reg__name(reg));
}

static int add_reg(PyObject *dict, const struct simd_reg *reg)
{
	PyObject *key = simd_reg__key(reg);
	PyObject *bytes = simd_reg__bytes(reg);
	int err = -1;

	if (key && bytes)
		err = PyDict_SetItem(dict, key, bytes);
	Py_XDECREF(key);
	Py_XDECREF(bytes);
	return err;
}

/**
 * regs_dump__simd_dict - a dictionary of registers, by name, each as its bytes
 * @regs: the registers of a sample
 * @attr: of the event
 * @e_machine: the architecture of the sample
 *
 * The bytes are what struct.unpack() and memoryview.cast() take. Returns NULL with an
 * exception set if there is no memory.
 */
PyObject *regs_dump__simd_dict(const struct regs_dump *regs, const struct perf_event_attr *attr,
			       uint16_t e_machine)
{
	PyObject *dict = PyDict_New();
	struct simd_reg reg;

	if (!dict)
		return NULL;

	for (unsigned int i = 0; regs_dump__next_simd(regs, attr, e_machine, &i, &reg);) {
		if (add_reg(dict, &reg)) {
			Py_DECREF(dict);
			return NULL;
		}
	}
	return dict;
}
