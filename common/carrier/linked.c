/* SPDX-License-Identifier: MIT */
/* For programs that are linked with an MPI library, which carries their messages. */
#include "common/carrier/carrier.h"

const struct carrier *carrier = &hdss_carrier;
