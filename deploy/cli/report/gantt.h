/* SPDX-License-Identifier: MIT */
/* The Gantt chart of a run: what its colours mean, and the chart as SVG, for papers. The page draws its own, by the
 * same classes. */
#pragma once

#include "common/util/text.h"
#include "deploy/cli/report/run_trace.h"

/* With more workers than these a row is a node, with the share of its workers that are busy. */
#define GANTT_ROWS_MAX 200

/* What a chunk is drawn as. */
enum gantt_class {
    GANTT_OWN,
    GANTT_OTHER,
    GANTT_REQUEUED,
    GANTT_RECALLED,
    GANTT_COPY,
    GANTT_VERIFY,
    GANTT_IN_VAIN, /* lost, failed or dropped, for whatever reason it was given, but for verifications */
    GANTT_CLASSES,
};

enum gantt_class gantt_class_of(enum trace_reason reason, enum trace_fate fate);

/* A few words for the legend. */
const char *gantt_class_label(enum gantt_class class);

/* Adds the chart as an SVG document of its own to `text`, at most some MB whatever the trace is. `title` is plain text,
 * in UTF-8. */
void gantt_svg(struct text *text, const struct run_trace *trace, const char *title);
