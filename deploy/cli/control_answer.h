/* SPDX-License-Identifier: MIT */
/* HTTP responses of control sockets: see docs/CONTROL.md. */
#pragma once

#include "common/util/error.h"

#include <jansson.h>
#include <stddef.h>

struct control_answer {
    int status;   /* 0: none */
    json_t *json; /* object; owned. NULL: the response is text */
    char *text;   /* NUL-terminated text of other responses; owned */
    size_t length;
};

/* Total size of the response that begins with these bytes; more than `length` if the head is incomplete. SIZE_MAX: it
 * ends with the connection. */
size_t control_answer_size(const char *bytes, size_t length);

/* Reads a response. For an HTTP error it returns -1 with the server's text in `error`, and fills in `answer`. */
int control_answer_read(struct control_answer *answer, const char *bytes, size_t length, struct error *error);

void control_answer_fini(struct control_answer *answer);
