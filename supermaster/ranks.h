/* SPDX-License-Identifier: MIT */
/* What the supermaster knows of its ranks while a job runs. Clients of the control socket can ask for it. */
#pragma once

#include "common/metrics/rank.h"
#include "supermaster/supermaster.h"

/* Describes rank number `place`. Ranks are counted from 0, first the masters, then the workers. Sets all figures except
 * the name of the host. Returns false if there is no such rank. */
bool supermaster_tell_rank(const struct supermaster *supermaster, unsigned place, uint64_t now_ns,
                           struct rank_figures *figures);
