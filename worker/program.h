/* SPDX-License-Identifier: MIT */
/* The worker program without main(), so that tests can link it. Returns the exit status. */
#pragma once

int worker_program(int argc, char **argv, const char *version);
