/* SPDX-License-Identifier: MIT */
/* The boot id: a random number that the kernel draws at each boot. It differs between machines and between boots. */
#pragma once

#define BOOT_ID_MAX 37
/* Size of a boot name with its final NUL. A boot name is the first 8 hexadecimal digits of the boot id. They are enough
 * to distinguish the boots of a few machines. */
#define BOOT_NAME_MAX 9

/* If the kernel does not provide the boot id, boot_id() writes "" and boot_name() writes "0". */
void boot_id(char id[BOOT_ID_MAX]);

void boot_name(char name[BOOT_NAME_MAX]);
