/* SPDX-License-Identifier: MIT */
/* Reads what a job has printed: see job_output.h. */
#include "deploy/cli/job_output.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define ANSWER_MS 10000
/* If a piece is shorter than this, no further output exists yet (docs/CONTROL.md). */
#define PIECE_MIN 65536

enum ask_end job_output_take(struct control_client *client, uint64_t job, enum job_stream stream, uint64_t *from,
                             struct control_answer *answer, struct error *error)
{
    static const char *const names[JOB_STREAMS] = {"out", "err"};
    char target[128];
    snprintf(target, sizeof target, "/v1/jobs/%" PRIu64 "/output?stream=%s&from=%" PRIu64, job, names[stream], *from);
    const enum ask_end end = control_client_ask(client, "GET", target, NULL, ANSWER_MS, answer, error);
    if (end == ASK_ANSWERED && answer->text == NULL) {
        error_set(error, "its answer is no text");
        return ASK_REFUSED;
    }
    *from += answer->length;
    return end;
}

enum ask_end job_output_copy(struct control_client *client, uint64_t job, enum job_stream stream, uint64_t *from,
                             FILE *to, struct error *error)
{
    for (;;) {
        struct control_answer answer;
        enum ask_end end = job_output_take(client, job, stream, from, &answer, error);
        const size_t length = answer.length;
        if (end == ASK_ANSWERED && fwrite(answer.text, 1, length, to) < length) {
            error_set(error, "cannot write: %s", strerror(errno));
            end = ASK_REFUSED;
        }
        control_answer_fini(&answer);
        if (end != ASK_ANSWERED || length < PIECE_MIN)
            return end;
    }
}
