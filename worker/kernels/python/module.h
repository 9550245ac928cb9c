/* SPDX-License-Identifier: MIT */
/* What kernels and techniques in Python share. There is one interpreter per process, and one thread calls it. */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "hdss/kernel.h"

#define EXPORT __attribute__((visibility("default")))

/* The module hdss_python, after python_start() has succeeded. */
extern PyObject *python_support;

int python_start(char error[HDSS_ERROR_MAX]);

/* Writes the current exception as one line to `error`, and clears the exception. Returns -1. */
int python_explain(char error[HDSS_ERROR_MAX]);

/* Flushes what the user's code has printed. Clears the current exception, so call python_explain() first. */
void python_flush_prints(void);

const char *python_text_of(PyObject *object, const char *attribute);
