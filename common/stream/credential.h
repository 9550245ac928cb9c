/* SPDX-License-Identifier: MIT */
/* Munge credentials. With a credential a pod joins at a port although it does not have the key of the set. Each
 * credential carries a random key, which munged encrypts. munged reveals the key once, and only to a process of the
 * same user on a host with the same munge.key. TLS then uses the key. So neither a man in the middle nor an attacker
 * with an earlier credential can join. Builds without munge use no_munge.c.
 *
 * Both functions normally take a millisecond. They take ten seconds if munged hangs, so a thread calls them: see
 * asking.h. The socket of munged is munge's default or HDSS_MUNGE_SOCKET. */
#pragma once

#include "common/stream/stream.h"
#include "common/util/error.h"
#include "proto/frame.h"

#define CREDENTIAL_MAX FRAME_CREDENTIAL_MAX

int credential_make(unsigned char key[STREAM_KEY_BYTES], char text[CREDENTIAL_MAX + 1], struct error *error);

/* Takes the key out of a credential. This user must have made the credential, and it must not have been opened on this
 * host before. */
int credential_open(const char *text, unsigned char key[STREAM_KEY_BYTES], struct error *error);
