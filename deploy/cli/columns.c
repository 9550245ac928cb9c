/* SPDX-License-Identifier: MIT */
/* The width of standard output: see columns.h. */
#include "deploy/cli/columns.h"

#include <sys/ioctl.h>
#include <unistd.h>

unsigned columns_of_output(void)
{
    struct winsize size;
    if (!isatty(STDOUT_FILENO))
        return COLUMNS_NONE;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col == 0 ? 80
           : size.ws_col < COLUMNS_MIN                                     ? COLUMNS_MIN
                                                                           : size.ws_col;
}
