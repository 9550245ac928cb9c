/* SPDX-License-Identifier: MIT */
/* The worker program in a launch without a supermaster (--dca). */
#pragma once

int dca_program(int argc, char **argv, const char *version);
