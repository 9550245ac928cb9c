/* SPDX-License-Identifier: MIT */
/* A run with one pod per host: see host_pods.h. */
#include "deploy/cli/host_pods.h"

#include "common/stream/ticket.h"
#include "common/util/text.h"
#include "deploy/cli/allocation.h"
#include "deploy/cli/check.h"
#include "deploy/cli/colour.h"
#include "deploy/cli/dialect.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define TICKET_LOOK_MS 5
/* How long agents may take to end: AGENTS_END_MS after the launch has ended, AGENTS_KILL_MS after a signal. */
#define AGENTS_END_MS  5000
#define AGENTS_KILL_MS 1000
#define AGENTS_LOOK_MS 5
/* If no agent runs, the run is ended after this time. It may end earlier if it notices that all its pods are lost. */
#define DESERTED_MS 15000

/* Plans the supermaster on this host. In a Slurm job without this host, plans it on the first host of the job, as
 * mpirun does. */
static int place_supermaster(struct launch_plan *plan, struct error *error)
{
    const struct hosts *all = &plan->line_up.pod_hosts;
    unsigned i = 0;
    while (i < all->count && !host_is_here(all->items[i].name))
        i++;
    if (i == all->count && !allocation_is_slurm())
        return 0;
    const char *name = all->items[i < all->count ? i : 0].name;
    return hosts_add(&plan->line_up.hosts, name, strlen(name), 1, error);
}

static bool is_for_one_launch(const struct launch_plan *plan)
{
    return plan->line_up.has_one_launch || plan->serves || plan->is_pod || plan->listens ||
           plan->request.dca.count > 0 || plan->line_up.masters_given || plan->start.mpi_args.count > 0 ||
           plan->line_up.allocated;
}

bool host_pods_are_default(struct launch_plan *plan)
{
    struct error unused;
    return plan->line_up.hosts.count > 1 && !is_for_one_launch(plan) && ticket_may_name_port() &&
           check_describe(plan, &unused) == 0 && job_setup_check_for_pods(&plan->request.setup, &unused) == 0;
}

static int check_port_for_hosts(const struct launch_plan *plan, struct error *error)
{
    if (plan->request.setup.job.listen.host[0] != '\0')
        return 0;
    for (unsigned i = 0; i < plan->line_up.hosts.count; i++)
        if (!host_is_here(plan->line_up.hosts.items[i].name))
            return error_set(error,
                             "--listen local: the pod of %.200s could not join, as it is on another host; accepted "
                             "with --pods: HOST:PORT, or no --listen",
                             plan->line_up.hosts.items[i].name);
    return 0;
}

static void await_pods(struct launch_plan *plan)
{
    char count[16];
    unsigned pods = 0;
    if (plan->elastic)
        return;
    for (unsigned i = 0; i < plan->line_up.pod_hosts.count; i++)
        pods += plan->line_up.pod_hosts.items[i].workers > 0;
    snprintf(count, sizeof count, "%u", pods);
    argv_insert(&plan->request.words, 1, count);
    argv_insert(&plan->request.words, 1, "--await-pods");
}

int host_pods_plan(struct launch_plan *plan, struct error *error)
{
    if (plan->line_up.hosts.count == 0)
        return error_set(error, "--pods: a pod is started on each of several hosts, and none is named; accepted: with "
                                "--hosts or --hostfile, or in a job of a batch system");
    if (plan->line_up.masters_given && plan->line_up.masters != plan->line_up.hosts.count)
        return error_set(error, "--masters %u: accepted with --pods: %u, one on each host", plan->line_up.masters,
                         plan->line_up.hosts.count);
    if (check_port_for_hosts(plan, error) < 0 || compose_deal(plan, error) < 0)
        return -1;
    plan->line_up.pod_hosts = plan->line_up.hosts;
    plan->line_up.hosts = (struct hosts){0};
    plan->line_up.allocated = false;
    plan->line_up.masters = plan->line_up.workers = 0;
    plan->line_up.has_no_workers = true;
    await_pods(plan);
    return place_supermaster(plan, error);
}

