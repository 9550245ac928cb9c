/* SPDX-License-Identifier: MIT */
/* The frames of a stream, which carries messages between separate launches: see "Streams" in PROTOCOL.md. This code
 * does no I/O. Decoders accept any bytes and never read past their end. */
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
#define FRAME_VERSION_BYTES 12 /* the first bytes of a HELLO, the same in all versions */
#define FRAME_HELLO_BYTES   108
#define FRAME_WELCOME_BYTES 32

#define FRAME_HELLO_MAX   1024
#define FRAME_WORDS_MAX   65536
#define FRAME_DATA_MAX    65528
#define FRAME_BODY_MAX    (FRAME_WELCOME_BYTES + FRAME_WORDS_MAX)
#define FRAME_RANKS_MAX   (1u << 20)
#define FRAME_BEAT_MAX_MS 60000

/* A pod without the set's key sends a greeting before TLS starts: this head and a munge credential. */
#define FRAME_GREETING_BYTES 12
#define FRAME_CREDENTIAL_MAX 1024
#define FRAME_GREETING_BEGIN 'H' /* no TLS record begins with this byte */

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
    /* How many MESSAGE, DATA and BYE frames the sender has received, modulo 2^32; 0 in HELLO, WELCOME and REFUSED. */
    uint32_t received;
};

struct frame_hello {
    uint16_t stream, protocol;
    uint32_t workers;
    uint32_t cores;                         /* at most FRAME_RANKS_MAX; 0 if unknown */
    uint64_t received;                      /* like `received` of the head, but the full count; 0 for a new pod */
    unsigned char token[FRAME_TOKEN_BYTES]; /* all zero for a new pod */
    char name[FRAME_NAME_BYTES];            /* at least one graphic ASCII character, padded with NULs */
};

struct frame_welcome {
    unsigned char token[FRAME_TOKEN_BYTES];
    uint64_t received;
    uint32_t first_rank;
    uint32_t beat_ms;  /* 1 .. FRAME_BEAT_MAX_MS; a BEAT is sent after this much silence */
    const char *words; /* [words_bytes] words, each with its NUL; borrowed */
    size_t words_bytes;
};

/* Result of frame_hello_decode() for a peer of another version. The error is then the text for REFUSED. */
#define FRAME_OTHER_VERSION 1

void frame_greeting_encode(uint32_t size, unsigned char out[FRAME_GREETING_BYTES]);

/* Returns -1 if the bytes are not a greeting. */
int frame_greeting_decode(uint32_t *size, const unsigned char bytes[FRAME_GREETING_BYTES]);

bool frame_is_credential(const char *bytes, size_t size);

void frame_head_encode(const struct frame_head *head, unsigned char out[FRAME_HEAD_BYTES]);

/* Fails for an unknown type, a size that the type cannot have, or a reserved field that is not zero. */
int frame_head_decode(struct frame_head *head, const unsigned char bytes[FRAME_HEAD_BYTES], struct error *error);

void frame_hello_encode(const struct frame_hello *hello, unsigned char out[FRAME_HELLO_BYTES]);

/* If the peer has another version, returns FRAME_OTHER_VERSION and sets only the version fields. */
int frame_hello_decode(struct frame_hello *hello, const unsigned char *body, size_t size, struct error *error);

/* `out` has room for FRAME_WELCOME_BYTES and the words. */
void frame_welcome_encode(const struct frame_welcome *welcome, unsigned char *out);

/* The words are borrowed from the body. */
int frame_welcome_decode(struct frame_welcome *welcome, const unsigned char *body, size_t size, struct error *error);

int frame_refused_decode(char line[TEXT_MAX + 1], const unsigned char *body, size_t size, struct error *error);
