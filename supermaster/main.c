/* SPDX-License-Identifier: MIT */
/* The supermaster program. */
#include "supermaster/program.h"

int main(int argc, char **argv)
{
    return supermaster_program(argc, argv, HDSS_VERSION);
}
