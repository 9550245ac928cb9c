/* SPDX-License-Identifier: MIT */
/* Flag bits, offsets and the magic of PROTOCOL.md, for encoders and decoders. */
#pragma once

#include "proto/message.h"

#define HEADER_AT_JOB 8

#define HELLO_MAGIC        "HDSS"
#define HELLO_FLAG_DCA     1u
#define HELLO_FLAG_POD     2u
#define HELLO_FLAG_LISTENS 4u

/* Offsets in the body of a SPEED. */
#define SPEED_AT_REALS  8 /* mean, deviation, swr */
#define SPEED_AT_CELLS  32
#define SPEED_AT_LEVELS (SPEED_BYTES - HEADER_BYTES)

/* Offset of the load in a REQUEST, directly behind the completion. */
#define REQUEST_AT_LOAD (REQUEST_BYTES - 2)

#define FLAG_DONE         1u /* of REQUEST */
#define FLAG_INLINE       2u /* of REQUEST, RESULT, BOUNDARY, STORE, like FLAG_DATA */
#define FLAG_DATA         4u
#define FLAG_HAS_FAILED   8u /* of REQUEST, RESULT; with INLINE or DATA */
#define FLAG_ISOLATED     1u /* of ASSIGN */
#define FLAG_FINAL        1u /* of ITERATIONS_FAILED, like FLAG_DIED */
#define FLAG_DIED         2u
#define FLAG_FIRST_WRONG  1u /* of VERIFIED, at most one of these two */
#define FLAG_SECOND_WRONG 2u
/* Flag in the count of a range in a REPORT. */
#define COUNT_HAS_FAILED (UINT64_C(1) << 63)

#define FLAG_DRAIN    1u /* of END */
#define FLAG_DEGRADED 2u /* of END, SET_OVER */
#define FLAG_LATE     4u /* of END */
#define FLAG_NOW      8u /* of END, LEAVING */
#define FLAG_REFILL   1u
#define FLAG_MORE     1u /* of REFILL, like the next two; FLAG_REFILL of REPORT */
#define FLAG_EMPTY    2u
#define FLAG_BEGUN    4u
