/* SPDX-License-Identifier: MIT */
/* The supermaster of a set: it takes jobs over its control socket, has them begin as its queue says, and leads them. */
#pragma once

/* The program, where serve_is_asked(). Returns the exit status. */
int supermaster_serve(int argc, char **argv, const char *version);
