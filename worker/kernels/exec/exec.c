/* SPDX-License-Identifier: MIT */
/* The kernel `exec`: each iteration is a task and runs a command. The results of an iteration are the task's output and
 * a line of the task log.
 *
 * While a command runs, or waits for resources, the worker handles messages: exec_kernel_run_variable() returns
 * HDSS_WAIT and is called again after an event. A task that fails counts as done, but is reported as failed. Its output
 * is that of its last try. */
#include "worker/kernels/exec/exec.h"

#include "common/metrics/task_log.h"
#include "common/os/files.h"
#include "common/os/launched.h"
#include "common/util/error.h"
#include "worker/kernels/exec/after.h"
#include "worker/kernels/exec/allotment.h"
#include "worker/kernels/exec/command.h"
#include "worker/kernels/exec/environment.h"
#include "worker/kernels/exec/fragments.h"
#include "worker/kernels/exec/own_cores.h"
#include "worker/kernels/exec/search.h"
#include "worker/kernels/exec/tasks.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum param {
    TASKS,
    COMMAND,
    COUNT,
    TABLE,
    HEADER,
    LIST,
    FOLLOW,
    SHELL,
    WORKDIR,
    ENV,
    CORES,
    MEMORY,
    GPUS,
    KEEP,
    LIVE,
    SPILL,
    TIMEOUT,
    RETRIES,
    MAX_OUTPUT,
    INHERIT
};
enum inherit { INHERIT_NOTHING, INHERIT_MPI, INHERIT_CORES, INHERIT_ALL };

static const struct hdss_param params[] = {
    [TASKS] = {"tasks", HDSS_PARAM_TEXT, "", 0, 0, NULL, "file",
               "file with a command line for each task; empty lines and lines that begin with # are skipped"},
    [COMMAND] = {"command", HDSS_PARAM_TEXT, "", 0, 0, NULL, "",
                 "the command line of all tasks, instead of tasks=; for use with count=, table= or list="},
    [COUNT] = {"count", HDSS_PARAM_INTEGER, "-1", -1, 1e15, NULL, "",
               "with command=: the number of tasks; -1: one, or one for each row of the table"},
    [TABLE] = {"table", HDSS_PARAM_TEXT, "", 0, 0, NULL, "file",
               "TSV file, or CSV file if its name ends in .csv, with a row for each task"},
    [HEADER] = {"header", HDSS_PARAM_CHOICE, "auto", 0, 0, "auto|yes|no", "",
                "whether the table's first line names the columns; auto: yes, but a first line that looks like a row "
                "is refused"},
    [LIST] = {"list", HDSS_PARAM_TEXT, "", 0, 0, NULL, "file",
              "file of rows as hdss exec writes them, one for each task; without command= each row is a command line"},
    [FOLLOW] = {"follow", HDSS_PARAM_CHOICE, "no", 0, 0, "no|yes", "",
                "rows may be added to the list while tasks run, until its last line is \\."},
    [SHELL] = {"shell", HDSS_PARAM_TEXT, "auto", 0, 0, NULL, "",
               "which lines a shell runs; auto: lines with pipes, variables and the like; yes: all; no: none; or the "
               "name of a shell that runs all lines"},
    [WORKDIR] = {"workdir", HDSS_PARAM_TEXT, "", 0, 0, NULL, "folder",
                 "folder that tasks run in; {..} is replaced as in the command"},
    [ENV] = {"env", HDSS_PARAM_TEXT, "", 0, 0, NULL, "",
             "NAME,NAME2=VALUE,..: variables that tasks have besides those of their worker"},
    [CORES] =
        {"cores", HDSS_PARAM_INTEGER, "0", 0, 1e6, NULL, "",
         "cores of the node that a task takes; 0: 1 if other tasks say how many they take, else cores are not counted"},
    [MEMORY] = {"memory", HDSS_PARAM_TEXT, "", 0, 0, NULL, "bytes",
                "memory of the node that a task takes, and the limit for each process of the task, such as 512M or 2G"},
    [GPUS] = {"gpus", HDSS_PARAM_INTEGER, "0", 0, 64, NULL, "", "GPUs of the node that a task has for itself"},
    [KEEP] = {"keep", HDSS_PARAM_TEXT, "", 0, 0, NULL, "folder",
              "folder for the output and the errors of each task, in files NUMBER.out and NUMBER.err"},
    [LIVE] =
        {"live", HDSS_PARAM_TEXT, "", 0, 0, NULL, "folder",
         "folder to which workers write whole lines of running tasks, for hdss exec --line-buffer; not with keep="},
    [SPILL] = {"spill", HDSS_PARAM_TEXT, "", 0, 0, NULL, "folder",
               "folder for output and errors of more than 16 MiB, in files NUMBER.out and NUMBER.err, for hdss exec; "
               "not with keep="},
    [TIMEOUT] = {"timeout", HDSS_PARAM_REAL, "0", 0, 1e7, NULL, "s",
                 "a task that runs longer is ended with its process group; 0: no limit"},
    [RETRIES] = {"retries", HDSS_PARAM_INTEGER, "0", 0, 1000, NULL, "", "how many times a failed task is run again"},
    [MAX_OUTPUT] = {"max_output", HDSS_PARAM_INTEGER, "-1", -1, 1 << 29, NULL, "bytes",
                    "how much of a task's output, and of its errors, is kept; the rest is dropped, with a note among "
                    "the errors; -1: 64 MiB, or all with spill=, and a task that writes more has failed"},
    [INHERIT] = {"inherit", HDSS_PARAM_CHOICE, "nothing", 0, 0, "nothing|mpi|cores|all", "",
                 "what tasks inherit from their worker: the variables of the MPI launcher, the cores that the worker "
                 "is bound to, or both (all)"},
    {NULL},
};

