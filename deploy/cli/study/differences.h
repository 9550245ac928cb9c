/* SPDX-License-Identifier: MIT */
/* Loop times beside one another: whether a setting is quicker than another one, or may only seem so. */
#pragma once

#include "deploy/cli/study/summary.h"

/* The level of significance: a difference counts where its corrected probability is below that. */
#define DIFFERENCE_LEVEL 0.05

/* The axis along which cells are compared where the study has no baseline: that of the techniques where it varies, else
 * what the lines of a picture are for, else what they run along; AXIS_NONE: nothing varies. */
int differences_axis(const struct study *study);

/* Fills in the difference of each cell that is compared with another one: with the cell of the baseline where the study
 * has one, else with the quickest of the cells that differ from it along that axis alone. The loop times must be there.
 * -1 when memory is out. */
int differences_find(struct summary *summary);

/* Runs of each cell that can show a difference where some cells have too few for that; 0: all have enough, or nothing
 * is compared. */
unsigned differences_runs_needed(const struct summary *summary);

/* "quicker", "slower", "may be chance", "too few runs to tell", "the same run each time". */
const char *verdict_text(enum verdict verdict);

/* A probability as people write it: "0.031", "< 0.001". */
void difference_probability(double p, char *text, size_t size);
