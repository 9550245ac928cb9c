/* SPDX-License-Identifier: MIT */
/* The supermaster program. */
#include "common/runtime/programs/programs.h"

int main(int argc, char **argv)
{
    return supermaster_program(argc, argv, HDSS_VERSION);
}
