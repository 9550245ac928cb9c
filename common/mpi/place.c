/* SPDX-License-Identifier: MIT */
/* Identifies the node on which a process runs, without exchanging messages. */
#include "common/mpi/place.h"

#include "common/os/boot.h"
#include "common/os/launched.h"
#include "common/util/digest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEXT_MAX 256

static uint64_t space_of_pids(void)
{
    struct stat space = {0};
    stat("/proc/self/ns/pid", &space);
    return (uint64_t)space.st_ino;
}

/* Calculates a key that is equal for processes that can share memory. Containers can share memory if they have the same
 * boot id, host name and /dev/shm. */
static uint64_t key_of_host(void)
{
    struct {
        char boot[BOOT_ID_MAX], name[TEXT_MAX];
        uint64_t memory;
    } key = {0};
    struct stat memory = {0};
    boot_id(key.boot);
    gethostname(key.name, sizeof key.name - 1);
    if (stat("/dev/shm", &memory) == 0)
        key.memory = (uint64_t)memory.st_dev;
    return digest_record(0, &key, sizeof key);
}

void place_look(struct place *place)
{
    char name[TEXT_MAX] = "";
    memset(place, 0, sizeof *place);
    gethostname(name, sizeof name - 1);
    snprintf(place->name, sizeof place->name, "%.*s", (int)strcspn(name, "."), name);
    place->host = key_of_host();
    place->space = space_of_pids();
    sched_getaffinity(0, sizeof place->cores, &place->cores);
}

static bool was_launched(const char *process)
{
    char path[64], *word = NULL;
    size_t room = 0;
    bool result = false;
    snprintf(path, sizeof path, "/proc/%s/environ", process);
    FILE *file = fopen(path, "re");
    while (file != NULL && !result && getdelim(&word, &room, '\0', file) > 0)
        result = strncmp(word, "OMPI_COMM_WORLD_RANK=", 21) == 0 || strncmp(word, "PMI_RANK=", 9) == 0;
    if (file != NULL)
        fclose(file);
    free(word);
    return result;
}

/* Does this process have a pid namespace of its own? It has one if process 1 of its namespace was launched as a rank,
 * or if /proc shows another namespace. */
static bool is_in_own_space(void)
{
    char self[32] = "";
    ssize_t length = readlink("/proc/self", self, sizeof self - 1);
    return length <= 0 || atol(self) != (long)getpid() || was_launched("1");
}

bool place_holds_all(void)
{
    return launched_on_one_node() && !is_in_own_space();
}
