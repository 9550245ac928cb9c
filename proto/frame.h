/* SPDX-License-Identifier: MIT */
/* The frames of a stream, which carries messages between separate launches: see "Streams" in PROTOCOL.md. This code
 * does no I/O. Decoders accept any bytes, and never read past the end. */
#pragma once

#include "common/util/error.h"
#include "proto/message.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Raise this if a layout, meaning or limit of a frame changes. */
#define STREAM_VERSION 2

#define FRAME_HEAD_BYTES    8
#define FRAME_TOKEN_BYTES   16
#define FRAME_NAME_BYTES    64
#define FRAME_VERSION_BYTES 12 /* number of bytes at the start of a HELLO that have the same layout in all versions */
#define FRAME_HELLO_BYTES   108
#define FRAME_WELCOME_BYTES 32

#define FRAME_HELLO_MAX   1024
#define FRAME_WORDS_MAX   65536
#define FRAME_DATA_MAX    65528
#define FRAME_BODY_MAX    (FRAME_WELCOME_BYTES + FRAME_WORDS_MAX)
#define FRAME_RANKS_MAX   (1u << 20)
#define FRAME_BEAT_MAX_MS 60000

/* A pod without the key of the set sends a greeting before TLS starts. The greeting consists of a head of this size and
 * a munge credential. */
#define FRAME_GREETING_BYTES 12
#define FRAME_CREDENTIAL_MAX 1024
#define FRAME_GREETING_BEGIN 'H' /* no TLS record begins with this byte, so a greeting cannot be taken for TLS */

enum frame_type {
    FRAME_HELLO = 1,
    FRAME_WELCOME,
    FRAME_REFUSED,
    FRAME_MESSAGE,
    FRAME_BEAT,
    FRAME_BYE,
    FRAME_DATA,
};

struct frame_head {
    enum frame_type type;
    uint32_t size;
    /* Number of MESSAGE, DATA and BYE frames that the sender has received, modulo 2^32; 0 in HELLO, WELCOME and
     * REFUSED. */
    uint32_t received;
};

struct frame_hello {
    uint16_t stream, protocol;
    uint32_t workers;
    uint32_t cores; /* at most FRAME_RANKS_MAX; 0 if unknown */
    /* number of frames received; counted like `received` in struct frame_head, but not modulo 2^32; 0 for a new pod */
    uint64_t received;
    unsigned char token[FRAME_TOKEN_BYTES]; /* all bytes are zero for a new pod */
    char name[FRAME_NAME_BYTES];            /* at least one graphic ASCII character, padded with NULs */
};

struct frame_welcome {
    unsigned char token[FRAME_TOKEN_BYTES];
    uint64_t received;
    uint32_t first_rank;
    uint32_t beat_ms;  /* a peer sends a BEAT after it has sent nothing for this time, 1 .. FRAME_BEAT_MAX_MS */
    const char *words; /* [words_bytes] command line of the set: words, each followed by a NUL; borrowed */
    size_t words_bytes;
};

/* frame_hello_decode() returns this if the peer has another version. The error is then the text for REFUSED. */
#define FRAME_OTHER_VERSION 1

void frame_greeting_encode(uint32_t size, unsigned char out[FRAME_GREETING_BYTES]);

/* Reads the head of a greeting. Returns -1 if the bytes are not a greeting. */
int frame_greeting_decode(uint32_t *size, const unsigned char bytes[FRAME_GREETING_BYTES]);

bool frame_is_credential(const char *bytes, size_t size);

void frame_head_encode(const struct frame_head *head, unsigned char out[FRAME_HEAD_BYTES]);

/* Reads the head of a frame. Fails if the type is unknown, if a frame of this type cannot have this size, or if a
 * reserved field is not zero. */
int frame_head_decode(struct frame_head *head, const unsigned char bytes[FRAME_HEAD_BYTES], struct error *error);

void frame_hello_encode(const struct frame_hello *hello, unsigned char out[FRAME_HELLO_BYTES]);

/* Returns FRAME_OTHER_VERSION if the peer has another version; then sets only the version fields. */
int frame_hello_decode(struct frame_hello *hello, const unsigned char *body, size_t size, struct error *error);

/* `out` has room for FRAME_WELCOME_BYTES and the words. */
void frame_welcome_encode(const struct frame_welcome *welcome, unsigned char *out);

/* `welcome->words` is borrowed from `body`. */
int frame_welcome_decode(struct frame_welcome *welcome, const unsigned char *body, size_t size, struct error *error);

int frame_refused_decode(char line[TEXT_MAX + 1], const unsigned char *body, size_t size, struct error *error);
