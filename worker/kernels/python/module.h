/* SPDX-License-Identifier: MIT */
/* The module for Python: what kernels and techniques that are written in Python have in common. There is one
 * interpreter in a process, and one thread that calls it. */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "hdss/kernel.h"

#define EXPORT __attribute__((visibility("default")))

/* hdss_python, once python_start() has returned 0. */
extern PyObject *python_support;

/* Starts the interpreter, unless it runs. -1 with one line. */
int python_start(char error[HDSS_ERROR_MAX]);

/* The exception that is set, as one line; none is set behind it. Returns -1. */
int python_explain(char error[HDSS_ERROR_MAX]);

/* Has the text that users print go out at once, not when Python thinks fit. An exception that is set is lost: it is
 * explained before. */
void python_flush_prints(void);

/* A text that lives as long as the process; NULL with an exception set, or where memory is out. */
const char *python_keep(PyObject *text);

/* An attribute that is a text, as python_keep() keeps it. */
const char *python_text_of(PyObject *object, const char *attribute);
