/* SPDX-License-Identifier: MIT */
/* The number that the kernel draws when it boots: it tells this machine, and this boot of it, from all others. */
#pragma once

/* Its 36 characters, with the NUL. */
#define BOOT_ID_MAX 37
/* Its first characters, which are hexadecimal digits and tell the boots of a few machines from one another; with the
 * NUL. */
#define BOOT_NAME_MAX 9

/* Empty where the kernel does not tell it. */
void boot_id(char id[BOOT_ID_MAX]);

/* "0" where the kernel does not tell it. */
void boot_name(char name[BOOT_NAME_MAX]);
