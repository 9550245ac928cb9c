/* SPDX-License-Identifier: MIT */
/* The worker program. */
#include "worker/program.h"

int main(int argc, char **argv)
{
    return worker_program(argc, argv, HDSS_VERSION);
}