#define KEPT_MAX     16
#define GRACE_NS     2000000000u
#define OUTPUT_BYTES (UINT64_C(64) << 20)
#define SPILL_BYTES  (UINT64_C(16) << 20)

struct exec_kernel {
    struct tasks tasks;
    struct command command;
    struct environment environment;
    struct search search;
    struct allotment allotment;
    struct own_cores cores;
    bool wants_cores;
    struct fragments fragments;
    struct hdss_worker worker;
    char host[65];
    unsigned retries;
    double timeout_s;
    char folder[PATH_MAX + 5];
    enum { TASK_NONE, TASK_WAITING, TASK_RUNNING } state;
    bool is_refused;
    bool wants_all_output;
    bool is_stopped;
    struct error wrong;
    uint64_t done;
    unsigned tries;
    uint64_t put[COMMAND_STREAMS];
    size_t shown[COMMAND_STREAMS];
    char settings[3][40], names[COMMAND_STREAMS][40];
    char text[TASKS_TEXT_MAX], line[TASKS_TEXT_MAX + 400];
};

static struct tasks_source source_of(const union hdss_value *values)
{
    return (struct tasks_source){
        .tasks = values[TASKS].text,
        .command = values[COMMAND].text,
        .table = values[TABLE].text,
        .list = values[LIST].text,
        .folder = values[WORKDIR].text,
        .count = values[COUNT].integer,
        .header = (enum table_header)values[HEADER].integer,
        .shell = values[SHELL].text,
        .follows = values[FOLLOW].integer != 0,
    };
}

/* Task lists that this process has read: those of the latest job, and growing lists of other jobs.
 * exec_kernel_describe() reads a list; later calls find it here. So each list is read only once. */
static struct kept_tasks {
    struct tasks tasks;
    uint64_t used;
} kept[KEPT_MAX];

static uint64_t uses;

static void drop_kept(struct kept_tasks *one)
{
    if (one->used > 0)
        tasks_close(&one->tasks);
    one->used = 0;
}

/* Compares the addresses of the texts. The texts themselves may have been freed if they belong to another job. */
static bool is_kept(const struct kept_tasks *one, const struct tasks_source *source)
{
    const struct tasks_source *own = &one->tasks.source;
    return one->used > 0 && source->tasks == own->tasks && source->command == own->command &&
           source->table == own->table && source->list == own->list && source->folder == own->folder &&
           source->count == own->count && source->header == own->header && source->shell == own->shell &&
           source->follows == own->follows;
}

static void drop_complete(void)
{
    for (unsigned i = 0; i < KEPT_MAX; i++)
        if (kept[i].used > 0 && !kept[i].tasks.grows)
            drop_kept(&kept[i]);
}

static struct kept_tasks *place_of(const struct tasks_source *source)
{
    struct kept_tasks *chosen = &kept[0];
    for (unsigned i = 0; i < KEPT_MAX; i++) {
        if (is_kept(&kept[i], source))
            return &kept[i];
        if (kept[i].used < chosen->used)
            chosen = &kept[i];
    }
    return chosen;
}

static void hand_over(const struct tasks *tasks)
{
    for (unsigned i = 0; i < KEPT_MAX; i++)
        if (&kept[i].tasks == tasks)
            kept[i].used = 0;
}

static struct tasks *read_tasks(const union hdss_value *values, char error[HDSS_ERROR_MAX])
{
    const struct tasks_source source = source_of(values);
    drop_complete();
    struct kept_tasks *one = place_of(&source);
    struct error inner;
    drop_kept(one);
    if (tasks_open(&one->tasks, &source, &inner) == 0) {
        one->used = ++uses;
        return &one->tasks;
    }
    snprintf(error, HDSS_ERROR_MAX, "%.*s", HDSS_ERROR_MAX - 1, inner.text);
    return NULL;
}

static struct tasks *find_tasks(const union hdss_value *values, char error[HDSS_ERROR_MAX])
{
    const struct tasks_source source = source_of(values);
    struct kept_tasks *one = place_of(&source);
    if (!is_kept(one, &source))
        return read_tasks(values, error);
    one->used = ++uses;
    return &one->tasks;
}

static int name_output(const struct tasks_source *source, struct hdss_loop *loop, char error[HDSS_ERROR_MAX])
{
    const char *file = source->tasks[0] != '\0' ? source->tasks : source->list;
    int length = snprintf(loop->output, sizeof loop->output, "%s.out", file[0] != '\0' ? file : "exec");
    if (length < (int)sizeof loop->output)
        return 0;
    snprintf(error, HDSS_ERROR_MAX, "%s=%.60s..: accepted: up to %zu characters",
             source->tasks[0] != '\0' ? "tasks" : "list", file, sizeof loop->output - 5);
    return -1;
}

static void note_nothing(const struct tasks_source *source, struct hdss_loop *loop)
{
    if (source->tasks[0] != '\0')
        snprintf(loop->note, sizeof loop->note, "%.120s has no task: empty lines and those that begin with # are none",
                 source->tasks);
    else if (source->count == 0)
        snprintf(loop->note, sizeof loop->note, "count=0: there is no task");
    else if (source->header == TABLE_HEADER_NO)
        snprintf(loop->note, sizeof loop->note, "%.120s has no row", source->table);
    else
        snprintf(loop->note, sizeof loop->note, "%.120s has no row behind its first line, which names the columns",
                 source->list[0] != '\0' ? source->list : source->table);
}

