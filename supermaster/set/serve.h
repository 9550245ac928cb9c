/* SPDX-License-Identifier: MIT */
/* The supermaster of a set: accepts jobs over its control socket, and runs them in the order of its queue. */
#pragma once

int supermaster_serve(int argc, char **argv, const char *version);
