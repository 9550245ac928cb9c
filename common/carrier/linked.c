/* SPDX-License-Identifier: MIT */
/* The carrier of programs that are linked with MPI. */
#include "common/carrier/carrier.h"

const struct carrier *carrier = &hdss_carrier;
