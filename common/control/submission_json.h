/* SPDX-License-Identifier: MIT */
/* JSON of submissions, from clients and in the queue's journal: see docs/CONTROL.md. */
#pragma once

#include "common/config/submission.h"
#include "common/util/error.h"

#include <jansson.h>
#include <stdbool.h>

/* Reads a submission. Missing fields get the defaults of docs/CONTROL.md. If it fails, nothing is owned. */
int submission_read(struct submission *submission, const json_t *object, struct error *error);

/* Parses the body of a request, which is a submission or an array of submissions. Does not check the submissions.
 * Always returns an array, which the caller owns, or NULL with an error. `*is_array`: whether the body is an array. */
json_t *submissions_of_body(const char *bytes, size_t size, bool *is_array, struct error *error);

/* Returns the submission as JSON, which the caller owns. */
json_t *submission_json(const struct submission *submission);
