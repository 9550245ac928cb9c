/* SPDX-License-Identifier: MIT */
/* What the techniques af and maf share (adaptive factoring). */
#pragma once

#include "common/sched/sched.h"
#include "common/util/error.h"

extern const struct technique_param af_params[];

/* Initialises maf. maf counts a worker's waiting time as time of its chunk, and rounds chunk sizes up. */
int maf_init(struct sched *sched, struct error *error);

uint64_t af_next(struct sched *sched, unsigned worker);
void af_feedback(struct sched *sched, const struct sched_feedback *feedback);
double af_weight(const struct sched *sched, unsigned worker);
void af_again(struct sched *sched);
