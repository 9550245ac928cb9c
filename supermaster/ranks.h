/* SPDX-License-Identifier: MIT */
/* What the supermaster knows of its ranks while a job runs, for status queries. */
#pragma once

#include "common/metrics/rank.h"
#include "supermaster/supermaster.h"

/* Sets all figures but the host of rank number `place`, counted from 0: masters first, then workers. Returns false if
 * there are fewer ranks. */
bool supermaster_tell_rank(const struct supermaster *supermaster, unsigned place, uint64_t now_ns,
                           struct rank_figures *figures);
