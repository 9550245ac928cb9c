/* SPDX-License-Identifier: MIT */
/* The boot id, from /proc. */
#include "common/os/boot.h"

#include <stdio.h>
#include <string.h>

void boot_id(char id[BOOT_ID_MAX])
{
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (file == NULL || fgets(id, BOOT_ID_MAX, file) == NULL)
        id[0] = '\0';
    if (file != NULL)
        fclose(file);
    id[strcspn(id, "\n")] = '\0';
}

void boot_name(char name[BOOT_NAME_MAX])
{
    char id[BOOT_ID_MAX];
    boot_id(id);
    const int length = (int)strspn(id, "0123456789abcdef");
    snprintf(name, BOOT_NAME_MAX, "%.*s", BOOT_NAME_MAX - 1, length >= BOOT_NAME_MAX - 1 ? id : "0");
}
