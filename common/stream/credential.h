/* SPDX-License-Identifier: MIT */
/* Munge credentials, by which a pod joins at a port without the key of the set. Each carries a random key: munged
 * encrypts it and reveals it, once, only to a process of the same user on a host with the same munge.key. TLS then
 * uses that key, so that a man in the middle, or an attacker with an earlier credential, gains nothing. Builds
 * without munge use no_munge.c.
 *
 * Both functions normally take a millisecond, and ten seconds if munged hangs, so a thread calls them: see asking.h.
 * The socket of munged is munge's default or HDSS_MUNGE_SOCKET. */
#pragma once

#include "common/stream/stream.h"
#include "common/util/error.h"
#include "proto/frame.h"

#define CREDENTIAL_MAX FRAME_CREDENTIAL_MAX

int credential_make(unsigned char key[STREAM_KEY_BYTES], char text[CREDENTIAL_MAX + 1], struct error *error);

/* Takes the key out of a credential that this user made and that was not yet opened on this host. */
int credential_open(const char *text, unsigned char key[STREAM_KEY_BYTES], struct error *error);
