/* SPDX-License-Identifier: MIT */
/* What the supermaster knows of its ranks while a job runs, for status queries. */
#pragma once

#include "common/metrics/rank.h"
#include "supermaster/supermaster.h"

/* Figures of rank number `place`, masters first, then workers, without host. False if there is none. */
bool supermaster_tell_rank(const struct supermaster *supermaster, unsigned place, uint64_t now_ns,
                           struct rank_figures *figures);
