/* SPDX-License-Identifier: MIT */
/* Adaptive weighted factoring: awf, awf-b, awf-c, awf-d and awf-e are weighted factoring with measured weights. The
 * five techniques differ in when a weight changes and in which time is measured.
 *
 * w_j = P (1/pi_j) / sum(1/pi). pi_j = sum(k t_k) / sum(k n_k) is the worker's time per iteration, in which the k-th
 * measurement has the weight k (Banicescu, Velusamy and Devaprasad 2003; Carino and Banicescu 2008). A worker that
 * is not measured has the weight P V_j / V of its power. The measured workers share the rest of P, so the weights
 * always sum to P. */
#pragma once

#include "common/sched/sched.h"
#include "common/util/error.h"

enum awf_period {
    AWF_PER_STEP,
    AWF_PER_BATCH,
    AWF_PER_CHUNK,
};

extern const struct technique_param awf_params_by_batch[], awf_params_by_chunk[];

/* If `with_wait` is set, a worker's waiting time counts as time of its chunk. */
int awf_prepare(struct sched *sched, enum awf_period period, bool with_wait, struct error *error);

uint64_t awf_next_by_batch(struct sched *sched, unsigned worker);
uint64_t awf_next_by_chunk(struct sched *sched, unsigned worker);
double awf_batch_weight(struct sched *sched, unsigned worker, uint64_t batch);
void awf_feedback(struct sched *sched, const struct sched_feedback *feedback);
double awf_weight(const struct sched *sched, unsigned worker);
void awf_again(struct sched *sched);

#define AWF_SOURCE                                                                                                     \
    "Banicescu, Velusamy and Devaprasad, On the scalability of dynamic scheduling scientific applications with "       \
    "adaptive weighted factoring; Carino and Banicescu, Dynamic load balancing with adaptive factoring methods in "    \
    "scientific applications"

#define AWF_BATCH_RULE                                                                                                 \
    "K = w_j ceil(R/(2P)), with R taken at the start of each batch of P chunks; w_j = P (1/pi_j) / sum(1/pi), "        \
    "pi_j = sum(k t_k) / sum(k n_k) over the "
#define AWF_CHUNK_RULE                                                                                                 \
    "K = ceil(w_j R/(2P)); w_j = P (1/pi_j) / sum(1/pi), pi_j = sum(k t_k) / sum(k n_k) over the worker's chunks k, "
