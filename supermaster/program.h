/* SPDX-License-Identifier: MIT */
/* The supermaster program without its main(), so that tests can link it. The function returns the exit status. */
#pragma once

int supermaster_program(int argc, char **argv, const char *version);
