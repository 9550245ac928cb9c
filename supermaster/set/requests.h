/* SPDX-License-Identifier: MIT */
/* Answers the requests that a set gets over its control socket. */
#pragma once

#include "supermaster/set/set.h"

/* Returns the callbacks of the control socket. The set must outlive them. */
struct control_source set_control_source(struct set *set);
