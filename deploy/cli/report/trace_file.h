/* SPDX-License-Identifier: MIT */
/* Reading the file of a trace. */
#pragma once

#include "common/util/error.h"
#include "deploy/cli/report/run_trace.h"

#include <stdio.h>

/* Opens a file that is to be read as a trace, or perhaps as a report. NULL with one line. */
FILE *trace_file_open_input(const char *name, struct error *error);

/* Reads all of an open file, and brings the trace into its order. -1 with one line that has the name. */
int trace_file_read(struct run_trace *trace, FILE *file, const char *name, struct error *error);
