/* SPDX-License-Identifier: MIT */
/* The help texts of Open MPI, which it prints where it cannot go on, or has lost a connection: see openmpi_help.c. */
#pragma once

/* Has this rank print such texts itself. Behind MPI_Init_thread(); nothing but with version 4 of Open MPI. */
void openmpi_help_print_here(void);
