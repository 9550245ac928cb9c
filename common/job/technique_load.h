/* SPDX-License-Identifier: MIT */
/* Techniques by name: built-in ones and user plug-ins. A plug-in runs in the process that loads it: the rank that cuts
 * the chunks, or a program that computes them for display. */
#pragma once

#include "common/sched/sched.h"
#include "common/util/error.h"

/* Like sched_spec_parse(), for built-in techniques and plug-ins: "./mine.so:param=value,...",
 * "python:module.Class:param=value,...". The technique is valid until the process ends. On failure `spec` is
 * unchanged. */
int technique_load(struct sched_spec *spec, const char *text, struct error *error);
