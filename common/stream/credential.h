/* SPDX-License-Identifier: MIT */
/* Credentials of munge, by which a pod joins at a port without the key of the set. Each carries a key of its own to
 * the other end: munged encrypts it, and gives it to nobody but a process of the same user on a host that has the same
 * munge.key, once. TLS then takes that key, so that whoever stands between the ends, or has recorded an earlier
 * credential, has nothing by it. In a build without munge none is made or opened: no_munge.c.
 *
 * Both take as long as munged does: a millisecond, but ten seconds where it hangs. So a thread does it: asking.h. The
 * socket of munged is where munge has it, or where the variable HDSS_MUNGE_SOCKET says. */
#pragma once

#include "common/stream/stream.h"
#include "common/util/error.h"
#include "proto/frame.h"

/* The most bytes of a credential. */
#define CREDENTIAL_MAX FRAME_CREDENTIAL_MAX

/* Draws a key, and makes a credential with it, which ends with a NUL. -1 with one line. */
int credential_make(unsigned char key[STREAM_KEY_BYTES], char text[CREDENTIAL_MAX + 1], struct error *error);

/* Opens a credential that a process of this user has made for one, and that nobody has opened on this host. -1 with one
 * line. */
int credential_open(const char *text, unsigned char key[STREAM_KEY_BYTES], struct error *error);
