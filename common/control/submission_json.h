/* SPDX-License-Identifier: MIT */
/* JSON of submissions, from clients and in the queue's journal: see docs/CONTROL.md. */
#pragma once

#include "common/config/submission.h"
#include "common/util/error.h"

#include <jansson.h>
#include <stdbool.h>

/* Missing fields get the documented defaults. On failure nothing is owned. */
int submission_read(struct submission *submission, const json_t *object, struct error *error);

/* Reads the body of a request, a submission or an array of them, without checking the elements. Returns an array in
 * either case, owned by the caller, or NULL with an error. */
json_t *submissions_of_body(const char *bytes, size_t size, bool *is_array, struct error *error);

/* The caller owns the result. */
json_t *submission_json(const struct submission *submission);
