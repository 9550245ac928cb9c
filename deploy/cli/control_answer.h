/* SPDX-License-Identifier: MIT */
/* Answers of control sockets, which are of HTTP: see docs/CONTROL.md. */
#pragma once

#include "common/util/error.h"

#include <jansson.h>
#include <stddef.h>

/* An answer of HTTP. */
struct control_answer {
    int status;   /* 0: there is none */
    json_t *json; /* an object; owned. NULL: the answer is text */
    char *text;   /* what an answer of another kind says, with a NUL behind it; owned */
    size_t length;
};

/* The bytes that the answer takes of which these are the first, at least `length` + 1 where that is not known yet, as
 * its head has not come. SIZE_MAX: all that comes until the connection ends. */
size_t control_answer_size(const char *bytes, size_t length);

/* Reads an answer; that of an error, too, with its line in `error` and -1, as where it is none at all. */
int control_answer_read(struct control_answer *answer, const char *bytes, size_t length, struct error *error);

void control_answer_fini(struct control_answer *answer);
