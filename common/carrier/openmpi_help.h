/* SPDX-License-Identifier: MIT */
/* Help texts that Open MPI prints on errors and lost connections: see openmpi_help.c. */
#pragma once

/* Called after MPI_Init_thread(). Does something only with Open MPI 4. */
void openmpi_help_print_here(void);
