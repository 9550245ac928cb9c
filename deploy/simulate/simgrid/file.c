/* SPDX-License-Identifier: MIT */
/* Reads the hosts of a SimGrid platform file. SimGrid exits if a file is invalid, and a process can load only one
 * platform. Therefore a child process reads the file, and sends the hosts or the errors to this process. */
#include "deploy/simulate/simgrid/simgrid.h"

#include "common/util/grow.h"

#include <errno.h>
#include <fcntl.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs in the child process. SimGrid's own messages go to the same pipe as the lines about the hosts. */
static _Noreturn void tell_hosts(const char *path, int pipe)
{
    char name[] = "hdss", quiet[] = "--log=root.thres:error", form[] = "--log=root.fmt:%m%n";
    char *words[] = {name, quiet, form, NULL};
    int count = 3;
    dup2(pipe, STDOUT_FILENO);
    dup2(pipe, STDERR_FILENO);
    simgrid_init(&count, words);
    simgrid_load_platform(path);
    sg_host_t *hosts = sg_host_list();
    for (size_t i = 0, all = sg_host_count(); i < all; i++)
        printf("host %d %.17g %s\n", sg_host_core_count(hosts[i]), sg_host_get_speed(hosts[i]),
               sg_host_get_name(hosts[i]));
    fflush(stdout);
    _exit(0);
}

static FILE *start_reader(const char *path, pid_t *child)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return NULL;
    fflush(NULL);
    *child = fork();
    if (*child == 0)
        tell_hosts(path, ends[1]);
    close(ends[1]);
    FILE *hosts = *child > 0 ? fdopen(ends[0], "r") : NULL;
    if (hosts == NULL)
        close(ends[0]);
    return hosts;
}

static int add_node(struct platform *platform, unsigned cores, double speed)
{
    struct platform_nodes *last = platform->groups > 0 ? &platform->group[platform->groups - 1] : NULL;
    platform->nodes++;
    platform->cores += cores;
    if (last != NULL && last->cores == cores && last->speed == speed) {
        last->count++;
        return 0;
    }
    if (platform->groups == PLATFORM_GROUPS_MAX)
        return -1;
    platform->group[platform->groups++] = (struct platform_nodes){.count = 1, .cores = cores, .speed = speed};
    return 0;
}

static int add_host(struct simgrid_file *file, const char *name)
{
    char **hosts = grow(file->hosts, file->count, &file->room, sizeof *hosts);
    if (hosts == NULL)
        return -1;
    file->hosts = hosts;
    file->hosts[file->count] = strdup(name);
    return file->hosts[file->count] != NULL ? (int)file->count++ : -1;
}

static int sim_file_take_line(struct simgrid_file *file, struct platform *platform, char *line, char *said,
                              struct error *error)
{
    int cores, length = 0;
    double speed;
    line[strcspn(line, "\n")] = '\0';
    if (sscanf(line, "host %d %lg %n", &cores, &speed, &length) < 2 || length == 0) {
        if (said[0] == '\0')
            snprintf(said, 300, "%.290s", line);
        return 0;
    }
    if (cores < 1 || !(speed > 0))
        return 0;
    if (file->count == 0)
        file->flops_per_ns = speed * 1e-9;
    if (add_host(file, line + length) < 0)
        return error_set(error, "--platform %s: out of memory", file->path);
    if (add_node(platform, (unsigned)cores, speed * 1e-9 / file->flops_per_ns) < 0)
        return error_set(error, "--platform %s: more than %d groups of equal hosts that follow one another", file->path,
                         PLATFORM_GROUPS_MAX);
    return 0;
}

/* Begins a platform without nodes. Its service times are those of the built-in platform `cluster`, because SimGrid
 * files have none. */
static int begin_platform(struct platform *platform, const char *path, struct error *error)
{
    if (platform_find(platform, "cluster", error) < 0)
        return -1;
    const char *base = strrchr(path, '/');
    snprintf(platform->name, sizeof platform->name, "%s", base != NULL ? base + 1 : path);
    platform->groups = platform->nodes = 0;
    platform->cores = 0;
    platform->sites = 1;
    return 0;
}

int simgrid_read_file(struct simgrid_file *file, const char *path, struct platform *platform, struct error *error)
{
    char line[4096], said[300] = "";
    pid_t child = -1;
    int status = 0, result = 0;
    *file = (struct simgrid_file){.path = path};
    if (begin_platform(platform, path, error) < 0)
        return -1;
    if (access(path, R_OK) < 0)
        return error_set(error, "--platform %s: %s", path, strerror(errno));
    FILE *hosts = start_reader(path, &child);
    while (hosts != NULL && result == 0 && fgets(line, sizeof line, hosts) != NULL)
        result = sim_file_take_line(file, platform, line, said, error);
    if (hosts != NULL)
        fclose(hosts);
    if (child > 0)
        waitpid(child, &status, 0);
    if (result == 0 && (hosts == NULL || status != 0 || file->count == 0))
        return error_set(error, "--platform %s: SimGrid cannot read it (%s)", path,
                         said[0] != '\0' ? said : "it has no hosts");
    return result;
}

void simgrid_file_fini(struct simgrid_file *file)
{
    for (size_t i = 0; i < file->count; i++)
        free(file->hosts[i]);
    free(file->hosts);
    *file = (struct simgrid_file){.count = 0};
}
