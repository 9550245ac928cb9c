/* The commands of `hdss`. Each is called with its own name as argv[0], prints what it has to say and returns the exit
 * status (enum exit_status). */
#pragma once

int command_techniques(int argc, char **argv);
int command_kernels(int argc, char **argv);
int command_chunks(int argc, char **argv);
int command_run(int argc, char **argv);
