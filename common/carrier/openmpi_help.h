/* SPDX-License-Identifier: MIT */
/* Help texts that Open MPI prints after errors and lost connections: see openmpi_help.c. */
#pragma once

/* Must be called after MPI_Init_thread(). Has an effect only with Open MPI 4. */
void openmpi_help_print_here(void);
