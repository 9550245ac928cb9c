/* SPDX-License-Identifier: MIT */
/* Flag bits, offsets and magic bytes of PROTOCOL.md, for encoders and decoders. */
#pragma once

#include "proto/message.h"

#define HEADER_AT_JOB 8

#define HELLO_MAGIC        "HDSS"
#define HELLO_FLAG_DCA     1u
#define HELLO_FLAG_POD     2u
#define HELLO_FLAG_LISTENS 4u

#define SPEED_AT_REALS  8
#define SPEED_AT_CELLS  32
#define SPEED_AT_LEVELS (SPEED_BYTES - HEADER_BYTES)

/* The fixed part of a REQUEST ends with a completion, whose last two bytes hold the load. completion_put() sets these
 * bytes to 0. */
#define REQUEST_AT_LOAD (REQUEST_BYTES - 2)

#define FLAG_DONE         1u
#define FLAG_INLINE       2u
#define FLAG_DATA         4u
#define FLAG_HAS_FAILED   8u
#define FLAG_ISOLATED     1u
#define FLAG_FINAL        1u
#define FLAG_DIED         2u
#define FLAG_FIRST_WRONG  1u
#define FLAG_SECOND_WRONG 2u
/* This bit is set in the count of a range of a REPORT if the kernel reports all iterations of the range as failed. */
#define COUNT_HAS_FAILED (UINT64_C(1) << 63)

#define FLAG_DRAIN    1u
#define FLAG_DEGRADED 2u
#define FLAG_LATE     4u
#define FLAG_NOW      8u
#define FLAG_REFILL   1u
#define FLAG_MORE     1u
#define FLAG_EMPTY    2u
#define FLAG_BEGUN    4u
