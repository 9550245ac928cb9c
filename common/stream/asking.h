/* SPDX-License-Identifier: MIT */
/* Asking munge for a credential, or for what is in one, in a thread: nobody waits for munged, however long it takes.
 * Who has asked may go before the answer has come. */
#pragma once

#include "common/stream/credential.h"
#include "common/util/error.h"

/* Askings of a process at a time: as many as there are strangers, and those that they have left. More are refused. */
#define ASKINGS_MAX 128

struct asking;

/* Asks what is in the credential, which is copied; NULL: asks for a new one. NULL with one line. */
struct asking *asking_begin(const char *text, struct error *error);

/* A descriptor that can be read once the answer is there. */
int asking_descriptor(const struct asking *asking);

/* Takes the answer, once it is there: the key, and the credential where one was asked for; `text` may be NULL. -1 with
 * one line. */
int asking_take(const struct asking *asking, unsigned char key[STREAM_KEY_BYTES], char text[CREDENTIAL_MAX + 1],
                struct error *error);

/* Frees the asking, with or without its answer. NULL is fine. */
void asking_free(struct asking *asking);
