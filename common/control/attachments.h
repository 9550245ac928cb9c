/* SPDX-License-Identifier: MIT */
/* Jobs that belong to a client: they are cancelled when the connection that submitted them ends. */
#pragma once

#include <event2/http.h>
#include <stdbool.h>
#include <stdint.h>

struct attachments;

struct attachments *attachments_new(void (*cancel)(void *context, uint64_t job), void *context);

/* Attaches the job to the connection of the client, and removes the idle limit of that connection. Returns false on
 * failure. */
bool attachments_add(struct attachments *attachments, struct evhttp_request *request, uint64_t job);

/* Frees the list without cancelling the jobs. NULL is allowed. */
void attachments_free(struct attachments *attachments);
