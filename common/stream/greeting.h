/* SPDX-License-Identifier: MIT */
/* The greeting before TLS: see PROTOCOL.md, "Who may connect". A pod without the key of the set sends a munge
 * credential in its greeting. The listening end distinguishes a greeting from TLS by the first byte. If a credential is
 * bad, the listening end does not say so. It continues with TLS without the key of the credential, and TLS fails as for
 * any wrong key. */
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
    /* true: this end has opened the connection and sends the greeting; false: this end receives a greeting */
    bool brings;
    bool is_over;
    bool has_key;
    unsigned char key[STREAM_KEY_BYTES];
    struct error refusal; /* error to report if TLS fails; empty: a general error is reported */
    struct asking *asking;
    size_t done, size;
    unsigned char bytes[FRAME_GREETING_BYTES + CREDENTIAL_MAX + 1];
};

struct greeting *greeting_new(bool brings);

/* Continues the greeting. Returns 0 when the greeting is over, otherwise a channel_result. `error` is set if the result
 * is CHANNEL_FAILED. After CHANNEL_WAITS, call this function again when the descriptor of `asking` is readable. */
int greeting_go_on(struct greeting *greeting, const struct stream_world_ops *ops, int fd, struct error *error);

void greeting_free(struct greeting *greeting);
