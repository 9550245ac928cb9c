/* SPDX-License-Identifier: MIT */
/* Help texts that Open MPI prints on errors and lost connections: see openmpi_help.c. */
#pragma once

/* Makes this rank print such texts itself; called after MPI_Init_thread(). Only for Open MPI 4. */
void openmpi_help_print_here(void);