static int exec_kernel_describe(const union hdss_value *values, struct hdss_loop *loop, char error[HDSS_ERROR_MAX])
{
    const struct tasks_source source = source_of(values);
    bool any = source.tasks[0] != '\0' || source.command[0] != '\0' || source.list[0] != '\0';
    const struct tasks *tasks = any ? read_tasks(values, error) : NULL;
    if (any && tasks == NULL)
        return -1;
    *loop = (struct hdss_loop){
        .iterations = any ? tasks->count : 0,
        .grows = any && tasks->grows,
        .waits = true,
        .has_effects = true,
        .are_tasks = true,
        .inputs = any ? tasks->digest : 0,
        .streams = 3,
        .stream = {[TASK_STREAM_OUT] = {.ending = ""},
                   [TASK_STREAM_ERR] = {.ending = ".err"},
                   [TASK_STREAM_LOG] = {.ending = ".log", .heading = TASK_LOG_HEADING "\n", .differs = true}},
    };
    if (any && loop->iterations == 0 && !tasks->grows)
        note_nothing(&source, loop);
    return name_output(&source, loop, error);
}

static bool wants_all_output(const union hdss_value *values)
{
    return values[MAX_OUTPUT].integer < 0;
}

static uint64_t output_bytes(const union hdss_value *values)
{
    return !wants_all_output(values)       ? (uint64_t)values[MAX_OUTPUT].integer
           : values[SPILL].text[0] != '\0' ? UINT64_MAX
                                           : OUTPUT_BYTES;
}

