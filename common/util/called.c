/* SPDX-License-Identifier: MIT */
/* The call that a thread is in: see called.h. */
#include "common/util/called.h"

_Thread_local const struct called *called;
