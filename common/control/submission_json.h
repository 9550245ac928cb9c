/* SPDX-License-Identifier: MIT */
/* A submission as JSON: see docs/CONTROL.md. What clients send is read here, and what the queue's journal keeps. */
#pragma once

#include "common/config/submission.h"
#include "common/util/error.h"

#include <jansson.h>
#include <stdbool.h>

/* Reads an object; what it leaves out is as the page says. -1 with one line; then there is nothing to release. */
int submission_read(struct submission *submission, const json_t *object, struct error *error);

/* Reads the body of a request: a submission or an array of them, which are not read yet. Returns an array, the
 * caller's, and whether the body was one; NULL with one line. */
json_t *submissions_of_body(const char *bytes, size_t size, bool *is_array, struct error *error);

/* The object from which submission_read() makes the same; the caller's. NULL when memory is out. */
json_t *submission_json(const struct submission *submission);
