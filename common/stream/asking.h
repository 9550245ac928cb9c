/* SPDX-License-Identifier: MIT */
/* Queries munge in a thread, because munged may take long: for a new credential, or for the content of a credential.
 * The caller may leave before the answer. */
#pragma once

#include "common/stream/credential.h"
#include "common/util/error.h"

/* Limit of queries per process, including those whose caller has left. Further queries are refused. */
#define ASKINGS_MAX 128

struct asking;

/* Queries the content of the credential `text`, which is copied; NULL: requests a new credential. The caller frees
 * the query. */
struct asking *asking_begin(const char *text, struct error *error);

int asking_descriptor(const struct asking *asking);

/* Call it after the descriptor has become readable. Sets the key and, for a new credential, its text; `text` may be
 * NULL. */
int asking_take(const struct asking *asking, unsigned char key[STREAM_KEY_BYTES], char text[CREDENTIAL_MAX + 1],
                struct error *error);

/* Frees the query, with or without an answer; NULL is allowed. */
void asking_free(struct asking *asking);
