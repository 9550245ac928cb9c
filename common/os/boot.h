/* SPDX-License-Identifier: MIT */
/* The boot id: a random number that the kernel draws at each boot. No two machines have the same one, and no two boots
 * of one machine. */
#pragma once

/* Bytes of the id: 36 characters, and the NUL. */
#define BOOT_ID_MAX 37
/* Bytes of its short name: the first 8 hexadecimal digits of the id, and the NUL. They are enough to tell the boots of
 * a few machines apart. */
#define BOOT_NAME_MAX 9

/* Gives the id; empty if the kernel does not tell it. */
void boot_id(char id[BOOT_ID_MAX]);

/* Gives the short name; "0" if the kernel does not tell the id. */
void boot_name(char name[BOOT_NAME_MAX]);
