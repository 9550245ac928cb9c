/* SPDX-License-Identifier: MIT */
/* What a job of a set has printed, as its set keeps it. */
#pragma once

#include "deploy/cli/control_client.h"

#include <stdint.h>
#include <stdio.h>

enum job_stream { JOB_STREAM_OUT, JOB_STREAM_ERR, JOB_STREAMS };

/* Takes what the job has printed there from `*from` on, up to a piece's size; the text is in `answer`, which is the
 * caller's. */
enum ask_end job_output_take(struct control_client *client, uint64_t job, enum job_stream stream, uint64_t *from,
                             struct control_answer *answer, struct error *error);

/* Copies all that the job has printed there by now from `*from` on, which moves on. ASK_ANSWERED; else with one line.
 */
enum ask_end job_output_copy(struct control_client *client, uint64_t job, enum job_stream stream, uint64_t *from,
                             FILE *to, struct error *error);
