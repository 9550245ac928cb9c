/* SPDX-License-Identifier: MIT */
/* What is asked of a set over its control socket. */
#pragma once

#include "supermaster/set/set.h"

/* What the socket asks and tells; all of it belongs to the set, which is to outlive it. */
struct control_source set_control_source(struct set *set);
