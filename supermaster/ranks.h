/* SPDX-License-Identifier: MIT */
/* The supermaster's knowledge of its ranks while a job runs, for people who ask. Nothing here changes anything. */
#pragma once

#include "common/metrics/rank.h"
#include "supermaster/supermaster.h"

/* Tells of the rank at that place, from 0: masters first, then workers, each in the order of their ranks. False where
 * there is none. The host is left out. */
bool supermaster_tell_rank(const struct supermaster *supermaster, unsigned place, uint64_t now_ns,
                           struct rank_figures *figures);
