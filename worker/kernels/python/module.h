/* SPDX-License-Identifier: MIT */
/* Shared by kernels and techniques written in Python. One interpreter per process, called by one thread. */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "hdss/kernel.h"

#define EXPORT __attribute__((visibility("default")))

/* The module hdss_python, after python_start(). */
extern PyObject *python_support;

/* Starts the interpreter unless it runs. */
int python_start(char error[HDSS_ERROR_MAX]);

/* Converts the current exception to one line and clears it. Returns -1. */
int python_explain(char error[HDSS_ERROR_MAX]);

/* Flushes what users print. Clears the current exception, so call python_explain() first. */
void python_flush_prints(void);

/* A text attribute, kept by python_keep(). */
const char *python_text_of(PyObject *object, const char *attribute);
