/* SPDX-License-Identifier: MIT */
/* The greeting before TLS, by which a pod that has no key of the set brings a credential of munge: see PROTOCOL.md,
 * "Who may connect". The end that listens tells a greeting from TLS by the first byte. A credential that is refused is
 * not answered: TLS goes on without its key, and fails as with any other key. */
#pragma once

#include "common/stream/asking.h"
#include "common/stream/credential.h"
#include "common/stream/stream.h"
#include "common/util/error.h"
#include "proto/frame.h"

#include <stdbool.h>
#include <stddef.h>

struct stream_world_ops;

struct greeting {
    bool brings; /* the end that connects; the other one takes it */
    bool is_over;
    bool has_key;
    unsigned char key[STREAM_KEY_BYTES];
    struct error refusal;  /* what is to be said where TLS fails; empty: nothing but that */
    struct asking *asking; /* owned; NULL: munge is not asked */
    size_t done, size;     /* bytes that were read or written, and all that are to be */
    unsigned char bytes[FRAME_GREETING_BYTES + CREDENTIAL_MAX + 1];
};

/* For the end that connects, which brings one, or for the other, which takes it. NULL when memory is out. */
struct greeting *greeting_new(bool brings);

/* Goes on with it. 0 when it is over; else a channel_result, with one line where that is CHANNEL_FAILED. With
 * CHANNEL_WAITS it is to be called again when the descriptor of `asking` can be read. */
int greeting_go_on(struct greeting *greeting, const struct stream_world_ops *ops, int fd, struct error *error);

/* NULL is fine. */
void greeting_free(struct greeting *greeting);
