/* SPDX-License-Identifier: MIT */
/* The frames of a stream, which carry messages between launches of their own: see "Streams" in PROTOCOL.md. Nothing
 * here knows of sockets. A decoder takes any bytes, reads none behind their end, and says in one line what is wrong. */
#pragma once

#include "common/util/error.h"
#include "proto/message.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* To be raised when a layout, a meaning or a limit of the frames changes, that of HELLO's first bytes excepted, which
 * are the same in all versions. */
#define STREAM_VERSION 2

#define FRAME_HEAD_BYTES    8
#define FRAME_TOKEN_BYTES   16
#define FRAME_NAME_BYTES    64
#define FRAME_VERSION_BYTES 12 /* of a HELLO: all that is read where its versions are others */
#define FRAME_HELLO_BYTES   108
#define FRAME_WELCOME_BYTES 32 /* plus the words */

/* The most bytes of a HELLO of any version. */
#define FRAME_HELLO_MAX   1024
#define FRAME_WORDS_MAX   65536
#define FRAME_DATA_MAX    65528 /* 64 KiB with the head */
#define FRAME_BODY_MAX    (FRAME_WELCOME_BYTES + FRAME_WORDS_MAX)
#define FRAME_RANKS_MAX   (1u << 20) /* workers and cores of a pod */
#define FRAME_BEAT_MAX_MS 60000

/* The greeting of a pod that has no key of the set, which goes before TLS: a head, and a credential of munge. */
#define FRAME_GREETING_BYTES 12 /* of the head */
#define FRAME_CREDENTIAL_MAX 1024
#define FRAME_GREETING_BEGIN 'H' /* its first byte, with which TLS does not begin */

enum frame_type {
    FRAME_HELLO = 1, /* the first frame of the end that joins, and of one that comes back */
    FRAME_WELCOME,
    FRAME_REFUSED,
    FRAME_MESSAGE,
    FRAME_BEAT,
    FRAME_BYE,
    FRAME_DATA,
};

struct frame_head {
    enum frame_type type;
    uint32_t size;     /* of the body, in bytes */
    uint32_t received; /* MESSAGEs, DATA and BYE that the sender has received, modulo 2^32; 0 in HELLO, WELCOME and
                          REFUSED */
};

struct frame_hello {
    uint16_t stream, protocol;              /* the versions */
    uint32_t workers;                       /* 1 .. FRAME_RANKS_MAX */
    uint32_t cores;                         /* at most FRAME_RANKS_MAX; 0: not known */
    uint64_t received;                      /* as in a head, but whole; 0 for who is new */
    unsigned char token[FRAME_TOKEN_BYTES]; /* all zero: the pod is new */
    char name[FRAME_NAME_BYTES];            /* graphic ASCII characters, at least one, and a NUL */
};

struct frame_welcome {
    unsigned char token[FRAME_TOKEN_BYTES]; /* not all zero */
    uint64_t received;
    uint32_t first_rank;
    uint32_t beat_ms;   /* 1 .. FRAME_BEAT_MAX_MS: silence after which a BEAT is sent */
    const char *words;  /* [words_bytes] each with its NUL; borrowed */
    size_t words_bytes; /* at most FRAME_WORDS_MAX */
};

/* The result of frame_hello_decode() for a HELLO of another version; the error's line is what REFUSED is to say. */
#define FRAME_OTHER_VERSION 1

/* Writes the head of a greeting with a credential of so many bytes. */
void frame_greeting_encode(uint32_t size, unsigned char out[FRAME_GREETING_BYTES]);

/* Reads how many bytes the credential has. -1 for bytes that are no greeting. */
int frame_greeting_decode(uint32_t *size, const unsigned char bytes[FRAME_GREETING_BYTES]);

/* True for bytes that can be a credential of munge: graphic ASCII characters that begin as each does. */
bool frame_is_credential(const char *bytes, size_t size);

void frame_head_encode(const struct frame_head *head, unsigned char out[FRAME_HEAD_BYTES]);

/* -1 with one line for a type that is none, and for a size that the type cannot have. */
int frame_head_decode(struct frame_head *head, const unsigned char bytes[FRAME_HEAD_BYTES], struct error *error);

/* Writes the body of a HELLO. */
void frame_hello_encode(const struct frame_hello *hello, unsigned char out[FRAME_HELLO_BYTES]);

/* Reads the body of a HELLO. -1 with one line for bytes that are none, FRAME_OTHER_VERSION for one of another version,
 * of which nothing but the versions is set. */
int frame_hello_decode(struct frame_hello *hello, const unsigned char *body, size_t size, struct error *error);

/* Writes the body of a WELCOME: FRAME_WELCOME_BYTES and its words. */
void frame_welcome_encode(const struct frame_welcome *welcome, unsigned char *out);

/* The words are borrowed from the body. -1 with one line. */
int frame_welcome_decode(struct frame_welcome *welcome, const unsigned char *body, size_t size, struct error *error);

/* Checks the body of a REFUSED, and copies its line into `line`. -1 with one line in `error`. */
int frame_refused_decode(char line[TEXT_MAX + 1], const unsigned char *body, size_t size, struct error *error);
