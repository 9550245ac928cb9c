/* SPDX-License-Identifier: MIT */
/* Techniques by name: those that are built in, and a user's shared object. The plug-in runs in the process that loads
 * it, which is the rank that cuts chunks by it, or who only wants to know what these would be. */
#pragma once

#include "common/sched/sched.h"
#include "common/util/error.h"

/* As sched_spec_parse(), also of a plug-in: "./mine.so:param=value,...", or "python:module.Class:param=value,...". Its
 * technique lives as long as the process. -1 with one line, and `spec` as it was. */
int technique_load(struct sched_spec *spec, const char *text, struct error *error);
