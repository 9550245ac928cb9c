/* hdss-simgrid: what `hdss simulate --backend simgrid` starts, with its own command line. SimGrid is linked with this
 * program only, so that hdss needs none. */
#include "common/runtime/simgrid/backend.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LAUNCHER "/hdss-simulated-rank.so"

/* The modules are in the library's folder of the installation, whose libexec/hdss this program is in, or, in a build,
 * beside it. */
static int find_modules(char folder[PATH_MAX], struct error *error)
{
    static const char *const places[] = {"", "/../" MODULES};
    char own[PATH_MAX], *candidate;
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    if (length <= 0)
        return error_set(error, "/proc/self/exe: %s", strerror(errno));
    own[length] = '\0';
    *strrchr(own, '/') = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (asprintf(&candidate, "%s%s%s", own, places[i], LAUNCHER) < 0)
            return error_set(error, "out of memory for a path");
        bool found = realpath(candidate, folder) != NULL;
        free(candidate);
        if (found) {
            *strrchr(folder, '/') = '\0';
            return 0;
        }
    }
    return error_set(error, "the modules of simulated ranks are neither in %.200s nor in ../" MODULES " from there",
                     own);
}

static int read_platform(void *context, const char *path, struct platform *platform, struct error *error)
{
    return simgrid_read_file(context, path, platform, error);
}

static int run(struct simulation *simulation, struct simgrid_file *file, struct error *error)
{
    char folder[PATH_MAX];
    if (find_modules(folder, error) < 0 || simulation_prepare(simulation, read_platform, file, error) < 0)
        return -1;
    return simulation_run_simgrid(simulation, file, folder, HDSS_VERSION, error);
}

int main(int argc, char **argv)
{
    struct simulation simulation;
    struct simgrid_file file = {.count = 0};
    struct error error;
    int asked = simulation_read(&simulation, argc, argv, &error);
    int status = asked == 0 ? run(&simulation, &file, &error) : asked;
    if (asked > 0)
        error_set(&error, "accepted: the arguments of hdss simulate");
    if (status < 0 || asked > 0) {
        fprintf(stderr, "hdss simulate: %s\n", error.text);
        status = EXIT_STATUS_USAGE;
    }
    simgrid_file_fini(&file);
    simulation_fini(&simulation);
    return status;
}
