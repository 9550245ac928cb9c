/* SPDX-License-Identifier: MIT */
/* Environments of tasks: see environment.h. */
#include "worker/kernels/exec/environment.h"

#include "common/job/status.h"
#include "common/job/surroundings.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const of_launchers[] = {
    "OMPI_", "OPAL_", "ORTE_", "PRTE_", "PMI", "PMIX_", "HYDI_", "MPI_LOCAL", NULL,
};

/* An MPI launcher sets one of these variables in each process that it starts as a rank. */
static const char *const of_mpi_ranks[] = {"OMPI_COMM_WORLD_RANK=", "PMIX_RANK=", "PMI_RANK=", "PMI_FD=", NULL};

/* These variables are set for tasks. Otherwise the MPI launchers of several tasks would all bind their ranks to the
 * node's first cores. */
static const char *const unbinding[] = {
    "OMPI_MCA_hwloc_base_binding_policy=none",
    "PRTE_MCA_hwloc_default_binding_policy=none",
    "SLURM_CPU_BIND=none",
    NULL,
};

/* Variables of HDSS that tasks do not inherit. For example, HDSS would take a task that writes to the file of
 * STATUS_VARIABLE for a rank. */
static const char *const of_ranks[] = {
    STATUS_VARIABLE "=",
    SUMMARY_VARIABLE "=",
    PROGRESS_VARIABLE "=",
    SURVIVAL_VARIABLE "=",
    SESSION_VARIABLE "=",
    QUICK_HWLOC "=" QUICK_HWLOC_VALUE,
    QUICK_PLUGINS "=" QUICK_PLUGINS_VALUE,
    NULL,
};

static bool begins_with_any(const char *setting, const char *const *beginnings)
{
    while (*beginnings != NULL && strncmp(setting, *beginnings, strlen(*beginnings)) != 0)
        beginnings++;
    return *beginnings != NULL;
}

bool environment_is_of_one_machine(void)
{
    const char *components = getenv(QUICK_HWLOC);
    return components != NULL && strcmp(components, QUICK_HWLOC_VALUE) == 0;
}

static void add_defaults(struct environment *environment, const char *const *settings)
{
    for (; *settings != NULL; settings++) {
        char name[80];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(*settings, "="), *settings);
        if (environment_value(environment, name) == NULL)
            environment->own[environment->own_count++] = (char *)*settings;
    }
}

int environment_init(struct environment *environment, char *const *of_worker, bool all)
{
    unsigned count = 0;
    bool is_mpi_rank = false;
    for (; of_worker[count] != NULL; count++)
        is_mpi_rank |= begins_with_any(of_worker[count], of_mpi_ranks);
    all |= !is_mpi_rank;
    const size_t more = sizeof unbinding / sizeof *unbinding;
    *environment = (struct environment){.own = calloc(count + more + 1, sizeof *environment->own)};
    if (environment->own == NULL)
        return -1;
    for (unsigned i = 0; i < count; i++)
        if (!begins_with_any(of_worker[i], of_ranks) && (all || !begins_with_any(of_worker[i], of_launchers)))
            environment->own[environment->own_count++] = of_worker[i];
    add_defaults(environment, unbinding);
    return 0;
}

/* Replaces an earlier setting of the same variable. If both stayed, some programs would use the first one, and others
 * the last. */
static void replace_setting(char **settings, unsigned *count, const char *setting)
{
    size_t name = strcspn(setting, "=") + 1;
    unsigned i = 0;
    while (i < *count && strncmp(settings[i], setting, name) != 0)
        i++;
    settings[i] = (char *)setting;
    *count += i == *count;
}

static const char *setting_of(char *const *settings, unsigned count, const char *name)
{
    const size_t length = strlen(name);
    for (; count > 0 && *settings != NULL; settings++, count--)
        if (strncmp(*settings, name, length) == 0 && (*settings)[length] == '=')
            return *settings;
    return NULL;
}

const char *environment_value(const struct environment *environment, const char *name)
{
    const char *setting = setting_of(environment->own, environment->own_count, name);
    return setting != NULL ? setting + strlen(name) + 1 : NULL;
}

static const char *take_item(const char **list, char *item)
{
    const char *from = *list;
    for (; *from != '\0' && *from != ','; from++) {
        from += *from == '\\' && (from[1] == ',' || from[1] == '\\');
        *item++ = *from;
    }
    *item = '\0';
    *list = from + (*from == ',');
    return item;
}

int environment_give(struct environment *environment, char *const *of_worker, const char *list, struct error *error)
{
    size_t length = strlen(list), items = length + 1;
    char **own = realloc(environment->own, (environment->own_count + items + 1) * sizeof *own);
    char *item = environment->given = malloc(length + 1);
    environment->own = own != NULL ? own : environment->own;
    if (own == NULL || item == NULL)
        return error_set(error, "out of memory");
    while (*list != '\0') {
        const char *end = take_item(&list, item), *setting = item;
        if (item[0] == '\0' || item[0] == '=')
            return error_set(error,
                             "env: a variable without a name; accepted: NAME,NAME2=VALUE, \\, for a comma in it");
        if (strchr(item, '=') == NULL)
            setting = setting_of(of_worker, UINT_MAX, item);
        if (setting == NULL)
            return error_set(error, "env=%.100s: it is not set here; accepted: a variable that is, or NAME=VALUE",
                             item);
        replace_setting(environment->own, &environment->own_count, setting);
        item += end - item + 1;
    }
    return 0;
}

void environment_fini(struct environment *environment)
{
    free(environment->given);
    free(environment->own);
    free(environment->vector);
    *environment = (struct environment){0};
}

int environment_begin(struct environment *environment, unsigned more)
{
    unsigned needed = environment->own_count + more + 1;
    if (needed > environment->room) {
        char **vector = realloc(environment->vector, needed * sizeof *vector);
        if (vector == NULL)
            return -1;
        environment->vector = vector;
        environment->room = needed;
    }
    memcpy(environment->vector, environment->own, environment->own_count * sizeof *environment->own);
    environment->count = environment->own_count;
    return 0;
}

void environment_set(struct environment *environment, const char *setting)
{
    replace_setting(environment->vector, &environment->count, setting);
}

char *const *environment_vector(struct environment *environment)
{
    environment->vector[environment->count] = NULL;
    return environment->vector;
}
