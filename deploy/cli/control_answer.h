/* SPDX-License-Identifier: MIT */
/* What control sockets answer by HTTP: see docs/CONTROL.md. */
#pragma once

#include "common/util/error.h"

#include <jansson.h>
#include <stddef.h>

struct control_answer {
    int status;
    json_t *json; /* NULL: the answer is text, or an error */
    char *text;
    size_t length;
};

/* Returns the size of the answer that begins with these bytes. If the head of the answer is incomplete, returns more
 * than `length`. If the answer states no length, it ends when the connection is closed, and this returns SIZE_MAX. */
size_t control_answer_size(const char *bytes, size_t length);

/* For an HTTP error, returns -1 with the server's text in `error`; `answer` then has only the status. */
int control_answer_read(struct control_answer *answer, const char *bytes, size_t length, struct error *error);

void control_answer_fini(struct control_answer *answer);
