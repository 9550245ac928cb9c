/* SPDX-License-Identifier: MIT */
/* Finds techniques by name: built-in ones and plug-ins of the user. Only a process that cuts chunks, or shows them,
 * loads a plug-in. */
#pragma once

#include "common/sched/sched.h"
#include "common/util/error.h"

/* Like sched_spec_parse(), but also accepts plug-ins: "./mine.so:param=value,...",
 * "python:module.Class:param=value,...". The technique stays valid until the process ends. On failure `spec` is
 * unchanged. */
int technique_load(struct sched_spec *spec, const char *text, struct error *error);