static const char *mpi_argument(const struct launch_plan *plan, const char *name, unsigned behind)
{
    const struct argv *words = &plan->start.mpi_args;
    for (unsigned i = 0; i + behind < words->count; i++)
        if (strcmp(words->items[i], name) == 0)
            return words->items[i + behind];
    return NULL;
}

static const char *find_agent(const struct launch_plan *plan)
{
    static const char *const parameters[] = {"plm_rsh_agent", "plm_ssh_agent", "-launcher-exec"};
    static const char *const variables[] = {"OMPI_MCA_plm_rsh_agent", "PRTE_MCA_plm_ssh_agent", "HYDRA_LAUNCHER_EXEC"};
    const char *found = NULL;
    for (size_t i = 0; i < sizeof parameters / sizeof *parameters && found == NULL; i++)
        found = mpi_argument(plan, parameters[i], 1);
    for (size_t i = 0; i < sizeof variables / sizeof *variables && found == NULL; i++)
        found = getenv(variables[i]);
    return found != NULL && found[0] != '\0' ? found : "ssh -x";
}

static void add_agent_program(struct argv *line, const char *agent)
{
    char first[PATH_MAX];
    const char *end = strstr(agent, " : ");
    snprintf(first, sizeof first, "%.*s", end != NULL ? (int)(end - agent) : (int)strlen(agent), agent);
    argv_add_split(line, first);
}

static void add_list(struct argv *line, const char *option, const struct argv *list, const char *between)
{
    struct text text;
    if (list->count == 0)
        return;
    text_init(&text);
    for (unsigned i = 0; i < list->count; i++)
        text_add(&text, "%s%s", i > 0 ? between : "", list->items[i]);
    char *value = text_take(&text);
    argv_add(line, option);
    argv_add(line, value != NULL ? value : "");
    line->failed |= value == NULL || list->failed;
    free(value);
}

static void add_values(struct argv *line, const char *option, const struct argv *list, const struct host_pod *pod)
{
    struct argv own = {0};
    for (unsigned w = 0; w < pod->host->workers && list->count > 0; w++)
        argv_add(&own, list->items[list->count == 1 ? 0 : pod->first_worker + w]);
    add_list(line, option, &own, ",");
    argv_fini(&own);
}

/* The command of the pod on its host. It unsets the variables of the batch job, because they name hosts that do not
 * belong to the pod. */
static void add_join(const struct host_pods *pods, const struct host_pod *pod, struct argv *line)
{
    static const char *const batch[] = {"SLURM_JOB_ID", "SLURM_JOBID", "SLURM_NODELIST",    "SLURM_JOB_NODELIST",
                                        "PBS_NODEFILE", "PBS_JOBID",   "LSB_DJOB_HOSTFILE", "LSB_MCPU_HOSTS",
                                        "LSB_HOSTS",    "LSB_JOBID"};
    const struct launch_plan *plan = pods->plan;
    if (allocation_is_there()) {
        argv_add(line, "env");
        for (size_t i = 0; i < sizeof batch / sizeof *batch; i++) {
            argv_add(line, "-u");
            argv_add(line, batch[i]);
        }
    }
    argv_add(line, pods->hdss);
    argv_add_split(line, "join --time-limit none --workers");
    argv_add_format(line, "%u", pod->host->workers);
    add_values(line, "--slowdown", &plan->line_up.slowdowns, pod);
    add_values(line, "--load", &plan->line_up.loads, pod);
    if (plan->start.mpirun != NULL) {
        argv_add(line, "--mpirun");
        argv_add(line, plan->start.mpirun);
    }
    add_list(line, "--mpi-args", &plan->start.mpi_args, " ");
    argv_add(line, "-");
}

static void add_quoted(struct argv *line, const struct argv *words)
{
    char *command = argv_text(words);
    argv_add(line, command != NULL ? command : "");
    line->failed |= command == NULL || words->failed;
    free(command);
}

