/* SPDX-License-Identifier: MIT */
/* Queries munge in a thread, because munged may take long to answer. A query asks for a new credential, or for the
 * content of a credential. The caller may free a query before it is answered. */
#pragma once

#include "common/stream/credential.h"
#include "common/util/error.h"

/* Limit of queries per process that are not answered yet. A query that the caller has freed counts until it is
 * answered. If the limit is reached, a new query is refused. */
#define ASKINGS_MAX 128

struct asking;

/* Starts a query for the content of the credential `text`, which is copied. If `text` is NULL, the query is for a new
 * credential. The caller frees the query. */
struct asking *asking_begin(const char *text, struct error *error);

int asking_descriptor(const struct asking *asking);

/* Takes the answer. Call it after asking_descriptor() has become readable. Sets `key`. If the query was for a new
 * credential, also sets `text`; otherwise `text` may be NULL. */
int asking_take(const struct asking *asking, unsigned char key[STREAM_KEY_BYTES], char text[CREDENTIAL_MAX + 1],
                struct error *error);

/* Frees the query, whether it was answered or not. NULL is allowed. */
void asking_free(struct asking *asking);
