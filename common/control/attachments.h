/* SPDX-License-Identifier: MIT */
/* Jobs that belong to a client: they are cancelled when its connection, by which they were submitted, ends. */
#pragma once

#include <event2/http.h>
#include <stdbool.h>
#include <stdint.h>

struct attachments;

/* Cancels jobs by `cancel`. NULL when memory is out. */
struct attachments *attachments_new(void (*cancel)(void *context, uint64_t job), void *context);

/* Attaches the job to the connection of the request, which may be quiet for as long as it likes from now on. False when
 * memory is out, or where the client has gone. */
bool attachments_add(struct attachments *attachments, struct evhttp_request *request, uint64_t job);

/* Forgets all of it, and cancels nothing; NULL is fine. */
void attachments_free(struct attachments *attachments);
