/* SPDX-License-Identifier: MIT */
/* The master program. */
#include "master/program.h"

int main(int argc, char **argv)
{
    return master_program(argc, argv, HDSS_VERSION);
}