/* Begins the command with PATH and LD_LIBRARY_PATH of this process, because the shell on the other host does not read
 * the files that would set these variables. */
static void begin_command(struct argv *command)
{
    static const char *const variables[] = {"PATH", "LD_LIBRARY_PATH"};
    argv_add_split(command, "exec env");
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (getenv(variables[i]) != NULL)
            argv_add_format(command, "%s=%s", variables[i], getenv(variables[i]));
}

static void add_agent(const struct host_pods *pods, const struct host_pod *pod, struct argv *line)
{
    const char *host = pod->host->name;
    if (host_is_here(host)) {
        add_join(pods, pod, line);
        return;
    }
    if (allocation_is_slurm()) {
        argv_add_split(line, "srun --overlap --nodes=1 --ntasks=1 --cpu-bind=none --mpi=none --nodelist");
        argv_add(line, host);
        add_join(pods, pod, line);
        return;
    }
    struct argv command = {0};
    add_agent_program(line, find_agent(pods->plan));
    argv_add(line, host);
    begin_command(&command);
    add_join(pods, pod, &command);
    add_quoted(line, &command);
    argv_fini(&command);
}

void host_pods_show(const struct host_pods *pods, FILE *to)
{
    for (unsigned i = 0; i < pods->plan->line_up.pod_hosts.count; i++) {
        struct argv line = {0};
        if (pods->pods[i].host->workers > 0) {
            add_agent(pods, &pods->pods[i], &line);
            argv_print(&line, to);
        }
        argv_fini(&line);
    }
}

static _Noreturn void become_agent(const struct host_pods *pods, char *const *line, int input, int errors, pid_t parent)
{
    sigset_t none;
    /* In a session of its own the agent cannot ask for a password. Ctrl-C does not reach it, but its pod leaves with
     * the run anyway. */
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(EXIT_STATUS_FAILED);
    dup2(input, STDIN_FILENO);
    if (pods->how->log != NULL)
        dup2(fileno(pods->how->log), STDOUT_FILENO);
    else if (pods->how->output == LAUNCH_OUTPUT_APART)
        dup2(errors, STDOUT_FILENO);
    else if (pods->how->output == LAUNCH_OUTPUT_SILENT)
        dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDOUT_FILENO);
    dup2(errors, STDERR_FILENO);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execvp(line[0], line);
    dprintf(STDERR_FILENO, "hdss run: cannot run %s: %s\n", line[0], strerror(errno));
    _exit(EXIT_STATUS_USAGE);
}

static void say_of_pod(const struct host_pod *pod, const char *what)
{
    char text[HOST_NAME_BYTES + 200];
    snprintf(text, sizeof text, "the pod of %s %s", pod->host->name, what);
    say_error("hdss run", text);
}

static void start_agent(struct host_pods *pods, struct host_pod *pod, int errors)
{
    struct argv line = {0};
    int input[2];
    const pid_t self = getpid();
    add_agent(pods, pod, &line);
    if (line.failed || pipe2(input, O_CLOEXEC) < 0) {
        say_of_pod(pod, "cannot be started: out of memory, or of files");
        argv_fini(&line);
        return;
    }
    fflush(stdout);
    pod->agent = fork();
    if (pod->agent == 0)
        become_agent(pods, line.items, input[0], errors, self);
    close(input[0]);
    pod->input = input[1];
    argv_fini(&line);
    if (pod->agent > 0)
        return;
    say_of_pod(pod, "cannot be started: there cannot be another process");
    pod->agent = 0;
    close(pod->input);
    pod->input = -1;
}

static struct stat look_at_ticket(const struct host_pods *pods)
{
    struct stat status;
    return stat(pods->plan->request.setup.job.pods_file, &status) == 0 ? status : (struct stat){0};
}

static bool has_ticket(const struct host_pods *pods)
{
    const struct stat now = look_at_ticket(pods), *before = &pods->earlier;
    return now.st_nlink > 0 &&
           (now.st_dev != before->st_dev || now.st_ino != before->st_ino ||
            now.st_ctim.tv_sec != before->st_ctim.tv_sec || now.st_ctim.tv_nsec != before->st_ctim.tv_nsec);
}

