/* SPDX-License-Identifier: MIT */
/* The cores of this machine that we may use. */
#pragma once

/* Cores, not hardware threads: what mpirun counts as well. At least 1. */
unsigned cores_usable(void);