static int open_folder(const char *path)
{
    return path[0] == '\0' ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int refuse_folder(const char *path, char error[HDSS_ERROR_MAX])
{
    snprintf(error, HDSS_ERROR_MAX, "keep=%.200s: %s; accepted: a folder that files can be made in", path,
             strerror(errno));
    return -1;
}

static int check_new_folder(const char *path, char error[HDSS_ERROR_MAX])
{
    struct error inner;
    if (file_check_folder(path, &inner) == 0)
        return 0;
    snprintf(error, HDSS_ERROR_MAX, "keep=%.*s", HDSS_ERROR_MAX - 6, inner.text);
    return -1;
}

static int check_folder(const char *path, char error[HDSS_ERROR_MAX])
{
    if (path[0] == '\0')
        return 0;
    int folder = open_folder(path);
    if (folder < 0 && errno == ENOENT)
        return check_new_folder(path, error);
    bool usable = folder >= 0 && faccessat(folder, ".", W_OK | X_OK, AT_EACCESS) == 0;
    int result = usable ? 0 : refuse_folder(path, error);
    if (folder >= 0)
        close(folder);
    return result;
}

static int check_workdir(const char *path, struct error *error)
{
    if (path[0] == '\0' || strchr(path, '{') != NULL)
        return 0;
    int folder = open_folder(path);
    bool usable = folder >= 0 && faccessat(folder, ".", X_OK, AT_EACCESS) == 0;
    if (!usable)
        error_set(error, "workdir=%.200s: %s; accepted: a folder that is there, on each node", path, strerror(errno));
    if (folder >= 0)
        close(folder);
    return usable ? 0 : -1;
}

static int check_env(const char *list, struct error *error)
{
    struct environment environment;
    if (environment_init(&environment, environ, true) < 0)
        return error_set(error, "out of memory");
    int result = environment_give(&environment, environ, list, error);
    environment_fini(&environment);
    return result;
}

static bool inherits_cores(const union hdss_value *values)
{
    return values[INHERIT].integer == INHERIT_CORES || values[INHERIT].integer == INHERIT_ALL;
}

/* True if the launcher has chosen the cores to which the worker is bound. Tasks may then leave these cores. False if
 * the user has chosen them. */
static bool frees_cores(const union hdss_value *values)
{
    return !inherits_cores(values) && launched_to_be_bound();
}

static int read_needs(const union hdss_value *values, const struct tasks *tasks, struct needs_source *source,
                      struct error *error)
{
    return needs_init(source, tasks, (uint64_t)values[CORES].integer, values[MEMORY].text,
                      (uint64_t)values[GPUS].integer, error);
}

/* `has`: the resources of the node; NULL: unknown. */
static int check_needs_of(const struct needs_source *source, struct tasks *tasks, uint64_t task,
                          const struct needs *has, struct error *error)
{
    struct needs needs;
    struct error inner;
    if (tasks_get(tasks, task, error) < 0)
        return -1;
    if (needs_of_task(source, tasks, &needs, &inner) == 0 && (has == NULL || needs_check(&needs, has, &inner) == 0))
        return 0;
    return error_set(error, "task %" PRIu64 ": %s", task + 1, inner.text);
}

static int check_needs(const union hdss_value *values, struct tasks *tasks, const struct needs *has,
                       struct error *error)
{
    struct needs_source source;
    if (read_needs(values, tasks, &source, error) < 0)
        return -1;
    const uint64_t count = !needs_are_given(&source) ? 0
                           : needs_differ(&source)   ? tasks->count
                           : tasks->count > 0        ? 1
                                                     : 0;
    for (uint64_t i = 0; i < count; i++)
        if (check_needs_of(&source, tasks, i, has, error) < 0)
            return -1;
    return 0;
}

static bool is_only_node(void)
{
    return !launched_is_joinable() &&
           (launched_on_one_node() || environment_is_of_one_machine() || !launched_as_rank());
}

/* Checks the needs of tasks only if the job has no other node: another node might have more. Without this check, a task
 * that needs too much fails on the node that gets it. */
static int check_needs_here(const union hdss_value *values, char error[HDSS_ERROR_MAX])
{
    struct needs_source source;
    struct resources resources;
    struct error inner;
    struct tasks *tasks = find_tasks(values, error);
    if (tasks == NULL)
        return -1;
    int result = read_needs(values, tasks, &source, &inner);
    if (result == 0 && needs_are_given(&source) && is_only_node()) {
        result = resources_init(&resources, frees_cores(values), &inner);
        if (result == 0) {
            result = check_needs(values, tasks, &resources.has, &inner);
            resources_fini(&resources);
        }
    }
    if (result < 0)
        snprintf(error, HDSS_ERROR_MAX, "%.*s", HDSS_ERROR_MAX - 1, inner.text);
    return result;
}

static int check_after(struct tasks *tasks, struct error *error)
{
    struct precedence precedence;
    if (after_read(tasks, &precedence, error) < 0)
        return -1;
    precedence_fini(&precedence);
    return 0;
}

int exec_look(const union hdss_value *values, char error[HDSS_ERROR_MAX])
{
    struct error inner;
    struct tasks *tasks = find_tasks(values, error);
    if (tasks == NULL)
        return -1;
    if (tasks_check(tasks, &inner) == 0 && check_needs(values, tasks, NULL, &inner) == 0 &&
        check_after(tasks, &inner) == 0 && check_workdir(values[WORKDIR].text, &inner) == 0 &&
        check_env(values[ENV].text, &inner) == 0)
        return check_folder(values[KEEP].text, error);
    snprintf(error, HDSS_ERROR_MAX, "%.*s", HDSS_ERROR_MAX - 1, inner.text);
    return -1;
}

int exec_text_known(const union hdss_value *values, uint64_t task, char *text, size_t size)
{
    char unused[HDSS_ERROR_MAX];
    const struct tasks_source source = source_of(values);
    const struct kept_tasks *one = place_of(&source);
    return is_kept(one, &source) && task < one->tasks.count ? exec_text(values, task, text, size, unused) : -1;
}

int exec_text(const union hdss_value *values, uint64_t task, char *text, size_t size, char error[HDSS_ERROR_MAX])
{
    struct error inner;
    struct tasks *tasks = find_tasks(values, error);
    if (tasks == NULL)
        return -1;
    if (tasks_get(tasks, task, &inner) == 0) {
        tasks_text(tasks, text, size);
        return 0;
    }
    snprintf(error, HDSS_ERROR_MAX, "%.*s", HDSS_ERROR_MAX - 1, inner.text);
    return -1;
}

static int exec_kernel_check(const union hdss_value *values, const struct hdss_loop *loop, char error[HDSS_ERROR_MAX])
{
    (void)loop;
    const char *folder = values[KEEP].text;
    if (folder[0] != '\0' && values[SPILL].text[0] != '\0') {
        snprintf(error, HDSS_ERROR_MAX,
                 "keep= makes files of all output, spill= of what is long; accepted: one of them");
        return -1;
    }
    if (exec_look(values, error) < 0 || check_needs_here(values, error) < 0)
        return -1;
    bool there = folder[0] == '\0' || mkdir(folder, 0777) == 0 || errno == EEXIST;
    return there ? 0 : refuse_folder(folder, error);
}

static int exec_kernel_grow(const union hdss_value *values, uint64_t *iterations, char error[HDSS_ERROR_MAX])
{
    struct error inner;
    struct tasks *tasks = find_tasks(values, error);
    if (tasks == NULL)
        return -1;
    if (tasks_extend(tasks, &inner) < 0) {
        snprintf(error, HDSS_ERROR_MAX, "%.*s", HDSS_ERROR_MAX - 1, inner.text);
        return -1;
    }
    *iterations = tasks->count;
    return tasks->grows;
}

static int exec_kernel_inputs(const union hdss_value *values, uint64_t iterations, uint64_t *digest,
                              char error[HDSS_ERROR_MAX])
{
    struct error inner;
    struct tasks *tasks = find_tasks(values, error);
    if (tasks == NULL)
        return -1;
    if (tasks_digest(tasks, iterations, digest, &inner) == 0)
        return 0;
    snprintf(error, HDSS_ERROR_MAX, "%.*s", HDSS_ERROR_MAX - 1, inner.text);
    return -1;
}

static int exec_kernel_precedence(const union hdss_value *values, struct hdss_precedence *calls,
                                  char error[HDSS_ERROR_MAX])
{
    struct precedence precedence;
    struct error inner;
    struct tasks *tasks = find_tasks(values, error);
    if (tasks == NULL)
        return -1;
    if (after_read(tasks, &precedence, &inner) < 0) {
        snprintf(error, HDSS_ERROR_MAX, "%.*s", HDSS_ERROR_MAX - 1, inner.text);
        return -1;
    }
    int result = 0;
    for (uint64_t i = 0; i < precedence.count; i++)
        for (uint64_t k = precedence.begin[i]; result == 0 && k < precedence.begin[i + 1]; k++)
            result = calls->waits(calls, precedence.waiting[k], i);
    precedence_fini(&precedence);
    return result;
}

static int open_command(struct exec_kernel *k, const union hdss_value *values, struct error *error)
{
    const bool spills = values[SPILL].text[0] != '\0';
    const struct command_limits limits = {.time_ns = (uint64_t)(values[TIMEOUT].real * 1e9),
                                          .grace_ns = GRACE_NS,
                                          .bytes = output_bytes(values),
                                          .spill_bytes = spills ? SPILL_BYTES : 0};
    const char *path = values[spills ? SPILL : KEEP].text;
    int folder = open_folder(path);
    if (path[0] != '\0' && folder < 0)
        return error_set(error, "%s=%.200s: %s", spills ? "spill" : "keep", path, strerror(errno));
    k->wants_all_output = wants_all_output(values);
    if (command_init(&k->command, &limits, folder, frees_cores(values)) == 0)
        return 0;
    return error_set(error, "no memory, descriptors or processes to run commands with");
}

/* Opens the claims on resources, if tasks need any. The guard gets the path of the claims before the file exists,
 * because the worker may be killed at any time. The worker waits only for the command's descriptor. So this descriptor
 * must also become readable when the claims change. */
static int open_allotment(struct exec_kernel *k, const union hdss_value *values, struct error *error)
{
    _Static_assert(CLAIM_PATH_MAX <= GUARD_PATH_MAX, "a guard can be told the path of claims");
    char path[CLAIM_PATH_MAX];
    struct needs_source needs;
    if (read_needs(values, &k->tasks, &needs, error) < 0)
        return -1;
    if (!needs_are_given(&needs))
        return allotment_init(&k->allotment, &needs, NULL, frees_cores(values), error);
    guard_order_clearing(&k->command.spawner.guard, claim_clear, claim_path(frees_cores(values), path));
    if (allotment_init(&k->allotment, &needs, path, frees_cores(values), error) < 0)
        return -1;
    if (command_watch_also(&k->command, claim_descriptor(&k->allotment.claim)) == 0)
        return 0;
    return error_set(error, "no memory to wait for what tasks need");
}

static int open_environment(struct exec_kernel *k, const union hdss_value *values, struct error *error)
{
    enum inherit inherit = (enum inherit)values[INHERIT].integer;
    error_set(error, "out of memory");
    return environment_init(&k->environment, environ, inherit == INHERIT_MPI || inherit == INHERIT_ALL) == 0 &&
                   environment_give(&k->environment, environ, values[ENV].text, error) == 0 &&
                   search_init(&k->search, environment_value(&k->environment, "PATH")) == 0
               ? 0
               : -1;
}

static int open_rest(struct exec_kernel *k, const union hdss_value *values, char error[HDSS_ERROR_MAX])
{
    struct error inner;
    if (open_environment(k, values, &inner) == 0 && open_command(k, values, &inner) == 0) {
        if (open_allotment(k, values, &inner) == 0)
            return 0;
        command_fini(&k->command);
    }
    snprintf(error, HDSS_ERROR_MAX, "%.*s", HDSS_ERROR_MAX - 1, inner.text);
    return -1;
}

static void close_all(struct exec_kernel *k)
{
    tasks_close(&k->tasks);
    environment_fini(&k->environment);
    search_fini(&k->search);
    allotment_fini(&k->allotment);
    own_cores_fini(&k->cores);
    fragments_fini(&k->fragments);
    free(k);
}

static int exec_kernel_open_instance(const union hdss_value *values, const struct hdss_loop *loop,
                                     const struct hdss_worker *worker, void **instance, char error[HDSS_ERROR_MAX])
{
    struct exec_kernel *k = calloc(1, sizeof *k);
    if (k == NULL) {
        snprintf(error, HDSS_ERROR_MAX, "out of memory");
        return -1;
    }
    struct tasks *tasks = find_tasks(values, error);
    if (tasks == NULL) {
        free(k);
        return -1;
    }
    k->tasks = *tasks;
    hand_over(tasks);
    fragments_init(&k->fragments, values[LIVE].text, worker->rank);
    int result = 0;
    if (!tasks_are(&k->tasks, loop->inputs)) {
        snprintf(error, HDSS_ERROR_MAX, "the tasks or their table have changed since the run began");
        result = -1;
    }
    if (result < 0 || open_rest(k, values, error) < 0) {
        close_all(k);
        return -1;
    }
    k->worker = *worker;
    k->retries = (unsigned)values[RETRIES].integer;
    k->timeout_s = values[TIMEOUT].real;
    k->wants_cores = !inherits_cores(values);
    if (k->wants_cores)
        own_cores_init(&k->cores, frees_cores(values));
    gethostname(k->host, sizeof k->host - 1);
    tasks_set_worker(&k->tasks, worker->rank, worker->node, worker->number);
    *instance = k;
    return 0;
}

static void exec_kernel_close_instance(void *instance)
{
    struct exec_kernel *k = instance;
    allotment_fini(&k->allotment); /* must precede command_fini(), which ends the guard */
    command_fini(&k->command);
    close_all(k);
}

static int exec_kernel_no_memory(char error[HDSS_ERROR_MAX])
{
    snprintf(error, HDSS_ERROR_MAX, "out of memory for a command");
    return -1;
}

/* Number of cores to which only this task is bound; 0: the system chooses its cores.
 *
 * If cores= is not given, a task is bound to one core under two conditions: the node has as many workers as cores, and
 * the run has at least as many tasks as these workers. If there are fewer workers than cores, tasks with threads may
 * use the other cores. If there are more workers than cores, a task has less than a core. */
static uint64_t cores_of_task(const struct exec_kernel *k)
{
    const struct allotment *allotment = &k->allotment;
    if (!k->wants_cores)
        return 0;
    if (allotment->is_used && allotment->source.is_counted[NEED_CORES])
        return allotment->claim.has.amount[NEED_CORES] <= k->cores.count ? allotment->needs.amount[NEED_CORES] : 0;
    return k->worker.beside == k->cores.count && k->tasks.count >= k->worker.beside;
}

static const cpu_set_t *take_cores(struct exec_kernel *k)
{
    const uint64_t wanted = cores_of_task(k);
    if (wanted == 0)
        own_cores_release(&k->cores);
    else if (wanted != k->cores.held_count)
        own_cores_take(&k->cores, wanted, (k->worker.number - 1) % k->cores.count);
    return own_cores_cpus(&k->cores);
}

/* Ends the allotment. If tasks ask for cores, releases the cores of this task for other tasks. Otherwise the worker
 * keeps its core for its next task. */
static void end_allotment(struct exec_kernel *k)
{
    if (k->allotment.is_used && k->allotment.source.is_counted[NEED_CORES])
        own_cores_release(&k->cores);
    allotment_end(&k->allotment);
}

static char *const *make_environment(struct exec_kernel *k)
{
    const struct cmdline *words = &k->tasks.words;
    const char *folder = tasks_folder(&k->tasks);
    if (environment_begin(&k->environment, words->assignments + 5 + ALLOTMENT_SETTINGS) < 0)
        return NULL;
    memcpy(k->folder, "PWD=", 5);
    if (folder[0] != '\0' && realpath(folder, k->folder + 4) != NULL)
        environment_set(&k->environment, k->folder);
    snprintf(k->settings[0], sizeof k->settings[0], "HDSS_TASK=%" PRIu64, k->tasks.order);
    snprintf(k->settings[1], sizeof k->settings[1], "HDSS_RANK=%u", k->worker.rank);
    snprintf(k->settings[2], sizeof k->settings[2], "HDSS_NODE=%u", k->worker.node);
    for (unsigned i = 0; i < 3; i++)
        environment_set(&k->environment, k->settings[i]);
    allotment_tell(&k->allotment, &k->environment);
    if (cores_of_task(k) == 1 && environment_value(&k->environment, "OMP_NUM_THREADS") == NULL)
        environment_set(&k->environment, "OMP_NUM_THREADS=1");
    for (unsigned i = 0; i < words->assignments; i++)
        environment_set(&k->environment, cmdline_at(words, i));
    return environment_vector(&k->environment);
}

static int start_task(struct exec_kernel *k, struct search *search, char error[HDSS_ERROR_MAX])
{
    const char *names[COMMAND_STREAMS] = {k->names[COMMAND_OUT], k->names[COMMAND_ERR]};
    struct spawn spawn = {.argv = cmdline_argv(&k->tasks.words),
                          .found = &search->found,
                          .environment = make_environment(k),
                          .cores = take_cores(k),
                          .memory = allotment_memory(&k->allotment)};
    spawn.paths = spawn.argv == NULL ? NULL : search_paths(search, spawn.argv[0]);
    if (spawn.paths == NULL || spawn.environment == NULL)
        return exec_kernel_no_memory(error);
    snprintf(k->names[COMMAND_OUT], sizeof k->names[0], "%" PRIu64 ".out", k->tasks.order);
    snprintf(k->names[COMMAND_ERR], sizeof k->names[0], "%" PRIu64 ".err", k->tasks.order);
    command_start(&k->command, &spawn, tasks_folder(&k->tasks), names);
    memset(k->shown, 0, sizeof k->shown);
    k->state = TASK_RUNNING;
    k->tries++;
    return 0;
}

static int try_task(struct exec_kernel *k, char error[HDSS_ERROR_MAX])
{
    const char *folders = cmdline_assigned(&k->tasks.words, "PATH");
    struct search own;
    if (folders == NULL)
        return start_task(k, &k->search, error);
    if (search_init(&own, folders) < 0)
        return exec_kernel_no_memory(error);
    int result = start_task(k, &own, error);
    search_fini(&own);
    return result;
}

static int try_task_or_end(struct exec_kernel *k, char error[HDSS_ERROR_MAX])
{
    int result = try_task(k, error);
    if (result < 0)
        end_allotment(k);
    return result;
}

/* Prepares a task and requests its resources. If the list was complete before the run, its rows were checked then. A
 * row that was added later may be invalid: the task then counts as failed, and the job continues. */
static int begin_task(struct exec_kernel *k, uint64_t task)
{
    k->tries = 0;
    k->is_refused = false;
    if (tasks_get(&k->tasks, task, &k->wrong) < 0)
        return k->tasks.is_wrong ? ALLOTMENT_REFUSED : -1;
    return allotment_begin(&k->allotment, &k->tasks, &k->wrong);
}

static void refuse_task(struct exec_kernel *k)
{
    command_refuse(&k->command, EINVAL);
    k->is_refused = true;
    k->state = TASK_RUNNING;
    k->tries = 1;
}

/* Returns 1 if the task runs now, 0 if it waits for resources, -1 on error. */
static int approach_task(struct exec_kernel *k, uint64_t task, char error[HDSS_ERROR_MAX])
{
    int result = k->state == TASK_NONE ? begin_task(k, task) : allotment_advance(&k->allotment, &k->wrong);
    k->state = TASK_NONE;
    switch (result) {
    case ALLOTMENT_THERE: return try_task_or_end(k, error) < 0 ? -1 : 1;
    case ALLOTMENT_WAITS: k->state = TASK_WAITING; return 0;
    case ALLOTMENT_REFUSED: refuse_task(k); return 1;
    default: snprintf(error, HDSS_ERROR_MAX, "%.*s", HDSS_ERROR_MAX - 1, k->wrong.text); return -1;
    }
}

static bool has_lost_output(const struct exec_kernel *k)
{
    bool has_lost = false;
    for (unsigned i = 0; i < COMMAND_STREAMS; i++)
        has_lost |= k->command.captures[i].error != 0 || (k->wants_all_output && command_dropped(&k->command, i) > 0);
    return has_lost;
}

static bool exec_kernel_has_failed(const struct exec_kernel *k)
{
    const struct command_outcome *outcome = &k->command.outcome;
    return outcome->end != COMMAND_ENDED || outcome->status != 0 || outcome->signal != 0 || has_lost_output(k);
}

struct yield {
    struct exec_kernel *k;
    struct hdss_output *output;
    uint64_t task;
};

static int put_bytes(const struct yield *yield, enum task_stream stream, const void *bytes, size_t count)
{
    yield->k->put[stream] += count;
    return yield->output->put(yield->output, yield->task, stream, bytes, count);
}

static int put_note(const struct yield *yield, enum task_stream stream, const struct capture *after, const char *note)
{
    char line[600];
    bool begun = after != NULL && after->length > 0 && after->length == yield->k->put[stream] &&
                 after->bytes[after->length - 1] != '\n';
    int length =
        snprintf(line, sizeof line, "%shdss: task %" PRIu64 ": %s\n", begun ? "\n" : "", yield->k->tasks.order, note);
    size_t bytes = length < (int)sizeof line ? (size_t)length : sizeof line - 1;
    return put_bytes(yield, stream, line, bytes);
}

static int put_capture(const struct yield *yield, unsigned stream)
{
    const struct capture *capture = &yield->k->command.captures[stream];
    if (capture->is_spilled)
        yield->k->put[stream] += capture->written;
    return capture->length > 0 ? put_bytes(yield, stream, capture->bytes, capture->length) : 0;
}

static int put_loss(const struct yield *yield, unsigned stream)
{
    static const char *const names[] = {[COMMAND_OUT] = "output", [COMMAND_ERR] = "errors"};
    const struct command *command = &yield->k->command;
    const struct capture *capture = &command->captures[stream];
    const uint64_t dropped = command_dropped(command, stream);
    char note[200];
    if (capture->error != 0 && capture->is_spilled)
        snprintf(note, sizeof note, "its %s: %s: cut after %" PRIu64 " bytes; accepted: TMPDIR=FOLDER with more room",
                 names[stream], strerror(capture->error), capture->written);
    else if (capture->error != 0)
        snprintf(note, sizeof note, "%s: %s", capture->name != NULL ? capture->name : names[stream],
                 strerror(capture->error));
    else if (dropped > 0)
        snprintf(note, sizeof note,
                 "its %s: cut after %" PRIu64 " bytes, %" PRIu64 " dropped; --max-output BYTES says how much is kept",
                 names[stream], command->limits.bytes, dropped);
    else
        return 0;
    return put_note(yield, TASK_STREAM_ERR, &command->captures[COMMAND_ERR], note);
}

static bool may_lack_memory(const struct exec_kernel *k)
{
    static const char *const texts[] = {"MemoryError",  "bad_alloc",   "annot allocate",
                                        "ut of memory", "OutOfMemory", "memory exhausted"};
    const struct capture *errors = &k->command.captures[COMMAND_ERR];
    uint64_t most = allotment_memory(&k->allotment);
    if (most == 0 || !exec_kernel_has_failed(k))
        return false;
    bool is_near = k->command.outcome.peak_kib > most / 1024 / 4 * 3;
    for (size_t i = 0; !is_near && errors->length > 0 && i < sizeof texts / sizeof *texts; i++)
        is_near = memmem(errors->bytes, errors->length, texts[i], strlen(texts[i])) != NULL;
    return is_near;
}

static int put_reason(const struct yield *yield)
{
    const struct exec_kernel *k = yield->k;
    const struct command_outcome *outcome = &k->command.outcome;
    const struct capture *errors = &k->command.captures[COMMAND_ERR];
    char note[400], amount[NEED_TEXT_MAX];
    if (k->is_refused)
        return put_note(yield, TASK_STREAM_ERR, NULL, k->wrong.text);
    if (outcome->end == COMMAND_NOT_STARTED && outcome->has_no_folder) {
        snprintf(note, sizeof note, "workdir=%.200s: %s", tasks_folder(&k->tasks), strerror(outcome->error));
        return put_note(yield, TASK_STREAM_ERR, NULL, note);
    }
    if (outcome->end == COMMAND_NOT_STARTED) {
        snprintf(note, sizeof note, "%.200s: %s",
                 k->tasks.words.text + k->tasks.words.start[k->tasks.words.assignments], strerror(outcome->error));
        return put_note(yield, TASK_STREAM_ERR, NULL, note);
    }
    if (outcome->end == COMMAND_TIMED_OUT)
        snprintf(note, sizeof note, "ended at its time limit of %g s", k->timeout_s);
    else if (may_lack_memory(k))
        snprintf(note, sizeof note, "it failed, maybe for want of memory: it may have %s (memory=)",
                 need_text(NEED_MEMORY, allotment_memory(&k->allotment), amount));
    else if (outcome->left_some)
        snprintf(note, sizeof note,
                 "what it had left in the background was killed as it ended (`wait` waits for that)");
    else
        return 0;
    return put_note(yield, TASK_STREAM_ERR, errors, note);
}

static const char *end_text(const struct exec_kernel *k)
{
    const struct command_outcome *outcome = &k->command.outcome;
    switch (outcome->end) {
    case COMMAND_ENDED:
        return outcome->signal != 0 ? "signal" : outcome->status == 0 && has_lost_output(k) ? "not-kept" : "exit";
    case COMMAND_TIMED_OUT: return "timeout";
    case COMMAND_NOT_STARTED: return "not-started";
    }
    return "";
}

static int put_log(const struct yield *yield)
{
    struct exec_kernel *k = yield->k;
    const struct command_outcome *outcome = &k->command.outcome;
    uint64_t received = k->command.captures[COMMAND_OUT].received + k->command.captures[COMMAND_ERR].received;
    int length = snprintf(k->line, sizeof k->line,
                          "%" PRIu64 "\t%s\t%.3f\t%.3f\t0\t%" PRIu64 "\t%d\t%d\t%s\t%u\t%u\t%.3f\t%" PRIu64
                          "\t%u\t%s\t%" PRIu64 "\t%" PRIu64 "\n",
                          k->tasks.order, k->host, outcome->started_s, (double)outcome->wall_ns / 1e9, received,
                          outcome->status, outcome->signal, tasks_text(&k->tasks, k->text, sizeof k->text),
                          k->worker.rank, k->worker.node, (double)outcome->cpu_ns / 1e9, outcome->peak_kib, k->tries,
                          end_text(k), k->put[TASK_STREAM_OUT], k->put[TASK_STREAM_ERR]);
    return yield->output->put(yield->output, yield->task, TASK_STREAM_LOG, k->line, (size_t)length);
}

static int exec_kernel_put_all(const struct yield *yield)
{
    memset(yield->k->put, 0, sizeof yield->k->put);
    if (put_capture(yield, TASK_STREAM_OUT) < 0 || put_capture(yield, TASK_STREAM_ERR) < 0 ||
        put_loss(yield, TASK_STREAM_OUT) < 0 || put_loss(yield, TASK_STREAM_ERR) < 0 || put_reason(yield) < 0 ||
        put_log(yield) < 0)
        return -1;
    return exec_kernel_has_failed(yield->k) ? yield->output->failed(yield->output, yield->task) : 0;
}

static void show_stream(struct exec_kernel *k, uint64_t task, unsigned stream, bool all)
{
    const struct capture *capture = &k->command.captures[stream];
    if (capture->is_spilled)
        return;
    const size_t from = k->shown[stream], more = capture->length - from;
    const char *newline = more > 0 ? memrchr(capture->bytes + from, '\n', more) : NULL;
    const size_t end = all ? capture->length : newline != NULL ? (size_t)(newline - capture->bytes) + 1 : from;
    if (end == from)
        return;
    const struct fragment fragment = {.task = task,
                                      .began_ms = (uint64_t)(k->command.outcome.started_s * 1000 + 0.5),
                                      .stream = stream,
                                      .offset = from,
                                      .length = end - from};
    fragments_add(&k->fragments, &fragment, capture->bytes + from);
    k->shown[stream] = end;
}

static void show_streams(struct exec_kernel *k, uint64_t task, bool all)
{
    for (unsigned i = 0; fragments_are_wanted(&k->fragments) && i < COMMAND_STREAMS; i++)
        show_stream(k, task, i, all);
}

/* Waits for the end of a cancelled task. The task counts as not begun: it has no output and no line in the log. */
static int advance_stopped(struct exec_kernel *k, char error[HDSS_ERROR_MAX])
{
    if (k->state == TASK_RUNNING && !command_advance(&k->command))
        return 0;
    if (k->state != TASK_NONE)
        end_allotment(k);
    k->state = TASK_NONE;
    snprintf(error, HDSS_ERROR_MAX, "stopped");
    return -1;
}

/* Returns 1 if the task is done, 0 if it runs or waits, -1 on error. */
static int advance_task(const struct yield *yield, char error[HDSS_ERROR_MAX])
{
    struct exec_kernel *k = yield->k;
    if (k->is_stopped)
        return advance_stopped(k, error);
    if (k->state != TASK_RUNNING) {
        int result = approach_task(k, yield->task, error);
        if (result <= 0)
            return result;
    }
    if (!command_advance(&k->command)) {
        show_streams(k, yield->task, false);
        return 0;
    }
    k->state = TASK_NONE;
    if (exec_kernel_has_failed(k) && !k->is_refused && k->tries <= k->retries) {
        show_streams(k, yield->task, true);
        return try_task_or_end(k, error);
    }
    end_allotment(k);
    return exec_kernel_put_all(yield) < 0 ? -1 : 1;
}

static int exec_kernel_run_variable(void *instance, uint64_t first, uint64_t count, struct hdss_output *output,
                                    char error[HDSS_ERROR_MAX])
{
    struct exec_kernel *k = instance;
    int result = 1;
    while (result > 0 && k->done < count) {
        const struct yield yield = {k, output, first + k->done};
        result = advance_task(&yield, error);
        k->done += result > 0;
    }
    if (result == 0)
        return HDSS_WAIT;
    k->done = 0;
    return result < 0 ? -1 : 0;
}

static void exec_kernel_stop(void *instance)
{
    struct exec_kernel *k = instance;
    k->is_stopped = true;
    command_stop(&k->command);
}

static int exec_kernel_descriptor(void *instance)
{
    return command_descriptor(&((struct exec_kernel *)instance)->command);
}

const struct hdss_kernel exec_kernel = {
    .abi = HDSS_KERNEL_ABI,
    .name = "exec",
    .version = "1",
    .summary = "command lines: one for each task from a file, or one for all tasks",
    .params = params,
    .describe = exec_kernel_describe,
    .check = exec_kernel_check,
    .open = exec_kernel_open_instance,
    .run_variable = exec_kernel_run_variable,
    .threads = HDSS_THREADS_NONE,
    .descriptor = exec_kernel_descriptor,
    .close = exec_kernel_close_instance,
    .grow = exec_kernel_grow,
    .inputs = exec_kernel_inputs,
    .precedence = exec_kernel_precedence,
    .stop = exec_kernel_stop,
    .manner = "follow|cores|memory|gpus|keep|live|timeout|retries|max_output",
};