/* Remembers a ticket that already exists, so that it is not delivered: it is from an earlier launch or from another
 * run. */
static void begin_agents(void *context, int errors)
{
    struct host_pods *pods = context;
    const struct launch_plan *plan = pods->plan;
    if (pods->other != NULL && pods->other->begin != NULL)
        pods->other->begin(pods->other->context, errors);
    pods->earlier = look_at_ticket(pods);
    pods->is_delivered = pods->may_have_joined = pods->waits_for_others = false;
    pods->deserted_ms = 0;
    for (unsigned i = 0; i < plan->line_up.pod_hosts.count; i++)
        if (pods->pods[i].host->workers > 0)
            start_agent(pods, &pods->pods[i], errors);
}

static struct ticket for_another_host(const struct ticket *ticket)
{
    struct ticket other = *ticket;
    other.count = 0;
    for (size_t i = 0; i < ticket->count; i++)
        if (stream_address_is_tcp(&ticket->addresses[i]))
            other.addresses[other.count++] = ticket->addresses[i];
    return other;
}

/* Sends the ticket, ended by an empty line, to the agent. Errors are ignored: if nobody reads the ticket, the agent has
 * ended, and reap() notices that. */
static void deliver(const struct host_pod *pod, const struct ticket *ticket)
{
    char *lines = ticket_text(ticket);
    if (lines == NULL)
        return;
    void (*before)(int) = signal(SIGPIPE, SIG_IGN);
    const bool is_out = write(pod->input, lines, strlen(lines)) > 0 && write(pod->input, "\n", 1) == 1;
    signal(SIGPIPE, before);
    (void)is_out;
    free(lines);
}

static void deliver_all(struct host_pods *pods)
{
    const struct launch_plan *plan = pods->plan;
    struct ticket ticket;
    struct error error;
    if (pods->is_delivered || !has_ticket(pods) || ticket_read(&ticket, plan->request.setup.job.pods_file, &error) < 0)
        return;
    const struct ticket other = for_another_host(&ticket);
    for (unsigned i = 0; i < plan->line_up.pod_hosts.count; i++)
        if (pods->pods[i].input >= 0)
            deliver(&pods->pods[i], host_is_here(pods->pods[i].host->name) ? &ticket : &other);
    pods->is_delivered = true;
}

