/* SPDX-License-Identifier: MIT */
/* What the supermaster knows of its ranks while a job runs, for status queries. */
#pragma once

#include "common/metrics/rank.h"
#include "supermaster/supermaster.h"

/* Figures of the rank at that place, from 0: masters first, then workers, by rank. The host is left out. False if there
 * is none. */
bool supermaster_tell_rank(const struct supermaster *supermaster, unsigned place, uint64_t now_ns,
                           struct rank_figures *figures);
