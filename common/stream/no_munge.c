/* SPDX-License-Identifier: MIT */
/* Stubs for builds without munge: -Dmunge=disabled, or no libmunge. */
#include "common/stream/credential.h"

#define NO_MUNGE                                                                                                       \
    "this build has no munge, which HOST:PORT without the file `pods` of the set takes; accepted: that file, or a "    \
    "build with libmunge (Debian: libmunge-dev) and without -Dmunge=disabled"

int credential_make(unsigned char key[STREAM_KEY_BYTES], char text[CREDENTIAL_MAX + 1], struct error *error)
{
    (void)key, (void)text;
    return error_set(error, NO_MUNGE);
}

int credential_open(const char *text, unsigned char key[STREAM_KEY_BYTES], struct error *error)
{
    (void)text, (void)key;
    return error_set(error, "it comes with a credential of munge, and this build has no munge");
}