static unsigned reap(struct host_pods *pods)
{
    unsigned running = 0;
    for (unsigned i = 0; i < pods->plan->line_up.pod_hosts.count; i++) {
        struct host_pod *pod = &pods->pods[i];
        char what[80];
        int status;
        if (pod->agent == 0)
            continue;
        if (waitpid(pod->agent, &status, WNOHANG) != pod->agent) {
            running++;
            continue;
        }
        pod->agent = 0;
        if (pod->input >= 0)
            close(pod->input);
        pod->input = -1;
        pods->may_have_joined |= !WIFEXITED(status) || WEXITSTATUS(status) <= EXIT_STATUS_FAILED;
        if (pods->is_over || status == 0)
            continue;
        snprintf(what, sizeof what, "has ended with %s %d", WIFEXITED(status) ? "status" : "signal",
                 WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
        say_of_pod(pod, what);
    }
    return running;
}

static void signal_agents(const struct host_pods *pods, int number)
{
    for (unsigned i = 0; i < pods->plan->line_up.pod_hosts.count; i++)
        if (pods->pods[i].agent > 0)
            kill(-pods->pods[i].agent, number);
}

void host_pods_wait(struct host_pods *pods)
{
    int64_t end_ms = launch_clock_ms() + AGENTS_END_MS;
    int number = SIGTERM;
    pods->is_over = true;
    for (unsigned i = 0; i < pods->plan->line_up.pod_hosts.count; i++) {
        if (pods->pods[i].input >= 0)
            close(pods->pods[i].input);
        pods->pods[i].input = -1;
    }
    while (reap(pods) > 0) {
        if (launch_clock_ms() >= end_ms) {
            signal_agents(pods, number);
            number = SIGKILL;
            end_ms = launch_clock_ms() + AGENTS_KILL_MS;
        }
        poll(NULL, 0, AGENTS_LOOK_MS);
    }
    pods->is_over = false;
}

/* True if no agent runs, and none has run for DESERTED_MS or no pod can have joined. A run that is over is never
 * deserted, because it may still write its output. If other pods may join (--elastic), prints a note once, and then
 * waits for them. */
static bool is_deserted(struct host_pods *pods, bool is_over)
{
    if (reap(pods) > 0 || pods->deserted_ms < 0 || is_over || pods->waits_for_others)
        return pods->deserted_ms < 0;
    if (pods->deserted_ms == 0)
        pods->deserted_ms = launch_clock_ms();
    if (pods->may_have_joined && launch_clock_ms() - pods->deserted_ms < DESERTED_MS)
        return false;
    if (pods->plan->elastic) {
        say_note("hdss run", "no pod of its hosts is left: the run goes on with others, which join by `hdss join`");
        pods->waits_for_others = true;
        return false;
    }
    say_error("hdss run", "no pod is left, and the run does not end: it is ended");
    pods->deserted_ms = -1;
    return true;
}

static enum launch_wish look_at_pods(void *context, enum launch_stage stage)
{
    struct host_pods *pods = context;
    const struct launch_side *other = pods->other;
    deliver_all(pods);
    const bool deserted = is_deserted(pods, stage == LAUNCH_IS_OVER);
    const enum launch_wish wish = other != NULL ? other->look(other->context, stage) : LAUNCH_GOES_ON;
    return deserted ? LAUNCH_ENDS : wish;
}

static int wait_for_pods_ms(void *context)
{
    const struct host_pods *pods = context;
    const struct launch_side *other = pods->other;
    const int own = !pods->is_delivered ? TICKET_LOOK_MS : pods->deserted_ms != 0 && !pods->waits_for_others ? 500 : -1;
    const int others = other != NULL ? other->wait_ms(other->context) : -1;
    return own < 0 || (others >= 0 && others < own) ? others : own;
}

static unsigned wait_for_other(void *context, struct pollfd *polled)
{
    const struct launch_side *other = ((struct host_pods *)context)->other;
    return other != NULL ? other->wait_for(other->context, polled) : 0;
}

static bool has_other_printed(void *context)
{
    const struct launch_side *other = ((struct host_pods *)context)->other;
    return other != NULL && other->has_printed != NULL && other->has_printed(other->context);
}

int host_pods_init(struct host_pods *pods, const struct launch_plan *plan, struct launch *how, struct error *error)
{
    *pods = (struct host_pods){.plan = plan, .how = how, .other = how->side};
    pods->pods = calloc(plan->line_up.pod_hosts.count, sizeof *pods->pods);
    if (pods->pods == NULL)
        return error_set(error, "out of memory");
    if (find_own_program("hdss", pods->hdss, error) < 0) {
        free(pods->pods);
        pods->pods = NULL;
        return -1;
    }
    for (unsigned i = 0, worker = 0; i < plan->line_up.pod_hosts.count; i++) {
        pods->pods[i] = (struct host_pod){&plan->line_up.pod_hosts.items[i], worker, 0, -1};
        worker += plan->line_up.pod_hosts.items[i].workers;
    }
    pods->side = (struct launch_side){.look = look_at_pods,
                                      .wait_ms = wait_for_pods_ms,
                                      .wait_for = wait_for_other,
                                      .context = pods,
                                      .has_printed = has_other_printed,
                                      .begin = begin_agents};
    how->side = &pods->side;
    return 0;
}

bool host_pods_are_deserted(const struct host_pods *pods)
{
    return pods->deserted_ms < 0;
}

void host_pods_fini(struct host_pods *pods)
{
    free(pods->pods);
}
