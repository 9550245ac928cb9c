/* SPDX-License-Identifier: MIT */
/* What the supermaster knows of its ranks while a job runs. Clients of the control socket can ask for it. */
#pragma once

#include "common/metrics/rank.h"
#include "supermaster/supermaster.h"

/* Describes rank number `place`, counted from 0, masters first and then workers; sets all figures except the name of
 * the host. Returns false if there are fewer ranks. */
bool supermaster_tell_rank(const struct supermaster *supermaster, unsigned place, uint64_t now_ns,
                           struct rank_figures *figures);
