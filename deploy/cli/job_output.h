/* SPDX-License-Identifier: MIT */
/* Reads what a job of a set has printed. The set keeps this output. */
#pragma once

#include "deploy/cli/control_client.h"

#include <stdint.h>
#include <stdio.h>

enum job_stream { JOB_STREAM_OUT, JOB_STREAM_ERR, JOB_STREAMS };

/* Reads the next piece of a stream from `*from` on, and advances `*from`. The caller owns `answer`, which has the
 * text. */
enum ask_end job_output_take(struct control_client *client, uint64_t job, enum job_stream stream, uint64_t *from,
                             struct control_answer *answer, struct error *error);

/* Copies all output of the stream that exists so far, from `*from` on, and advances `*from`. Returns ASK_ANSWERED if
 * all was copied. */
enum ask_end job_output_copy(struct control_client *client, uint64_t job, enum job_stream stream, uint64_t *from,
                             FILE *to, struct error *error);
