/* SPDX-License-Identifier: MIT */
/* What the supermaster knows of its ranks while a job runs, for status queries. */
#pragma once

#include "common/metrics/rank.h"
#include "supermaster/supermaster.h"

/* Sets the figures of rank number `place`, masters first, then workers, except the host. False if there is none. */
bool supermaster_tell_rank(const struct supermaster *supermaster, unsigned place, uint64_t now_ns,
                           struct rank_figures *figures);
